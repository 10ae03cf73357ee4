// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/commands/stream_command_buffer.h"

#include "runtime/memory/transfer.h"
#include "tests/unit/runtime/command_buffer_fixture.h"

#include <cstring>

namespace tenon::runtime {

using namespace tenon::test;

using StreamCommandBufferTest = CommandBufferFixture;

TEST_F(StreamCommandBufferTest, IssuesCommandsInOrder) {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4};
  ASSERT_OK(commands->fill(ref(), 0xabcd, 2));
  ASSERT_OK(commands->update(bytes, ref(8, 4)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(ref(8, 4), ref(0, 4)));
  ASSERT_OK(commands->end());
  ASSERT_OK(commands->issue(nullptr, {}));
  const std::vector<uint8_t> expected = {1, 2, 3, 4, 0xcd, 0xab, 0xcd, 0xab, 1, 2, 3, 4};
  const std::vector<uint8_t> all = read();
  EXPECT_EQ(std::vector<uint8_t>(all.begin(), all.begin() + 12), expected);
}

TEST_F(StreamCommandBufferTest, PacksArgumentsAndReplays) {
  uint64_t sum = 0;
  fake.kernels["add"] = [&](const FakeLaunch &launch) {
    EXPECT_EQ(launch.parameter<uint64_t>(0), buffer->address() + 16);
    sum += launch.parameter<uint32_t>(2);
  };
  ASSERT_OK(commands->dispatch(executable, 0, {3, 2, 1}, {{ref(16), ref()}, {21}}));
  ASSERT_OK(commands->dispatch(executable, 0, {0, 2, 1}, {{ref(16), ref()}, {1000}})); // launches nothing
  ASSERT_OK(commands->end());
  ASSERT_OK(commands->issue(nullptr, {}));
  ASSERT_OK(commands->issue(nullptr, {}));
  EXPECT_EQ(sum, 42u);
  EXPECT_EQ(fake.launches[0].grid, (std::array<unsigned, 3>{3, 2, 1}));
  EXPECT_EQ(fake.count("cuModuleLoadDataEx"), 1u);
}

TEST_F(StreamCommandBufferTest, BindsSlotsWhenIssued) {
  std::vector<uint64_t> seen;
  fake.kernels["add"] = [&](const FakeLaunch &launch) { seen.push_back(launch.parameter<uint64_t>(0)); };
  begin({.slotCount = 1});
  ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{BufferRef::ofSlot(0, 8), ref()}, {0}}));
  ASSERT_OK(commands->end());
  auto other = make(kUsageAll);
  const std::vector<TableEntry> first = {{buffer, 0}}, second = {{other, 4}};
  ASSERT_OK(commands->issue(nullptr, first));
  ASSERT_OK(commands->issue(nullptr, second));
  EXPECT_EQ(seen, (std::vector<uint64_t>{buffer->address() + 8, other->address() + 12}));
}

TEST_F(StreamCommandBufferTest, ReadsTheGridOfAnIndirectDispatch) {
  const std::array<uint32_t, 3> grid = {5, 6, 7}, tooMany = {1, 70000, 1};
  auto put = [&](const std::array<uint32_t, 3> &value) {
    return uploadBytes(*buffer, 32, {reinterpret_cast<const uint8_t *>(value.data()), 12});
  };
  ASSERT_OK(put(grid));
  ASSERT_OK(commands->dispatchIndirect(executable, 0, ref(32, 12), {{ref(), ref()}, {0}}));
  ASSERT_OK(commands->end());
  ASSERT_OK(commands->issue(nullptr, {}));
  EXPECT_EQ(fake.launches[0].grid, (std::array<unsigned, 3>{5, 6, 7}));
  ASSERT_OK(put(tooMany));
  EXPECT_STATUS(commands->issue(nullptr, {}), OutOfRange,
                "command 0 (indirect dispatch of 'add', variant 'v'): the workgroup count is 70000 along y");
}

TEST_F(StreamCommandBufferTest, NamesTheCommandThatFails) {
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->fill(ref(), 0, 4));
  ASSERT_OK(commands->end());
  fake.failures = {{"cuMemsetD32Async", CUDA_ERROR_OUT_OF_MEMORY}};
  EXPECT_STATUS(commands->issue(nullptr, {}), ResourceExhausted, "command 1 (fill): cuMemsetD32Async of 16 elements");
}

} // namespace tenon::runtime
