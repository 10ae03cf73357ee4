// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/commands/command_buffer_validator.h"

#include "tests/unit/runtime/command_buffer_fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

using CommandBufferValidatorTest = CommandBufferFixture;

TEST_F(CommandBufferValidatorTest, KnowsItsStates) {
  EXPECT_STATUS(commands->begin(), FailedPrecondition, "was begun before");
  EXPECT_STATUS(commands->checkSubmission({}), FailedPrecondition, "was not ended");
  ASSERT_OK(commands->end());
  EXPECT_STATUS(commands->end(), FailedPrecondition, "it was ended");
  EXPECT_STATUS(commands->barrier(), FailedPrecondition, "it was ended");
  ASSERT_OK(commands->checkSubmission({}));
  ASSERT_OK(commands->checkSubmission({}));
  auto fresh = StreamCommandBuffer::create(device, {.oneShot = true});
  EXPECT_STATUS(fresh->barrier(), FailedPrecondition, "begin it first");
  ASSERT_OK(fresh->begin());
  ASSERT_OK(fresh->end());
  ASSERT_OK(fresh->checkSubmission({}));
  EXPECT_STATUS(fresh->checkSubmission({}), FailedPrecondition, "one-shot command buffer was submitted before");
}

TEST_F(CommandBufferValidatorTest, ChecksFills) {
  EXPECT_STATUS(commands->fill(ref(), 0, 3), InvalidArgument, "a pattern of 3 bytes; 1, 2 and 4 are possible");
  EXPECT_STATUS(commands->fill(ref(2, 4), 0, 4), InvalidArgument, "the target is at byte 2");
  EXPECT_STATUS(commands->fill(ref(4, 6), 0, 4), InvalidArgument, "has 6 bytes, expected a multiple of 4");
  EXPECT_STATUS(commands->fill(ref(60, 8), 0, 4), OutOfRange,
                "fill: the target: 8 bytes from byte 60 of a buffer of 64");
  EXPECT_STATUS(commands->fill(ref(65), 0, 1), OutOfRange, "0 bytes from byte 65");
  EXPECT_STATUS(commands->fill(ref(8, kWholeBuffer - 1), 0, 1), OutOfRange, "pass the end of memory");
  ASSERT_OK(commands->fill(ref(64), 0, 4)); // nothing
  EXPECT_EQ(commands->commandCount(), 1u);  // what was refused is not recorded
}

TEST_F(CommandBufferValidatorTest, ChecksUpdates) {
  const std::vector<uint8_t> bytes(65537);
  EXPECT_STATUS(commands->update(bytes, ref()), InvalidArgument, "65537 bytes of inline data, at most 65536");
  EXPECT_STATUS(commands->update({bytes.data(), 8}, ref(0, 4)), InvalidArgument, "has 4 bytes");
  EXPECT_STATUS(commands->update({bytes.data(), 4}, ref(0, 8)), InvalidArgument, "has 8 bytes, the data 4");
  EXPECT_STATUS(commands->update({bytes.data(), 80}, ref()), InvalidArgument, "expected 80 or more");
}

TEST_F(CommandBufferValidatorTest, ChecksCopies) {
  EXPECT_STATUS(commands->copy(ref(0, 8), ref(4, 8)), InvalidArgument, "the ranges overlap");
  EXPECT_STATUS(commands->copy(ref(0, 8), ref(8, 4)), InvalidArgument, "the source has 8 bytes, the target 4");
  EXPECT_STATUS(commands->copy(ref(60, 8), ref(0, 8)), OutOfRange, "the source");
  ASSERT_OK(commands->copy(ref(0, 8), ref(8, 8)));
}

TEST_F(CommandBufferValidatorTest, ChecksUsageAndAccess) {
  EXPECT_STATUS(commands->fill(BufferRef::of(make(kUsageDispatch)), 0, 4), FailedPrecondition,
                "the target needs a buffer of usage transfer target, this one's is dispatch");
  EXPECT_STATUS(commands->fill(BufferRef::of(make(kUsageAll, kAccessRead)), 0, 4), FailedPrecondition,
                "the target is written, the buffer is read only");
  EXPECT_STATUS(commands->copy(BufferRef::of(make(kUsageAll, kAccessWrite)), ref()), FailedPrecondition,
                "the source is read, the buffer is write only");
}

