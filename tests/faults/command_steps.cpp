// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command buffers, as streams and as graphs, and launches with attributes.
#include "scenario_run.h"

#include "runtime/device/gpu_event.h"
#include "runtime/executable/argument_packer.h"

namespace tenon::faults {

/// x: slot 0; y: slot 1. Fills of each size, an update, copies, dispatches, an indirect one, barriers, an event.
Status Scenario::record(CommandBuffer &c, const std::shared_ptr<Buffer> &own) {
  TENON_RETURN_IF_ERROR(c.begin());
  TENON_RETURN_IF_ERROR(c.fill(BufferRef::ofSlot(0, 0, kBytes), 3, 4));
  TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(own, 0, 32), 0, 1));
  TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(own, 32, 32), 0, 2));
  for (uint64_t i = 0; i < 8; ++i) // so many before two commands are joined by a node
    TENON_RETURN_IF_ERROR(c.fill(BufferRef::of(own, 64 + 4 * i, 4), 5, 4));
  auto event = Event::create();
  TENON_RETURN_IF_ERROR(c.signalEvent(event));
  TENON_RETURN_IF_ERROR(c.waitEvents({&event, 1}));
  TENON_RETURN_IF_ERROR(c.dispatch(executable_, kScale, {1, 1, 1}, {{BufferRef::ofSlot(0)}, {kThreads, 2}}));
  TENON_RETURN_IF_ERROR(c.dispatch(executable_, kIota, {1, 1, 1}, {{BufferRef::of(own)}, {4}}));
  TENON_RETURN_IF_ERROR(c.barrier());
  TENON_RETURN_IF_ERROR(c.copy(BufferRef::ofSlot(0, 0, kBytes), BufferRef::ofSlot(1, 0, kBytes)));
  const std::vector<uint32_t> grid = {1, 1, 1};
  TENON_RETURN_IF_ERROR(c.update(bytesOf(grid), BufferRef::of(own, 0, 12)));
  TENON_RETURN_IF_ERROR(c.barrier());
  TENON_RETURN_IF_ERROR(
      c.dispatchIndirect(executable_, kScale, BufferRef::of(own, 0, 12), {{BufferRef::ofSlot(1)}, {kThreads, 5}}));
  return c.end();
}

void Scenario::commandBuffers(CommandBufferMode mode) {
  std::shared_ptr<CommandBuffer> commands;
  step("record", [&]() -> Status {
    TENON_ASSIGN_OR_RETURN(auto own, allocateBuffer(*device_, kBytes, {}));
    TENON_ASSIGN_OR_RETURN(commands, createCommandBuffer(device_, {.slotCount = 2}, mode));
    return record(*commands, own);
  });
  // The same command buffer, with other buffers each time.
  for (int i = 0; i < 3; ++i)
    step(mode == CommandBufferMode::Stream ? "submit a stream's" : "submit a graph's", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto x, buffer(std::vector<uint32_t>(kThreads, 1)));
      TENON_ASSIGN_OR_RETURN(auto y, buffer(std::vector<uint32_t>(kThreads, 1)));
      const std::vector<TableEntry> table = {{x}, {y}};
      TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) {
        const BoundCommandBuffer bound = {commands, table};
        return queue_->submit({}, {&bound, 1}, signals);
      }));
      TENON_RETURN_IF_ERROR(expect(*x, std::vector<uint32_t>(kThreads, 6)));
      return expect(*y, std::vector<uint32_t>(kThreads, 30));
    });
}

static std::vector<uint32_t> numbers() {
  std::vector<uint32_t> out(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i)
    out[i] = i;
  return out;
}

/// Launches with attributes, on a stream and as nodes; shared memory above the default; a tensor map.
void Scenario::launches() {
  for (CommandBufferMode mode : {CommandBufferMode::Stream, CommandBufferMode::Graph})
    step("launches", [&]() -> Status {
      TENON_ASSIGN_OR_RETURN(auto x, buffer(numbers()));
      TENON_ASSIGN_OR_RETURN(auto commands, createCommandBuffer(device_, {}, mode));
      TENON_RETURN_IF_ERROR(commands->begin());
      TENON_RETURN_IF_ERROR(commands->dispatch(launches_, kReverseShared, {1, 1, 1}, {{BufferRef::of(x)}, {}}));
      TENON_RETURN_IF_ERROR(commands->barrier());
      TENON_RETURN_IF_ERROR(commands->dispatch(launches_, kIota, {1, 1, 1}, {{BufferRef::of(x)}, {kThreads}}));
      TENON_RETURN_IF_ERROR(commands->barrier());
      TENON_RETURN_IF_ERROR(commands->dispatch(launches_, kScale, {1, 1, 1}, {{BufferRef::of(x)}, {kThreads, 1}}));
      TENON_RETURN_IF_ERROR(commands->end());
      TENON_RETURN_IF_ERROR(submitAndWait([&](SemaphorePoints signals) {
        const BoundCommandBuffer bound = {commands};
        return queue_->submit({}, {&bound, 1}, signals);
      }));
      return expect(*x, numbers());
    });
  step("tensor map", [&]() -> Status {
    abi::EncodedTensorMap declared;
    declared.element = abi::ElementType::F32;
    declared.map.box = {8, 8};
    declared.map.elementStrides = {1, 1};
    TENON_ASSIGN_OR_RETURN(auto x, buffer(numbers()));
    const std::vector<uint64_t> extents = {8, 8};
    CUtensorMap map;
    cuda::ContextScope scope = device_->enter();
    TENON_RETURN_IF_ERROR(scope.status());
    return encodeTensorMap(device_->driver().cuTensorMapEncodeTiled, declared, {x->address(), x->size()}, extents, map);
  });
}

} // namespace tenon::faults
