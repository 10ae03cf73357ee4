// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mark inside one command buffer: what was recorded before its signal happens before what is recorded after its wait,
// and nothing else is ordered by it (command_buffer.h). A moment in a stream is a GpuEvent (device/gpu_event.h).
#pragma once

#include <memory>

namespace tenon::runtime {

/// Only an identity: what it orders is found in the command buffer that signals and waits for it.
class Event {
public:
  static std::shared_ptr<Event> create() { return std::make_shared<Event>(); }
};

} // namespace tenon::runtime
