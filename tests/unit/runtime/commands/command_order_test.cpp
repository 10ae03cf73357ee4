// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/commands/command_order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::runtime {

using Edges = std::vector<uint32_t>;

static Edges sorted(Edges edges) {
  std::sort(edges.begin(), edges.end());
  return edges;
}

TEST(BarrierOrder, CommandsBetweenBarriersAreFree) {
  BarrierOrder order;
  order.add(0);
  order.add(1);
  order.barrier();
  order.barrier();
  order.add(2);
  order.add(3);
  order.barrier();
  order.add(4);
  ASSERT_EQ(order.nodes().size(), 5u);
  EXPECT_TRUE(order.nodes()[0].dependsOn.empty());
  EXPECT_TRUE(order.nodes()[1].dependsOn.empty());
  EXPECT_EQ(sorted(order.nodes()[2].dependsOn), (Edges{0, 1}));
  EXPECT_EQ(sorted(order.nodes()[3].dependsOn), (Edges{0, 1}));
  EXPECT_EQ(sorted(order.nodes()[4].dependsOn), (Edges{2, 3})); // not 0 and 1 again
}

TEST(BarrierOrder, ManyBehindManyMeetInAJoin) {
  BarrierOrder order;
  for (uint32_t i = 0; i < 20; ++i)
    order.add(i);
  order.barrier();
  for (uint32_t i = 20; i < 40; ++i)
    order.add(i);
  order.barrier();
  order.add(40);
  size_t edges = 0;
  for (const OrderedNode &node : order.nodes())
    edges += node.dependsOn.size();
  EXPECT_EQ(order.nodes().size(), 42u); // one join
  EXPECT_EQ(edges, 20u + 20 + 19 + 20); // 20, then the join's 20 and 19 from it; the last from all 20
  EXPECT_EQ(order.nodes()[21].command, OrderedNode::kJoin);
  EXPECT_EQ(order.nodes()[22].dependsOn, Edges{21});
  EXPECT_EQ(order.nodes().back().dependsOn.size(), 20u);
}

TEST(BarrierOrder, EventsOrderOnlyWhatIsBehindTheWait) {
  BarrierOrder order;
  const int event = 0;
  const void *const events[] = {&event};
  order.add(0);
  order.signal(&event);
  order.add(1); // not before the signal
  order.add(2);
  order.wait(events);
  order.add(3);
  EXPECT_TRUE(order.nodes()[1].dependsOn.empty());
  EXPECT_EQ(order.nodes()[3].dependsOn, Edges{0});
  order.barrier();
  order.wait(events); // the barrier implies it
  order.add(4);
  EXPECT_EQ(sorted(order.nodes()[4].dependsOn), (Edges{1, 2, 3}));
}

TEST(BarrierOrder, ChainedEventsImplyEarlierOnes) {
  BarrierOrder order;
  const int first = 0, second = 0, never = 0;
  const void *const one[] = {&first}, *const both[] = {&first, &second}, *const none[] = {&never};
  order.add(0);
  order.signal(&first);
  order.wait(one);
  order.add(1);
  order.signal(&second);
  order.wait(both);
  order.add(2);
  order.reset(&first);
  order.wait(none);
  order.add(3);
  EXPECT_EQ(order.nodes()[1].dependsOn, Edges{0});
  EXPECT_EQ(order.nodes()[2].dependsOn, Edges{1});
  EXPECT_EQ(order.nodes()[3].dependsOn, Edges{1});
}

// Every pair that a barrier separates is connected, and no other pair.
TEST(BarrierOrder, EqualsItsDefinitionOnRandomRecordings) {
  uint32_t seed = 1;
  auto random = [&] { return (seed = seed * 1664525 + 1013904223) >> 16; };
  for (int round = 0; round < 50; ++round) {
    BarrierOrder order;
    std::vector<uint32_t> epochs;
    for (int i = 0, epoch = 0; i < 60; ++i) {
      if (random() % 6 == 0) {
        order.barrier();
        ++epoch;
      } else {
        order.add(static_cast<uint32_t>(epochs.size()));
        epochs.push_back(static_cast<uint32_t>(epoch));
      }
    }
    std::vector<std::vector<bool>> before(order.nodes().size());
    for (size_t i = 0; i < order.nodes().size(); ++i) {
      before[i].resize(i);
      for (uint32_t j : order.nodes()[i].dependsOn) {
        ASSERT_LT(j, i);
        before[i][j] = true;
        for (uint32_t k = 0; k < j; ++k)
          before[i][k] = before[i][k] || before[j][k];
      }
    }
    for (size_t i = 0; i < order.nodes().size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const uint32_t a = order.nodes()[i].command, b = order.nodes()[j].command;
        if (a != OrderedNode::kJoin && b != OrderedNode::kJoin)
          EXPECT_EQ(before[i][j], epochs[b] < epochs[a]) << i << ' ' << j;
      }
  }
}

TEST(HazardOrder, KeepsOnlyWhatTouchesTheSameBytes) {
  const std::vector<std::vector<Access>> accesses = {
      {{0, 64, true}},                    // writes A
      {{64, 128, true}},                  // writes B
      {{0, 64, false}, {128, 192, true}}, // A -> C
      {{0, 64, false}, {192, 256, true}}, // A -> D
      {{0, 32, true}},                    // overwrites a part of A: behind its readers
      {{0, 256, false}},                  // reads all
  };
  const std::vector<OrderedNode> nodes = hazardOrder(accesses);
  EXPECT_TRUE(nodes[1].dependsOn.empty());
  EXPECT_EQ(nodes[2].dependsOn, Edges{0});
  EXPECT_EQ(nodes[3].dependsOn, Edges{0});
  EXPECT_EQ(sorted(nodes[4].dependsOn), (Edges{2, 3}));
  EXPECT_EQ(sorted(nodes[5].dependsOn), (Edges{1, 4})); // 2 and 3 are before 4
}

TEST(HazardOrder, EmptyRangesAndLongListsAreNoTrouble) {
  EXPECT_TRUE(hazardOrder({}).empty());
  const std::vector<std::vector<Access>> many(5000, {{0, 4, true}});
  const std::vector<OrderedNode> nodes = hazardOrder(many);
  EXPECT_EQ(nodes[4999].dependsOn, Edges{4998});
  EXPECT_TRUE(nodes[0].dependsOn.empty());
}

} // namespace tenon::runtime
