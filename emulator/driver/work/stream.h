// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream: a chain of operations. The default (legacy) stream and the blocking streams of a context wait for each
// other; a stream made with CU_STREAM_NON_BLOCKING does not take part.
#pragma once

#include "emulator/driver/context.h"
#include "emulator/driver/driver.h"
#include "emulator/driver/operation.h"
#include "emulator/driver/work/graph_edge.h"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::emulator {

struct Capture;

struct Stream {
  Context *context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  bool isLegacy = false; // the default stream that all blocking streams are ordered with
  OperationPtr tail;     // the last operation; null or done: idle
  std::shared_ptr<Capture> capture;
  std::vector<GraphEdge> captureAfter; // what the next captured node depends on
  bool isBlocking() const { return !isLegacy && !(flags & CU_STREAM_NON_BLOCKING); }
};

/// Null: no such stream. The null, legacy and per-thread handles are streams of `context`.
Stream *findStream(Context *context, CUstream handle);
/// Every stream that can capture: those that programs made, and the default ones of threads.
template <typename F> void forEachStream(Driver &driver, F visit) {
  for (Stream *stream : driver.streams)
    visit(*stream);
  for (Context *context : driver.contexts)
    for (auto &[thread, stream] : context->perThreadStreams)
      visit(*stream);
}
/// What the next operation of `stream` comes after.
std::vector<OperationPtr> orderInStream(Stream &stream);

} // namespace tenon::emulator

/// `Stream *name` of the handle.
#define TENON_STREAM(name, handle)                                                                                     \
  ::tenon::emulator::Stream *name = ::tenon::emulator::findStream(context, handle);                                    \
  if (!name)                                                                                                           \
  return CUDA_ERROR_INVALID_HANDLE
