// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a checked list of commands to graphs, and from a binding table to changed nodes.
#include "runtime/commands/graph_command_buffer.h"

#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"
#include "support/align.h"

#include <algorithm>
#include <cstring>

namespace tenon::runtime {

namespace {

constexpr uint64_t kInlineAlignment = 16; // of each update's data

bool isEmptyGrid(const std::array<uint32_t, 3> &grid) {
  return grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
}

bool sameRange(DeviceRange a, DeviceRange b) {
  return a.address == b.address && a.bytes == b.bytes;
}

} // namespace

Result<std::shared_ptr<GraphCommandBuffer>> GraphCommandBuffer::create(std::shared_ptr<Device> device,
                                                                       const CommandBufferOptions &options) {
  if (!ReplayGraph::isSupported(device->driver()))
    return makeError(StatusCode::Unimplemented, "the driver '", device->driver().path(),
                     "' has no CUDA graphs of 12.0: use a stream command buffer");
  return std::shared_ptr<GraphCommandBuffer>(new GraphCommandBuffer(std::move(device), options));
}

Result<std::shared_ptr<CommandBuffer>>
createCommandBuffer(std::shared_ptr<Device> device, const CommandBufferOptions &options, CommandBufferMode mode) {
  const bool canGraph = ReplayGraph::isSupported(device->driver());
  if (mode == CommandBufferMode::Stream || (mode == CommandBufferMode::Auto && (options.oneShot || !canGraph)))
    return std::shared_ptr<CommandBuffer>(StreamCommandBuffer::create(std::move(device), options));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<CommandBuffer> graph, GraphCommandBuffer::create(std::move(device), options));
  return graph;
}

Status GraphCommandBuffer::prepare() {
  TENON_RETURN_IF_ERROR(StreamCommandBuffer::prepare());
  TENON_RETURN_IF_ERROR(keepInlineData());
  split();
  cuda::ContextScope scope = device().enter();
  TENON_RETURN_IF_ERROR(scope.status());
  for (Part &part : parts_)
    if (part.isGraph && !part.hasSlots && !part.order.empty())
      TENON_RETURN_IF_ERROR(build(part, {}).status().clone());
  return okStatus();
}

Status GraphCommandBuffer::keepInlineData() {
  inlineOffsets_.assign(commands().size(), 0);
  uint64_t bytes = 0;
  for (size_t i = 0; i < commands().size(); ++i)
    if (const auto *update = std::get_if<UpdateCommand>(&commands()[i])) {
      inlineOffsets_[i] = bytes;
      bytes += alignUp(uint64_t(update->bytes.size()), kInlineAlignment);
    }
  if (bytes == 0)
    return okStatus();
  TENON_ASSIGN_OR_RETURN(inlineData_, allocateBuffer(device(), bytes, {.memory = MemoryType::HostVisible}));
  TENON_ASSIGN_OR_RETURN(std::span<uint8_t> data, inlineData_->map(0, bytes, kAccessWrite));
  for (size_t i = 0; i < commands().size(); ++i)
    if (const auto *update = std::get_if<UpdateCommand>(&commands()[i]); update && !update->bytes.empty())
      std::memcpy(data.data() + inlineOffsets_[i], update->bytes.data(), update->bytes.size());
  return okStatus();
}

bool GraphCommandBuffer::isWork(const RecordedCommand &command) const {
  if (std::holds_alternative<BarrierCommand>(command) || std::holds_alternative<EventCommand>(command))
    return false;
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command))
    return !isEmptyGrid(dispatch->grid);
  if (const auto *update = std::get_if<UpdateCommand>(&command))
    return !update->bytes.empty();
  if (hasSlots(command))
    return true; // the table says
  const auto *fill = std::get_if<FillCommand>(&command);
  return resolve(fill ? fill->target : std::get<CopyCommand>(command).target, {}).bytes != 0;
}

