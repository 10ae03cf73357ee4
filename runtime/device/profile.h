// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events of queues, given to a sink while a device is profiled (Device::beginProfiling): when each submission was
// submitted, given to the device and complete, by the host's clock, and when each of its commands ran, by the device's.
// A filter selects events; those that it leaves out cost nothing.
//
// Device times come from timed events around commands. So that each can be timed, a command buffer goes to the
// stream command by command while they are wanted, also where it is a graph: the same commands in their recorded order,
// with the same results. The device's clock is put on the host's by one event that is waited for when profiling begins;
// each second a later one takes its place, since the driver answers distances in single precision.
//
// Calls of programs that are submitted to a queue are one event; their commands are in a trace (trace.h).
#pragma once

#include "runtime/device/context.h"
#include "support/result.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// Of a submission: what it is; of a device event: the command.
enum class ProfileKind : uint8_t {
  Commands,
  Dispatch,
  Fill,
  Update,
  Copy,
  HostCall,
  File,
  Allocation,
  Deallocation,
  Call
};
inline constexpr uint32_t kAllProfileKinds = (1u << 10) - 1;
/// "dispatch".
std::string_view profileKindName(ProfileKind kind);

struct ProfileEvent {
  bool isDevice = false; // times of a command on the device; else of a submission on the host
  ProfileKind kind = ProfileKind::Commands;
  std::string name;                  // of the export, the file, the function; else of the kind
  uint64_t queue = 0;                // the same for everything of one queue
  uint64_t submission = 0;           // its number in the queue, from 1 on
  uint32_t command = 0;              // its position in the command buffer; device only
  std::array<uint32_t, 3> grid = {}; // of a dispatch; zeros: read from a buffer
  uint64_t bytes = 0;                // of a fill, update or copy
  // Microseconds since profiling began. Host: submitted and complete, and between them given to the device (or begun,
  // on the host; 0: it never was). Device: begin and end.
  double beginUs = 0, issuedUs = 0, endUs = 0;
  bool hasFailed = false; // host only
};

struct ProfileFilter {
  bool host = true, device = true;
  uint32_t kinds = kAllProfileKinds; // bit of each ProfileKind
  std::vector<std::string> exports;  // of dispatches only these; none: all
};

/// Called from the queues' threads, one call at a time; it calls nothing of the device.
using ProfileSink = std::function<void(const ProfileEvent &)>;

class Profile {
public:
  /// Measures the distance of the clocks where device times are wanted. Unimplemented: the driver does not measure.
  /// `context` outlives it; `stream` is asked once, for a moment of the device's clock.
  static Result<std::shared_ptr<Profile>> create(const Context &context, CUstream stream, ProfileFilter filter,
                                                 ProfileSink sink);
  ~Profile();
  Profile(const Profile &) = delete;
  Profile &operator=(const Profile &) = delete;

  /// Microseconds since it was made.
  double now() const;
  bool wants(bool isDevice, ProfileKind kind, std::string_view name) const;
  bool wantsDevice() const { return filter_.device; }
  void add(const ProfileEvent &event);
  /// No event comes after this returns.
  void close();

  // Timed events, used again and again. The device's context is current.

  /// Null: the driver has no more.
  CUevent acquire();
  void giveBack(const std::vector<CUevent> &events);
  /// Host times of the first `count` events, which come in pairs and which the device has passed; fewer where the
  /// driver does not say. One of them may be exchanged for another.
  std::vector<double> hostTimes(std::vector<CUevent> &events, size_t count);

private:
  Profile(const Context &context, ProfileFilter filter, ProfileSink sink);
  Status anchor(CUstream stream);

  const Context &context_; // of the device that has it, or whose queues have it
  const ProfileFilter filter_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex sinkMutex_; // guards sink_
  ProfileSink sink_;
  std::mutex mutex_; // guards what follows
  std::vector<CUevent> free_;
  CUevent anchor_ = nullptr;
  double anchorUs_ = 0;
};

/// The commands of one submission on their stream. One thread at a time.
class StreamTimes {
public:
  StreamTimes(std::shared_ptr<Profile> profile, CUstream stream, const cuda::Driver &driver);
  /// The device's context is current.
  ~StreamTimes();
  StreamTimes(const StreamTimes &) = delete;
  StreamTimes &operator=(const StreamTimes &) = delete;

  bool wants(ProfileKind kind, std::string_view name) const { return profile_->wants(true, kind, name); }
  /// The command that is given to the stream next, and that it was given.
  void begin();
  void end(ProfileEvent event);
  /// When the stream has passed them: tells the sink.
  void deliver(uint64_t queue, uint64_t submission);

private:
  bool record();

  const std::shared_ptr<Profile> profile_;
  const CUstream stream_;
  const cuda::Driver &driver_;
  bool hasBegun_ = false;
  bool isBroken_ = false;       // the driver refused an event: only what was recorded before is delivered
  std::vector<CUevent> events_; // two of each command
  std::vector<ProfileEvent> commands_;
};

} // namespace tenon::runtime
