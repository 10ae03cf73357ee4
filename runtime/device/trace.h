// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A record of what happened when, for Perfetto or chrome://tracing: spans on tracks. The host's track of each thread
// holds calls and loads; each device has one with its dispatches, copies and fills, on the same clock (stream_trace.h).
//
// Format: the JSON array format of the "Trace Event Format", complete events ("ph": "X", microseconds). Tracing costs
// time, and a traced call waits after its commands; without a trace nothing of this runs. Thread-safe.
#pragma once

#include "runtime/device/nvtx.h"
#include "support/result.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::runtime {

class Trace {
public:
  using Details = std::vector<std::pair<std::string, std::string>>;
  struct Span {
    std::string name, category;
    std::string track; // of a device; empty: the host's, of this thread
    double beginUs = 0, endUs = 0;
    Details details;
  };

  Trace();
  /// Microseconds since the trace was made.
  double now() const;
  void add(Span span);
  /// The file's text: one event a line, in the order of their beginnings.
  std::string toJson() const;
  Status write(const std::string &path) const;

private:
  struct Event {
    Span span;
    int thread = 0;
  };
  const std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_; // guards what follows
  std::vector<Event> events_;
  std::map<std::thread::id, int> threads_;
};

/// A span of the host: from here to the end of the scope, for the trace and for a tool that is attached (nvtx.h).
/// `trace` may be null.
class HostSpan {
public:
  HostSpan(Trace *trace, std::string_view category, std::string_view what, std::string_view name);
  ~HostSpan();
  HostSpan(const HostSpan &) = delete;
  HostSpan &operator=(const HostSpan &) = delete;
  void detail(std::string_view key, std::string_view value);

private:
  NvtxRange range_;
  Trace *trace_;
  Trace::Span span_;
};

} // namespace tenon::runtime