void GraphCommandBuffer::split() {
  Part part;
  for (size_t i = 0; i <= commands().size(); ++i) {
    const auto *dispatch = i < commands().size() ? std::get_if<DispatchCommand>(&commands()[i]) : nullptr;
    const bool isIndirect = dispatch && dispatch->isIndirect;
    if (i < commands().size() && !isIndirect)
      continue;
    part.end = i;
    if (part.begin != part.end) {
      orderCommands(part);
      parts_.push_back(std::move(part));
    }
    if (isIndirect) {
      Part single;
      single.begin = i, single.end = i + 1, single.isGraph = false;
      parts_.push_back(std::move(single));
    }
    part = Part();
    part.begin = i + 1;
  }
}

void GraphCommandBuffer::orderCommands(Part &part) const {
  BarrierOrder order;
  for (size_t i = part.begin; i < part.end; ++i) {
    const RecordedCommand &command = commands()[i];
    if (std::holds_alternative<BarrierCommand>(command)) {
      order.barrier();
    } else if (const auto *event = std::get_if<EventCommand>(&command)) {
      // Signals of an earlier part are reached when this one begins: unknown events order nothing.
      std::vector<const void *> events;
      for (const std::shared_ptr<Event> &one : event->events)
        events.push_back(one.get());
      if (event->kind == EventCommand::Kind::Wait)
        order.wait(events);
      else
        for (const void *one : events)
          event->kind == EventCommand::Kind::Signal ? order.signal(one) : order.reset(one);
    } else if (isWork(command)) {
      order.add(static_cast<uint32_t>(i));
      part.hasSlots |= hasSlots(command);
      part.launches += std::holds_alternative<DispatchCommand>(command);
    }
  }
  part.order = order.nodes();
}

void GraphCommandBuffer::resolveTransfer(uint32_t index, BindingTable table, DeviceRange &source,
                                         DeviceRange &target) const {
  const RecordedCommand &command = commands()[index];
  if (const auto *fill = std::get_if<FillCommand>(&command)) {
    target = resolve(fill->target, table);
  } else if (const auto *copy = std::get_if<CopyCommand>(&command)) {
    source = resolve(copy->source, table);
    target = resolve(copy->target, table);
  } else if (const auto *update = std::get_if<UpdateCommand>(&command)) {
    source = {inlineData_->address() + inlineOffsets_[index], update->bytes.size()};
    target = {resolve(update->target, table).address, update->bytes.size()};
  }
}

Result<ReplayGraph::Node> GraphCommandBuffer::addNode(Part &part, uint32_t index,
                                                      std::span<const ReplayGraph::Node> dependsOn, BindingTable table,
                                                      Item &item) {
  const RecordedCommand &command = commands()[index];
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command)) {
    if (hasSlots(command)) {
      resolveBindings(*dispatch, table, item.bindings);
      TENON_RETURN_IF_ERROR(arguments(index).set(item.bindings, dispatch->constants));
    }
    return part.graph->addKernel(dependsOn, {dispatch->loaded->function, dispatch->loaded->gridFor(dispatch->grid),
                                             &dispatch->loaded->launch, arguments(index).kernelParameters()});
  }
  resolveTransfer(index, table, item.source, item.target);
  if (const auto *fill = std::get_if<FillCommand>(&command))
    return part.graph->addFill(dependsOn, item.target, fill->pattern, fill->patternBytes);
  return part.graph->addCopy(dependsOn, item.source, item.target);
}

/// A node of no bytes does not exist, and where a slot is empty only the table says so.
bool GraphCommandBuffer::hasEmptyRange(const Part &part, BindingTable table) const {
  return std::any_of(part.order.begin(), part.order.end(), [&](const OrderedNode &node) {
    if (node.command == OrderedNode::kJoin || std::holds_alternative<DispatchCommand>(commands()[node.command]) ||
        !hasSlots(commands()[node.command]))
      return false;
    DeviceRange source, target;
    resolveTransfer(node.command, table, source, target);
    return target.bytes == 0;
  });
}

