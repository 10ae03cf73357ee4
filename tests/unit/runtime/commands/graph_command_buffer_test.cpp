// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/commands/graph_command_buffer.h"

#include "tests/unit/runtime/command_buffer_fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class GraphCommandBufferTest : public CommandBufferFixture {
protected:
  GraphCommandBufferTest() {
    isGraph = true;
    begin();
  }
};

TEST_F(GraphCommandBufferTest, RunsEveryKindOfCommandInItsOrder) {
  std::vector<uint8_t> bytes = {1, 2, 3, 4};
  ASSERT_OK(commands->fill(ref(), 0xabcd, 2));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->update(bytes, ref(8, 4)));
  bytes.assign(4, 99); // it was copied
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(ref(8, 4), ref(0, 4)));
  ASSERT_OK(commands->end());
  ASSERT_OK(commands->issue(nullptr, {}));
  const std::vector<uint8_t> expected = {1, 2, 3, 4, 0xcd, 0xab, 0xcd, 0xab, 1, 2, 3, 4};
  const std::vector<uint8_t> all = read();
  EXPECT_EQ(std::vector<uint8_t>(all.begin(), all.begin() + 12), expected);
  EXPECT_EQ(fake.count("cuGraphLaunch"), 1u);
  EXPECT_EQ(fake.count("cuMemsetD16Async"), 0u);
}

TEST_F(GraphCommandBufferTest, IsInstantiatedOnceAndReplayed) {
  uint64_t sum = 0;
  fake.kernels["add"] = [&](const FakeLaunch &launch) { sum += launch.parameter<uint32_t>(2); };
  for (uint32_t i = 0; i < 10; ++i)
    ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{ref(), ref()}, {i}}));
  ASSERT_OK(commands->dispatch(executable, 0, {0, 1, 1}, {{ref(), ref()}, {1000}})); // launches nothing
  ASSERT_OK(commands->end());
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(commands->issue(nullptr, {}));
  EXPECT_EQ(sum, 3u * 45);
  EXPECT_EQ(fake.graphNodes, 10u);
  EXPECT_EQ(fake.graphEdges, 0u); // no barrier: side by side
  EXPECT_EQ(fake.count("cuGraphInstantiateWithFlags"), 1u);
  EXPECT_EQ(fake.count("cuGraphExecKernelNodeSetParams_v2"), 0u);
  EXPECT_EQ(device->statistics().launches, 30u);
}

TEST_F(GraphCommandBufferTest, ChangesOnlyTheNodesWhoseBuffersChanged) {
  std::vector<uint64_t> seen;
  fake.kernels["add"] = [&](const FakeLaunch &launch) { seen.push_back(launch.parameter<uint64_t>(0)); };
  begin({.slotCount = 2});
  ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{BufferRef::ofSlot(0, 8), ref()}, {0}}));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{BufferRef::ofSlot(1, 4), ref()}, {0}}));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(BufferRef::ofSlot(1, 0, 4), ref(0, 4)));
  ASSERT_OK(commands->end());
  EXPECT_EQ(fake.count("cuGraphInstantiateWithFlags"), 0u); // its buffers are not known
  auto other = make(kUsageAll);
  const std::vector<TableEntry> first = {{buffer, 0}, {other, 16}}, second = {{other, 4}, {other, 16}};
  ASSERT_OK(commands->issue(nullptr, first));
  ASSERT_OK(commands->issue(nullptr, second));
  ASSERT_OK(commands->issue(nullptr, second));
  const uint64_t one = buffer->address() + 8, two = other->address() + 20, three = other->address() + 12;
  EXPECT_EQ(seen, (std::vector<uint64_t>{one, two, three, two, three, two}));
  EXPECT_EQ(fake.count("cuGraphInstantiateWithFlags"), 1u);
  EXPECT_EQ(fake.count("cuGraphExecKernelNodeSetParams_v2"), 1u);
  EXPECT_EQ(fake.count("cuGraphExecMemcpyNodeSetParams"), 0u);
}

