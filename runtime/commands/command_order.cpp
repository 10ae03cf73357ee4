// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edges, as few as are cheap to find.
#include "runtime/commands/command_order.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

constexpr size_t kMostDirectEdges = 4; // of one command, before a join takes them together
constexpr size_t kMostCommands = 4096; // whose hazards are looked at: the work grows with the square

bool conflict(const std::vector<Access> &a, const std::vector<Access> &b) {
  for (const Access &x : a)
    for (const Access &y : b)
      if ((x.isWrite || y.isWrite) && x.begin < y.end && y.begin < x.end)
        return true;
  return false;
}

} // namespace

uint32_t BarrierOrder::append(uint32_t command) {
  const auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({command, required_});
  if (requiredUses_++ == 0)
    std::erase_if(
        sinks_, [&](uint32_t sink) { return std::find(required_.begin(), required_.end(), sink) != required_.end(); });
  sinks_.push_back(node);
  return node;
}

void BarrierOrder::add(uint32_t command) {
  // The first command behind many takes the edges itself, the second finds that a join is worth its place.
  if (required_.size() > kMostDirectEdges && requiredUses_ == 1) {
    const uint32_t join = append(OrderedNode::kJoin);
    require({join});
  }
  append(command);
}

void BarrierOrder::require(std::vector<uint32_t> nodes) {
  required_ = std::move(nodes);
  requiredUses_ = 0;
}

void BarrierOrder::barrier() {
  // All that was required is before a sink, or is one.
  require(sinks_);
}

void BarrierOrder::signal(const void *event) {
  signalled_[event] = sinks_;
}

void BarrierOrder::reset(const void *event) {
  signalled_.erase(event);
}

void BarrierOrder::reduce(std::vector<uint32_t> &nodes) const {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.size() < 2)
    return;
  // Backwards from the last: edges lead to smaller numbers, so one sweep marks everything that is implied.
  std::vector<bool> implied(nodes_.size());
  std::vector<bool> reached(nodes_.size());
  for (uint32_t node : nodes)
    reached[node] = true;
  for (uint32_t i = nodes.back() + 1; i-- > nodes.front();)
    if (reached[i] || implied[i])
      for (uint32_t before : nodes_[i].dependsOn)
        implied[before] = true;
  std::erase_if(nodes, [&](uint32_t node) { return implied[node]; });
}

void BarrierOrder::wait(std::span<const void *const> events) {
  std::vector<uint32_t> all = required_;
  for (const void *event : events)
    if (auto found = signalled_.find(event); found != signalled_.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
  reduce(all);
  if (all != required_)
    require(std::move(all));
}

std::vector<OrderedNode> hazardOrder(std::span<const std::vector<Access>> accesses) {
  const size_t count = accesses.size();
  std::vector<OrderedNode> nodes(count);
  const size_t words = (count + 63) / 64;
  std::vector<uint64_t> before(count <= kMostCommands ? count * words : 0); // [count][words] bits: is before
  for (uint32_t i = 0; i < count; ++i) {
    nodes[i].command = i;
    if (count > kMostCommands) {
      if (i != 0)
        nodes[i].dependsOn = {i - 1};
      continue;
    }
    uint64_t *mine = before.data() + i * words;
    // The nearest first: what is before it is before this one too, and needs no edge.
    for (uint32_t j = i; j-- > 0;) {
      if ((mine[j / 64] >> (j % 64) & 1) != 0 || !conflict(accesses[i], accesses[j]))
        continue;
      nodes[i].dependsOn.push_back(j);
      mine[j / 64] |= uint64_t(1) << (j % 64);
      for (size_t word = 0; word < words; ++word)
        mine[word] |= before[j * words + word];
    }
  }
  return nodes;
}

} // namespace tenon::runtime