TEST_F(CommandBufferValidatorTest, ChecksDispatches) {
  EXPECT_STATUS(commands->dispatch(nullptr, 0, {1, 1, 1}, {}), InvalidArgument, "no executable");
  EXPECT_STATUS(commands->dispatch(executable, 1, {1, 1, 1}, {}), OutOfRange, "there is no export 1");
  EXPECT_STATUS(commands->dispatch(executable, 0, {1, 1, 1}, {{ref()}, {1}}), InvalidArgument,
                "dispatch of 'add': [K-7] 1 bindings and 1 constants, the layout declares 2 bindings");
  EXPECT_STATUS(commands->dispatch(executable, 0, {1, 65536, 1}, {{ref(), ref()}, {1}}), OutOfRange,
                "the workgroup count is 65536 along y");
  EXPECT_STATUS(commands->dispatch(executable, 0, {1, 1, 1}, {{ref(), ref(4)}, {1}}), InvalidArgument,
                "binding 1 is at byte 4");
  auto readOnly = BufferRef::of(make(kUsageAll, kAccessRead));
  EXPECT_STATUS(commands->dispatch(executable, 0, {1, 1, 1}, {{ref(), readOnly}, {1}}), FailedPrecondition,
                "binding 1 is written, the buffer is read only");
  ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{readOnly, ref()}, {1}}));
}

TEST_F(CommandBufferValidatorTest, ChecksIndirectGrids) {
  const DispatchArguments arguments = {{ref(), ref()}, {1}};
  EXPECT_STATUS(commands->dispatchIndirect(executable, 0, ref(2, 12), arguments), InvalidArgument,
                "the grid is at byte 2");
  EXPECT_STATUS(commands->dispatchIndirect(executable, 0, ref(56), arguments), InvalidArgument,
                "has 8 bytes, expected 12 or more");
  EXPECT_STATUS(commands->dispatchIndirect(executable, 0, BufferRef::of(make(kUsageDispatch)), arguments),
                FailedPrecondition, "usage indirect");
  ASSERT_OK(commands->dispatchIndirect(executable, 0, ref(52), arguments));
  EXPECT_TRUE(commands->waitsOnHost());
}

TEST_F(CommandBufferValidatorTest, ChecksEvents) {
  auto event = Event::create();
  const std::vector<std::shared_ptr<Event>> events = {event};
  EXPECT_STATUS(commands->waitEvents(events), InvalidArgument, "was not signalled");
  ASSERT_OK(commands->signalEvent(event));
  ASSERT_OK(commands->waitEvents(events));
  ASSERT_OK(commands->resetEvent(event));
  EXPECT_STATUS(commands->waitEvents(events), InvalidArgument, "was not signalled");
  EXPECT_STATUS(commands->signalEvent(nullptr), InvalidArgument, "null");
}

TEST_F(CommandBufferValidatorTest, ChecksTheTableOfASubmission) {
  begin({.slotCount = 2});
  EXPECT_STATUS(commands->fill(BufferRef::ofSlot(2), 0, 4), InvalidArgument, "is slot 2, the command buffer has 2");
  EXPECT_STATUS(commands->fill(BufferRef::ofSlot(0, 2), 0, 4), InvalidArgument, "at byte 2, expected a multiple of 4");
  ASSERT_OK(commands->fill(BufferRef::ofSlot(0, 8, 16), 0, 4));
  ASSERT_OK(commands->end());
  auto check = [&](const std::vector<TableEntry> &table) { return commands->checkSubmission(table); };
  EXPECT_STATUS(check({}), InvalidArgument, "the binding table has 0 entries, the command buffer 2 slots");
  EXPECT_STATUS(check({{}, {}}), InvalidArgument, "slot 0 is used and has no buffer");
  EXPECT_STATUS(check({{buffer, 48}, {}}), OutOfRange, "slot 0 has 16 bytes, the target of fill needs 24");
  EXPECT_STATUS(check({{buffer, 60, 8}, {}}), OutOfRange, "8 bytes from byte 60");
  EXPECT_STATUS(check({{buffer, 1}, {}}), InvalidArgument, "expected a multiple of 4");
  EXPECT_STATUS(check({{make(kUsageDispatch)}, {}}), FailedPrecondition, "usage transfer target");
  ASSERT_OK(check({{buffer, 40}, {}})); // slot 1 is not used
}

TEST_F(CommandBufferValidatorTest, RefusesBuffersOfOtherDevices) {
  auto first = device;
  auto other = open();
  auto foreign = allocateBuffer(*other, 64, {}).take();
  EXPECT_STATUS(commands->fill(BufferRef::of(foreign), 0, 4), FailedPrecondition, "is a buffer of another device");
}

} // namespace tenon::runtime