TEST_F(GraphCommandBufferTest, ANodeThatCannotChangeGoesToTheStream) {
  begin({.slotCount = 1});
  ASSERT_OK(commands->fill(BufferRef::ofSlot(0), 7, 1));
  ASSERT_OK(commands->end());
  const std::vector<TableEntry> none = {{buffer, 0, 0}}, part = {{buffer, 4, 4}}, all = {{buffer}};
  ASSERT_OK(commands->issue(nullptr, none)); // no bytes, before there is a graph
  ASSERT_OK(commands->issue(nullptr, part));
  ASSERT_OK(commands->issue(nullptr, none)); // and with one
  EXPECT_EQ(fake.count("cuGraphLaunch"), 1u);
  EXPECT_EQ(fake.count("cuMemsetD8Async"), 0u);
  fake.failures = {{"cuGraphExecMemsetNodeSetParams", CUDA_ERROR_INVALID_VALUE}};
  ASSERT_OK(commands->issue(nullptr, all));
  EXPECT_EQ(read(), std::vector<uint8_t>(64, 7));
  EXPECT_EQ(fake.count("cuMemsetD8Async"), 1u);
  fake.failures.clear();
  ASSERT_OK(commands->issue(nullptr, all)); // the node did not hold it
  EXPECT_EQ(fake.count("cuGraphLaunch"), 2u);
}

TEST_F(GraphCommandBufferTest, AnIndirectDispatchSplitsTheGraph) {
  const std::array<uint32_t, 3> grid = {5, 6, 7};
  ASSERT_OK(commands->update({reinterpret_cast<const uint8_t *>(grid.data()), 12}, ref(32, 12)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatchIndirect(executable, 0, ref(32, 12), {{ref(), ref()}, {0}}));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{ref(), ref()}, {0}}));
  ASSERT_OK(commands->end());
  EXPECT_TRUE(commands->waitsOnHost());
  for (int i = 0; i < 2; ++i)
    ASSERT_OK(commands->issue(nullptr, {}));
  ASSERT_EQ(fake.launches.size(), 4u);
  EXPECT_EQ(fake.launches[2].grid, (std::array<unsigned, 3>{5, 6, 7}));
  EXPECT_EQ(fake.count("cuGraphLaunch"), 4u);
}

TEST_F(GraphCommandBufferTest, EventsBecomeEdges) {
  auto event = Event::create();
  const std::vector<std::shared_ptr<Event>> events = {event};
  ASSERT_OK(commands->fill(ref(), 1, 4));
  ASSERT_OK(commands->signalEvent(event));
  ASSERT_OK(commands->waitEvents(events));
  ASSERT_OK(commands->fill(ref(0, 8), 2, 4));
  ASSERT_OK(commands->resetEvent(event));
  ASSERT_OK(commands->end());
  ASSERT_OK(commands->issue(nullptr, {}));
  EXPECT_EQ(fake.graphEdges, 1u);
  EXPECT_EQ(read()[0], 2);
  EXPECT_EQ(read()[8], 1);
}

TEST_F(GraphCommandBufferTest, EveryFailureOfTheDriverIsAnErrorWithItsCall) {
  auto record = [&] {
    begin();
    (void)commands->fill(ref(), 1, 4);
    (void)commands->copy(ref(0, 8), ref(8, 8));
    (void)commands->dispatch(executable, 0, {1, 1, 1}, {{ref(), ref()}, {0}});
    return commands->end();
  };
  for (const char *function : {"cuGraphCreate", "cuGraphAddMemsetNode", "cuGraphAddMemcpyNode",
                               "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags"}) {
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    EXPECT_STATUS(record(), ResourceExhausted, function);
  }
  fake.failures.clear();
  ASSERT_OK(record());
  fake.failures = {{"cuGraphLaunch", CUDA_ERROR_OUT_OF_MEMORY}};
  EXPECT_STATUS(commands->issue(nullptr, {}), ResourceExhausted, "cuGraphLaunch");
  fake.failures.clear();
}

TEST_F(GraphCommandBufferTest, AutoTakesAStreamForOneShot) {
  auto automatic = createCommandBuffer(device, {.oneShot = true}, CommandBufferMode::Auto).take();
  ASSERT_OK(automatic->begin());
  ASSERT_OK(automatic->fill(ref(), 1, 4));
  ASSERT_OK(automatic->end());
  ASSERT_OK(automatic->issue(nullptr, {}));
  EXPECT_EQ(fake.count("cuGraphLaunch"), 0u);
  automatic = createCommandBuffer(device, {}, CommandBufferMode::Auto).take();
  ASSERT_OK(automatic->begin());
  ASSERT_OK(automatic->fill(ref(), 1, 4));
  ASSERT_OK(automatic->end());
  ASSERT_OK(automatic->issue(nullptr, {}));
  EXPECT_EQ(fake.count("cuGraphLaunch"), 1u);
}

} // namespace tenon::runtime
