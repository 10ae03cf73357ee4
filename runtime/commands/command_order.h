// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which command must wait for which: the edges of a graph from barriers and events, or from what commands touch.
//
//   BarrierOrder   for recorded command buffers, whose users say what is ordered. A barrier: all before, before all
//                  behind. An event: all before its signal, before all behind its wait. Commands in between are in no
//                  order and run side by side.
//   hazardOrder    for programs, whose commands are listed in an order that is always right. Two commands that touch no
//                  common byte, or only read them, need not keep it.
//
// Both give as few edges as they can cheaply find: none that other edges imply. Pure functions of indices; nothing of
// CUDA in here.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tenon::runtime {

/// One node: a command, or a point where many meet before many (n + m edges instead of n x m).
struct OrderedNode {
  static constexpr uint32_t kJoin = ~uint32_t(0);
  uint32_t command = kJoin;        // index as the caller counts
  std::vector<uint32_t> dependsOn; // nodes before this one
};

class BarrierOrder {
public:
  /// The next command, which is work for a device.
  void add(uint32_t command);
  void barrier();
  void signal(const void *event);
  void reset(const void *event);
  /// What was before the events' signals; an event that was not signalled orders nothing.
  void wait(std::span<const void *const> events);

  /// The nodes so far, each behind those it depends on.
  const std::vector<OrderedNode> &nodes() const { return nodes_; }

private:
  uint32_t append(uint32_t command);
  /// Drops the nodes that others of the list imply.
  void reduce(std::vector<uint32_t> &nodes) const;
  void require(std::vector<uint32_t> nodes);

  std::vector<OrderedNode> nodes_;
  std::vector<uint32_t> sinks_;    // nothing depends on them yet: every node is one of them or comes before one
  std::vector<uint32_t> required_; // what every next command depends on
  uint32_t requiredUses_ = 0;      // commands that depend on required_ by edges of their own
  std::map<const void *, std::vector<uint32_t>> signalled_;
};

/// Bytes [begin, end) that a command reads or writes.
struct Access {
  uint64_t begin = 0, end = 0;
  bool isWrite = false;
};

/// @param accesses [n] of each command, in an order that is right
/// @return [n] nodes, in that order. Above 4096 commands they stay one after another.
std::vector<OrderedNode> hazardOrder(std::span<const std::vector<Access>> accesses);

} // namespace tenon::runtime