Result<bool> GraphCommandBuffer::build(Part &part, BindingTable table) {
  if (part.hasSlots && hasEmptyRange(part, table))
    return false;
  part.graph = std::make_unique<ReplayGraph>(device());
  part.items.clear();
  Status status;
  for (const OrderedNode &node : part.order) {
    if (node.command == OrderedNode::kJoin) {
      status = part.graph->addJoin(node.dependsOn).status().clone();
    } else {
      Item item;
      item.command = node.command;
      item.isStale = false;
      Result<ReplayGraph::Node> added = addNode(part, node.command, node.dependsOn, table, item);
      status = added.status().clone();
      if (!status.ok())
        status = std::move(status).withContext(
            concat("command ", node.command, " (", describeCommand(commands()[node.command]), ")"));
      else if (item.node = *added; hasSlots(commands()[node.command]))
        part.items.push_back(std::move(item));
    }
    if (!status.ok())
      break;
  }
  if (status.ok())
    status = part.graph->instantiate();
  if (status.ok())
    return true;
  part.graph = nullptr;
  return status;
}

Status GraphCommandBuffer::patchItem(Part &part, Item &item, BindingTable table) {
  const RecordedCommand &command = commands()[item.command];
  if (const auto *dispatch = std::get_if<DispatchCommand>(&command)) {
    bool isSame = !item.isStale;
    for (size_t i = 0; i < dispatch->bindings.size(); ++i) {
      const DeviceRange range = resolve(dispatch->bindings[i], table);
      isSame &= sameRange(item.bindings[i], range);
      item.bindings[i] = range;
    }
    if (isSame)
      return okStatus();
    item.isStale = true;
    TENON_RETURN_IF_ERROR(arguments(item.command).set(item.bindings, dispatch->constants));
    TENON_RETURN_IF_ERROR(
        part.graph->setKernel(item.node, {dispatch->loaded->function, dispatch->loaded->gridFor(dispatch->grid),
                                          &dispatch->loaded->launch, arguments(item.command).kernelParameters()}));
    item.isStale = false;
    return okStatus();
  }
  DeviceRange source, target;
  resolveTransfer(item.command, table, source, target);
  if (!item.isStale && sameRange(source, item.source) && sameRange(target, item.target))
    return okStatus();
  item.isStale = true;
  const auto *fill = std::get_if<FillCommand>(&command);
  TENON_RETURN_IF_ERROR(fill ? part.graph->setFill(item.node, target, fill->pattern, fill->patternBytes)
                             : part.graph->setCopy(item.node, source, target));
  item.source = source, item.target = target;
  item.isStale = false;
  return okStatus();
}

Result<bool> GraphCommandBuffer::patch(Part &part, BindingTable table) {
  if (hasEmptyRange(part, table))
    return false;
  for (Item &item : part.items) {
    Status status = patchItem(part, item, table);
    // The driver changes no node into one of another kind of memory.
    if (status.code() == StatusCode::FailedPrecondition || status.code() == StatusCode::Unimplemented)
      return false;
    if (!status.ok())
      return std::move(status).withContext(
          concat("command ", item.command, " (", describeCommand(commands()[item.command]), ")"));
  }
  return true;
}

Status GraphCommandBuffer::issuePart(Part &part, CUstream stream, BindingTable table) {
  if (!part.isGraph)
    return issueRange(part.begin, part.end, stream, table);
  if (part.order.empty())
    return okStatus();
  bool isReady = part.graph != nullptr;
  if (!part.graph) {
    TENON_ASSIGN_OR_RETURN(isReady, build(part, table));
  } else if (part.hasSlots) {
    TENON_ASSIGN_OR_RETURN(isReady, patch(part, table));
  }
  if (!isReady)
    return issueRange(part.begin, part.end, stream, table);
  device().countLaunch(part.launches);
  return part.graph->launch(stream);
}

Status GraphCommandBuffer::issueCommands(CUstream stream, BindingTable table) {
  if (times()) // each command is timed
    return issueRange(0, commands().size(), stream, table);
  for (Part &part : parts_)
    TENON_RETURN_IF_ERROR(issuePart(part, stream, table));
  return okStatus();
}

} // namespace tenon::runtime
