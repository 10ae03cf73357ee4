// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An event: it refers to the operation that recorded it last, or to a place in a capture.
#pragma once

#include "emulator/driver/operation.h"
#include "emulator/driver/work/graph_edge.h"

#include <cuda.h>

#include <memory>
#include <optional>
#include <vector>

namespace tenon::emulator {

struct Capture;
struct Context;

/// What a stream had captured when the event was recorded in it.
struct CapturedEvent {
  std::shared_ptr<Capture> capture;
  std::vector<GraphEdge> after;
};

struct Event {
  Context *context = nullptr;
  unsigned flags = 0;
  OperationPtr recorded;                 // the last recording; null: none
  std::optional<CapturedEvent> captured; // it was recorded last in a stream that captured
};

/// Null: no such event.
Event *findEvent(CUevent handle);

} // namespace tenon::emulator
