// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A command buffer that becomes a CUDA graph. Barriers and events become edges (command_order.h), so that what they do
// not order runs side by side, and the driver prepares all of it once.
//
//   end()      commands whose buffers are all known are built and instantiated; the data of updates moves to pinned
//              memory that this owns
//   issue()    commands with slots: built with the first binding table that arrives, later tables only change the nodes
//              whose operands differ; then one launch
//
// An indirect dispatch splits the recording: a graph before it, the dispatch on the stream with its grid read by the
// host (StreamCommandBuffer), a graph behind it. CUDA can change a grid inside a running graph only from device code
// that is linked with the device runtime, or by a kernel of ours; neither exists on every driver that this serves.
//
// Where a table brings what a graph's node cannot become (a range of no bytes, memory of another kind), that part of
// the recording goes to the stream for this submission: the same commands in their recorded order.
#pragma once

#include "runtime/commands/command_order.h"
#include "runtime/commands/replay_graph.h"
#include "runtime/commands/stream_command_buffer.h"

namespace tenon::runtime {

class GraphCommandBuffer final : public StreamCommandBuffer {
public:
  /// Unimplemented: the driver has no graphs (before 12.0).
  static Result<std::shared_ptr<GraphCommandBuffer>> create(std::shared_ptr<Device> device,
                                                            const CommandBufferOptions &options = {});

protected:
  GraphCommandBuffer(std::shared_ptr<Device> device, const CommandBufferOptions &options)
      : StreamCommandBuffer(std::move(device), options) {}
  Status prepare() override;
  Status issueCommands(CUstream stream, BindingTable table) override;

private:
  // A command's node, and what it was last told.
  struct Item {
    uint32_t command = 0;
    ReplayGraph::Node node = 0;
    bool isStale = true; // the node is not known to hold what follows
    DeviceRange source, target;
    std::vector<DeviceRange> bindings; // of a dispatch
  };
  // Commands [begin, end) as one graph; or one command that goes to the stream.
  struct Part {
    size_t begin = 0, end = 0;
    bool isGraph = true;
    bool hasSlots = false;
    uint64_t launches = 0;
    std::vector<OrderedNode> order;
    std::unique_ptr<ReplayGraph> graph; // null: not built yet
    std::vector<Item> items;            // with slots
  };
  void split();
  void orderCommands(Part &part) const;
  /// Whether it is work at all: no empty grid, no range of no bytes.
  bool isWork(const RecordedCommand &command) const;
  Status keepInlineData();
  /// False: the table holds what no node can be made of.
  Result<bool> build(Part &part, BindingTable table);
  Result<ReplayGraph::Node> addNode(Part &part, uint32_t command, std::span<const ReplayGraph::Node> dependsOn,
                                    BindingTable table, Item &item);
  Result<bool> patch(Part &part, BindingTable table);
  Status patchItem(Part &part, Item &item, BindingTable table);
  Status issuePart(Part &part, CUstream stream, BindingTable table);
  /// Ranges of a transfer: an update's source is its inline data.
  void resolveTransfer(uint32_t command, BindingTable table, DeviceRange &source, DeviceRange &target) const;
  bool hasEmptyRange(const Part &part, BindingTable table) const;

  std::vector<Part> parts_;
  std::shared_ptr<Buffer> inlineData_;
  std::vector<uint64_t> inlineOffsets_; // [commands] of updates in inlineData_
};

/// Auto: a stream for what is submitted once, a graph for what is submitted again, where the driver has graphs.
enum class CommandBufferMode : uint8_t { Auto, Stream, Graph };

/// Unimplemented: Graph was asked for and the driver has none.
Result<std::shared_ptr<CommandBuffer>> createCommandBuffer(std::shared_ptr<Device> device,
                                                           const CommandBufferOptions &options, CommandBufferMode mode);

} // namespace tenon::runtime
