// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bind, patch, launch.
#include "runtime/program/call_instance.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/device/nvtx.h"
#include "runtime/memory/allocator.h"

#include <algorithm>

namespace tenon::runtime {

CallInstance::CallInstance(std::shared_ptr<Device> device, std::shared_ptr<const CallPlan> plan)
    : device_(std::move(device)), plan_(std::move(plan)), bases_(plan_->buffers.size()),
      isChanged_(plan_->buffers.size()), commands_(plan_->commands.size()) {
  for (size_t i = 0; i < commands_.size(); ++i) {
    const PlannedCommand &planned = plan_->commands[i];
    commands_[i].ranges.resize(planned.ranges.size());
    commands_[i].constants = planned.constants;
    if (planned.kind == PlannedCommand::Kind::Dispatch)
      commands_[i].arguments.emplace(planned.kernel->parameters, planned.kernel->encodeTensorMap);
  }
}

Result<std::unique_ptr<CallInstance>> CallInstance::create(std::shared_ptr<Device> device,
                                                           std::shared_ptr<const CallPlan> plan,
                                                           std::span<const std::shared_ptr<const Buffer>> constants,
                                                           bool hasArena) {
  std::unique_ptr<CallInstance> instance(new CallInstance(std::move(device), std::move(plan)));
  if (hasArena && instance->plan_->arenaBytes != 0) {
    TENON_ASSIGN_OR_RETURN(instance->arena_, allocateBuffer(*instance->device_, instance->plan_->arenaBytes, {}));
  }
  for (size_t i = 0; i < instance->bases_.size(); ++i) {
    const CallPlan::Buffer &buffer = instance->plan_->buffers[i];
    if (buffer.place == CallPlan::Place::Arena)
      instance->bases_[i] = (instance->arena_ ? instance->arena_->address() : 0) + buffer.offset;
    else if (buffer.place == CallPlan::Place::Constant)
      instance->bases_[i] = constants[buffer.index]->address();
  }
  return instance;
}

void CallInstance::moveArena(uint64_t address) {
  for (uint32_t i = 0; i < bases_.size(); ++i) {
    if (plan_->buffers[i].place != CallPlan::Place::Arena)
      continue;
    isChanged_[i] = bases_[i] != address + plan_->buffers[i].offset;
    bases_[i] = address + plan_->buffers[i].offset;
  }
}

Status CallInstance::bind(std::span<const Value> inputs, std::span<const Value> results, const Options &options) {
  std::fill(isChanged_.begin(), isChanged_.end(), uint8_t(0));
  if (options.arena)
    moveArena(options.arena->address());
  auto rebase = [&](uint32_t buffer, const Value &value) { // twice for what is both returned and expected
    const uint64_t address = std::get_if<Tensor>(&value)->buffer->address();
    if (bases_[buffer] != address)
      isChanged_[buffer] = 1;
    bases_[buffer] = address;
  };
  for (uint32_t i = 0; i < bases_.size(); ++i)
    if (plan_->buffers[i].place == CallPlan::Place::Input)
      rebase(i, inputs[plan_->buffers[i].index]);
  for (size_t i = 0; i < plan_->results.size(); ++i)
    if (!plan_->results[i].isScalar && plan_->buffers[plan_->results[i].buffer].place == CallPlan::Place::Result)
      rebase(plan_->results[i].buffer, results[i]);

  const bool isFirst = !isBound_, hasRegisters = !options.registers.empty();
  isBound_ = false; // until all of it is
  for (size_t i = 0; i < commands_.size(); ++i) {
    const std::vector<PlannedRange> &ranges = plan_->commands[i].ranges;
    const bool isTouched =
        (hasRegisters && takeConstants(plan_->commands[i], options.registers, commands_[i].constants)) || isFirst ||
        std::any_of(ranges.begin(), ranges.end(), [&](const PlannedRange &r) { return isChanged_[r.buffer]; });
    if (!isTouched)
      continue;
    Status status = bindCommand(i);
    if (!status.ok())
      return std::move(status).withContext(plan_->describeCommand(plan_->commands[i]));
  }
  isBound_ = true;
  return okStatus();
}

Status CallInstance::bindCommand(size_t index) {
  const PlannedCommand &planned = plan_->commands[index];
  BoundCommand &command = commands_[index];
  command.isStale = true;
  for (size_t i = 0; i < planned.ranges.size(); ++i) {
    const PlannedRange &range = planned.ranges[i];
    command.ranges[i] = {bases_[range.buffer] + range.offset, range.bytes};
    if (planned.kind == PlannedCommand::Kind::Fill)
      TENON_RETURN_IF_ERROR(checkFill(command.ranges[i], planned.patternBytes));
    if (planned.kind != PlannedCommand::Kind::Dispatch)
      continue;
    const uint32_t alignment = planned.kernel->declaration->layout.bindings[i].alignment;
    if (alignment != 0 && command.ranges[i].address % alignment != 0)
      return makeError(StatusCode::InvalidArgument, "binding ", i, " is at address ", command.ranges[i].address,
                       ", the layout declares an alignment of ", alignment, " bytes");
  }
  return command.arguments ? command.arguments->set(command.ranges, command.constants) : okStatus();
}

Status CallInstance::addNode(size_t index) {
  const PlannedCommand &planned = plan_->commands[index];
  BoundCommand &command = commands_[index];
  // Nodes are added in the order of the commands, one for each, so their numbers are the same.
  const std::span<const uint32_t> before = plan_->order[index].dependsOn;
  switch (planned.kind) {
  case PlannedCommand::Kind::Dispatch: {
    TENON_ASSIGN_OR_RETURN(command.node,
                           graph_->addKernel(before, {planned.kernel->function, planned.grid, &planned.kernel->launch,
                                                      command.arguments->kernelParameters()}));
    break;
  }
  case PlannedCommand::Kind::Copy: {
    TENON_ASSIGN_OR_RETURN(command.node, graph_->addCopy(before, command.ranges[0], command.ranges[1]));
    break;
  }
  case PlannedCommand::Kind::Fill: {
    TENON_ASSIGN_OR_RETURN(command.node,
                           graph_->addFill(before, command.ranges[0], planned.pattern, planned.patternBytes));
    break;
  }
  }
  command.isStale = false;
  return okStatus();
}

Status CallInstance::buildGraph() {
  graph_ = std::make_unique<ReplayGraph>(*device_);
  Status status;
  for (size_t i = 0; i < commands_.size() && status.ok(); ++i)
    status = addNode(i).withContext(plan_->describeCommand(plan_->commands[i]));
  if (status.ok())
    status = graph_->instantiate();
  if (!status.ok())
    graph_ = nullptr;
  return status;
}

Result<bool> CallInstance::patchGraph() {
  for (size_t i = 0; i < commands_.size(); ++i) {
    BoundCommand &command = commands_[i];
    if (!command.isStale)
      continue;
    const PlannedCommand &planned = plan_->commands[i];
    Status status;
    switch (planned.kind) {
    case PlannedCommand::Kind::Dispatch:
      status = graph_->setKernel(command.node, {planned.kernel->function, planned.grid, &planned.kernel->launch,
                                                command.arguments->kernelParameters()});
      break;
    case PlannedCommand::Kind::Copy:
      status = graph_->setCopy(command.node, command.ranges[0], command.ranges[1]);
      break;
    case PlannedCommand::Kind::Fill:
      status = graph_->setFill(command.node, command.ranges[0], planned.pattern, planned.patternBytes);
      break;
    }
    if (status.code() == StatusCode::FailedPrecondition || status.code() == StatusCode::Unimplemented)
      return false; // memory of another kind
    TENON_RETURN_IF_ERROR(std::move(status));
    command.isStale = false;
  }
  return true;
}

Status CallInstance::issueGraph(CUstream stream, bool &done) {
  if (!graph_) {
    TENON_RETURN_IF_ERROR(buildGraph());
  } else {
    TENON_ASSIGN_OR_RETURN(const bool isReady, patchGraph());
    if (!isReady)
      return okStatus();
  }
  done = true;
  device_->countLaunch(plan_->launches);
  return graph_->launch(stream);
}

Status CallInstance::issueCommand(size_t index, CUstream stream) {
  const PlannedCommand &planned = plan_->commands[index];
  BoundCommand &command = commands_[index];
  const cuda::Driver &driver = device_->driver();
  switch (planned.kind) {
  case PlannedCommand::Kind::Dispatch: {
    const NvtxRange range({}, commandName(index));
    device_->countLaunch();
    return launchOnStream(driver, stream, planned.kernel->function, planned.grid, planned.kernel->launch,
                          command.arguments->kernelParameters());
  }
  case PlannedCommand::Kind::Copy:
    return copyOnStream(driver, stream, command.ranges[0], command.ranges[1]);
  case PlannedCommand::Kind::Fill:
    return fillOnStream(driver, stream, command.ranges[0], planned.pattern, planned.patternBytes);
  }
  return makeError(StatusCode::Internal, "unknown command");
}

std::string_view CallInstance::commandName(size_t index) const {
  const PlannedCommand &planned = plan_->commands[index];
  if (planned.kind == PlannedCommand::Kind::Dispatch)
    return planned.kernel->declaration->name;
  return planned.kind == PlannedCommand::Kind::Copy ? "copy" : "fill";
}

void CallInstance::traceCommand(size_t index, StreamTrace &trace) const {
  const PlannedCommand &planned = plan_->commands[index];
  Trace::Details details = {{"command", plan_->describeCommand(planned)}};
  if (planned.kind == PlannedCommand::Kind::Dispatch) {
    const std::array<uint32_t, 3> &grid = planned.grid;
    details.emplace_back("variant", planned.kernel->variantName);
    details.emplace_back("kernel", planned.kernel->symbol);
    details.emplace_back("grid", concat(grid[0], " x ", grid[1], " x ", grid[2]));
    return trace.command(std::string(commandName(index)), "dispatch", std::move(details));
  }
  details.emplace_back("bytes", concat(planned.ranges.back().bytes));
  trace.command(std::string(commandName(index)), std::string(commandName(index)), std::move(details));
}

Status CallInstance::describeFault(Status status) const {
  if (status.code() != StatusCode::Aborted)
    return status;
  status = plan_->describeFault(std::move(status));
  device_->rememberFault(status);
  return status;
}

Status CallInstance::issue(CUstream stream, std::span<const Value> inputs, std::span<const Value> results,
                           const Options &options) {
  TENON_RETURN_IF_ERROR(bind(inputs, results, options));
  const cuda::Driver &driver = device_->driver();
  const bool isTraced = options.isTraced && device_->trace();
  const bool isSynchronous = options.synchronous || options.observer;
  if (options.graph && !isSynchronous && !isTraced && !commands_.empty() && ReplayGraph::isSupported(driver)) {
    bool done = false;
    Status status = issueGraph(stream, done);
    if (done || !status.ok())
      return describeFault(std::move(status));
  }
  std::optional<StreamTrace> trace;
  if (isTraced)
    trace.emplace(*device_, stream);
  for (size_t i = 0; i < commands_.size(); ++i) {
    if (options.observer)
      options.observer->before(commandName(i));
    Status status = issueCommand(i, stream);
    if (trace && status.ok())
      traceCommand(i, *trace);
    if (status.ok() && isSynchronous)
      status = cuda::driverStatus(driver, driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (options.observer)
      options.observer->after();
    if (status.ok())
      continue;
    // A kernel's fault may come back from a later command; waiting after each, it is this one's.
    const bool isFault = status.code() == StatusCode::Aborted && !isSynchronous;
    if (isFault)
      return describeFault(std::move(status));
    status = std::move(status).withContext(plan_->describeCommand(plan_->commands[i]));
    device_->rememberFault(status);
    return status;
  }
  if (trace)
    trace->finish();
  return okStatus();
}

} // namespace tenon::runtime
