// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a verified function and checked inputs to a plan. The verifier (abi/executable_format.md) has shown that every
// index is in its array, so what is checked here is what the shapes decide: register values, and the ranges and grids
// made of them.
#include "runtime/program/plan/function_plan.h"

#include "runtime/program/plan/function_data.h"
#include "runtime/program/plan/register_program.h"

#include <algorithm>
#include <limits>

namespace tenon::runtime {

namespace {

class Planner {
public:
  Planner(const abi::fb::Function &function, std::span<const Value> inputs, const PlanSources &sources,
          const CallKey::IgnoredScalars &ignored, ResultTaker taker)
      : function_(function), inputs_(inputs), sources_(sources), taker_(taker),
        plan_(new CallPlan{.key = CallKey(inputs, ignored), .function = &function}) {}

  Result<std::shared_ptr<const CallPlan>> make() {
    // Shapes, sizes, grids and scalar arguments, from the inputs' shapes and scalars.
    TENON_ASSIGN_OR_RETURN(registers_, runRegisterProgram(function_, inputs_));
    // What the compiler could not know: equal dynamic extents and the like. Past here the function is free to run.
    TENON_RETURN_IF_ERROR(evaluateChecks(function_, registers_));
    // Sizes, then what uses them.
    TENON_RETURN_IF_ERROR(planBuffers());
    TENON_RETURN_IF_ERROR(planResults());
    TENON_RETURN_IF_ERROR(planCommands());
    if (taker_ == ResultTaker::Caller)
      copyConstants();
    // One block for what does not outlive the call.
    TENON_RETURN_IF_ERROR(placeTransients());
    orderCommands(*plan_);
    return std::shared_ptr<const CallPlan>(std::move(plan_));
  }

private:
  Status planBuffers();
  Status planResults();
  Status planResult(const abi::fb::ResultValue &source, std::string_view what, uint32_t index);
  void copyConstants();
  Status planCommands();
  Status planCommand(const abi::fb::Command &source, PlannedCommand &command);
  Status planGrid(const abi::fb::Dispatch &dispatch, PlannedCommand &command) const;
  Status planDispatch(const abi::fb::Dispatch &dispatch, PlannedCommand &command);
  Status placeTransients();
  Result<PlannedRange> range(const abi::fb::BufferRange &range) const;
  std::string name() const { return concat("function '", function_.name()->string_view(), "'"); }

  const abi::fb::Function &function_;
  std::span<const Value> inputs_;
  const PlanSources &sources_;
  const ResultTaker taker_;
  std::unique_ptr<CallPlan> plan_;
  std::vector<int64_t> registers_;
};

Status Planner::planBuffers() {
  for (uint32_t i = 0; i < sizeOf(function_.buffers()); ++i) {
    const abi::fb::Buffer &source = *function_.buffers()->Get(i);
    CallPlan::Buffer buffer;
    buffer.index = source.index();
    switch (source.source()) {
    case abi::fb::BufferSource::Input: {
      const Tensor *tensor = std::get_if<Tensor>(&inputs_[source.index()]);
      if (!tensor)
        return makeError(StatusCode::InvalidArgument, name(), ": buffer ", i, " is input ", source.index(),
                         ", which is no tensor");
      buffer.place = CallPlan::Place::Input;
      TENON_ASSIGN_OR_RETURN(buffer.bytes, denseBytes(tensor->shape, tensor->element));
      break;
    }
    case abi::fb::BufferSource::Transient: {
      const int64_t bytes = source.size() < registers_.size() ? registers_[source.size()] : -1;
      if (bytes < 0)
        return makeError(StatusCode::OutOfRange, name(), ": buffer ", i, " has ", bytes, " bytes");
      buffer.place = CallPlan::Place::Arena; // unless it is a result
      buffer.bytes = static_cast<uint64_t>(bytes);
      break;
    }
    case abi::fb::BufferSource::Constant:
      buffer.place = CallPlan::Place::Constant;
      buffer.bytes = sources_.constants[source.index()].size;
      break;
    }
    plan_->buffers.push_back(buffer);
  }
  return okStatus();
}

Status Planner::planResults() {
  for (uint32_t i = 0; i < sizeOf(function_.results()); ++i)
    TENON_RETURN_IF_ERROR(planResult(*function_.results()->Get(i), "result", i));
  plan_->returned = plan_->results.size();
  for (uint32_t i = 0; i < sizeOf(function_.expectations()); ++i) {
    const abi::fb::Expectation &source = *function_.expectations()->Get(i);
    CallPlan::Expectation expectation{&source, static_cast<uint32_t>(plan_->results.size()), 0};
    TENON_RETURN_IF_ERROR(planResult(*source.found(), "expectation", i));
    if (source.wanted())
      TENON_RETURN_IF_ERROR(planResult(*source.wanted(), "expectation", i));
    expectation.wanted = static_cast<uint32_t>(plan_->results.size() - 1);
    plan_->expectations.push_back(expectation);
  }
  return okStatus();
}

/// A value that outlives the commands: number `index` of those that messages call `what`.
Status Planner::planResult(const abi::fb::ResultValue &source, std::string_view what, uint32_t index) {
  CallPlan::Result result;
  result.element = static_cast<abi::ElementType>(source.type()->element());
  result.isScalar = source.type()->kind() == abi::fb::ValueKind::Scalar;
  if (source.element() != kNoRegister) { // read back when the commands are done (block_call.h)
    plan_->results.push_back(std::move(result));
    return okStatus();
  }
  if (result.isScalar) {
    result.scalar = {result.element, registers_[source.scalar()]};
    plan_->results.push_back(std::move(result));
    return okStatus();
  }
  for (uint32_t axis = 0; axis < sizeOf(source.shape()); ++axis)
    result.shape.push_back(registers_[source.shape()->Get(axis)]);
  TENON_ASSIGN_OR_RETURN(result.bytes, denseBytes(result.shape, result.element));
  result.buffer = source.buffer();
  CallPlan::Buffer &buffer = plan_->buffers[source.buffer()];
  if (result.bytes > buffer.bytes)
    return makeError(StatusCode::OutOfRange, what, ' ', index, " of ", name(), " is ",
                     tensorTypeSpelling(result.shape, result.element), " (", result.bytes, " bytes) in a buffer of ",
                     buffer.bytes, " bytes");
  if (buffer.place == CallPlan::Place::Arena) {
    buffer.place = CallPlan::Place::Result;
    buffer.index = static_cast<uint32_t>(plan_->resultBuffers.size());
    plan_->resultBuffers.push_back(source.buffer());
  }
  plan_->results.push_back(std::move(result));
  return okStatus();
}

/// Results that are one constant are one copy of it.
void Planner::copyConstants() {
  std::vector<std::pair<uint32_t, uint32_t>> copies; // the constant's buffer, the copy
  for (size_t i = 0; i < plan_->returned; ++i) {
    CallPlan::Result &result = plan_->results[i];
    if (result.isScalar || plan_->buffers[result.buffer].place != CallPlan::Place::Constant)
      continue;
    auto known =
        std::find_if(copies.begin(), copies.end(), [&](const auto &each) { return each.first == result.buffer; });
    if (known == copies.end()) {
      known = copies.insert(copies.end(), {result.buffer, static_cast<uint32_t>(plan_->buffers.size())});
      plan_->buffers.push_back(
          {.place = CallPlan::Place::Result, .index = static_cast<uint32_t>(plan_->resultBuffers.size())});
      plan_->resultBuffers.push_back(known->second);
    }
    CallPlan::Buffer &copy = plan_->buffers[known->second];
    copy.bytes = std::max(copy.bytes, result.bytes);
    result.buffer = known->second;
  }
  for (const auto &[constant, copy] : copies)
    if (const uint64_t bytes = plan_->buffers[copy].bytes; bytes != 0)
      plan_->commands.push_back(
          {.kind = PlannedCommand::Kind::Copy, .ranges = {{constant, 0, bytes}, {copy, 0, bytes}}});
}

Result<PlannedRange> Planner::range(const abi::fb::BufferRange &range) const {
  const int64_t size = static_cast<int64_t>(plan_->buffers[range.buffer()].bytes);
  const int64_t offset = range.offset() == kNoRegister ? 0 : registers_[range.offset()];
  if (offset < 0 || offset > size)
    return makeError(StatusCode::OutOfRange, "a range of buffer ", range.buffer(), " starts at byte ", offset,
                     ", the buffer has ", size);
  const int64_t length = range.length() == kNoRegister ? size - offset : registers_[range.length()];
  if (length < 0 || length > size - offset)
    return makeError(StatusCode::OutOfRange, "a range of buffer ", range.buffer(), " has ", length, " bytes from byte ",
                     offset, ", the buffer has ", size);
  return PlannedRange{range.buffer(), static_cast<uint64_t>(offset), static_cast<uint64_t>(length)};
}

Status Planner::planGrid(const abi::fb::Dispatch &dispatch, PlannedCommand &command) const {
  std::array<int64_t, 3> grid;
  for (uint32_t axis = 0; axis < 3; ++axis)
    grid[axis] = registers_[dispatch.grid()->Get(axis)];
  TENON_RETURN_IF_ERROR(checkGrid(grid));
  std::copy(grid.begin(), grid.end(), command.grid.begin());
  return okStatus();
}

Status Planner::planDispatch(const abi::fb::Dispatch &dispatch, PlannedCommand &command) {
  command.grid = command.kernel->gridFor(command.grid);
  for (uint32_t i = 0; i < sizeOf(dispatch.bindings()); ++i) {
    Result<PlannedRange> bound = range(*dispatch.bindings()->Get(i));
    if (!bound.ok())
      return bound.takeStatus().withContext(concat("binding ", i));
    command.ranges.push_back(*bound);
  }
  for (uint32_t i = 0; i < sizeOf(dispatch.constants()); ++i)
    command.constants.push_back(static_cast<uint64_t>(registers_[dispatch.constants()->Get(i)]));
  const abi::Layout &layout = command.kernel->declaration->layout;
  if (command.ranges.size() != layout.bindings.size())
    return makeError(StatusCode::InvalidArgument, "[K-7] ", command.ranges.size(), " bindings, the layout declares ",
                     layout.toString());
  return okStatus();
}

Status Planner::planCommand(const abi::fb::Command &source, PlannedCommand &command) {
  switch (source.body_type()) {
  case abi::fb::CommandBody::Dispatch:
    return planDispatch(*source.body_as_Dispatch(), command);
  case abi::fb::CommandBody::Copy: {
    command.kind = PlannedCommand::Kind::Copy;
    TENON_ASSIGN_OR_RETURN(PlannedRange from, range(*source.body_as_Copy()->source()));
    TENON_ASSIGN_OR_RETURN(PlannedRange to, range(*source.body_as_Copy()->target()));
    command.ranges = {from, to};
    if (from.bytes != to.bytes)
      return makeError(StatusCode::InvalidArgument, "a copy of ", from.bytes, " bytes into ", to.bytes, " bytes");
    return okStatus();
  }
  case abi::fb::CommandBody::Fill: {
    const abi::fb::Fill &fill = *source.body_as_Fill();
    command.kind = PlannedCommand::Kind::Fill;
    TENON_ASSIGN_OR_RETURN(PlannedRange target, range(*fill.target()));
    command.ranges = {target};
    command.pattern = static_cast<uint32_t>(registers_[fill.pattern()]);
    command.patternBytes = fill.pattern_size();
    return checkFill({0, target.bytes}, command.patternBytes);
  }
  case abi::fb::CommandBody::NONE:
    break;
  }
  return makeError(StatusCode::DataLoss, "a command without a body");
}

Status Planner::planCommands() {
  for (uint32_t i = 0; i < sizeOf(function_.commands()); ++i) {
    const abi::fb::Command &source = *function_.commands()->Get(i);
    PlannedCommand command;
    command.function = &function_;
    command.index = i;
    const abi::fb::Dispatch *dispatch = source.body_as_Dispatch();
    if (dispatch) {
      if (Status status = planGrid(*dispatch, command); !status.ok())
        return std::move(status).withContext(plan_->describeCommand(command));
      // An empty tensor is an empty grid, which the driver would refuse, and of the kernels for several sizes all but
      // one have one: what does not run is not loaded either.
      if (std::ranges::find(command.grid, 0u) != command.grid.end())
        continue;
      TENON_ASSIGN_OR_RETURN(command.kernel,
                             sources_.executables[dispatch->executable()]->load(dispatch->export_ordinal()));
    }
    Status status = planCommand(source, command);
    if (!status.ok())
      return std::move(status).withContext(plan_->describeCommand(command));
    if (!dispatch && command.ranges.back().bytes == 0)
      continue;
    plan_->launches += dispatch != nullptr;
    plan_->commands.push_back(std::move(command));
  }
  return okStatus();
}

/// Where the compiler has put them; a file may say anything, so that it lies within is checked.
Status Planner::placeTransients() {
  if (function_.arena() == kNoRegister)
    return packTransients(*plan_);
  const int64_t arena = registers_[function_.arena()];
  if (arena < 0 || arena > std::numeric_limits<int64_t>::max() / 2)
    return makeError(StatusCode::OutOfRange, name(), ": its transients take ", arena, " bytes");
  plan_->arenaBytes = static_cast<uint64_t>(arena);
  for (uint32_t i = 0; i < plan_->buffers.size(); ++i) {
    CallPlan::Buffer &buffer = plan_->buffers[i];
    if (buffer.place != CallPlan::Place::Arena)
      continue;
    const uint32_t offset = function_.buffers()->Get(i)->offset();
    const int64_t value = offset == kNoRegister ? -1 : registers_[offset];
    if (value < 0 || value % int64_t(kBufferAlignment) != 0 || buffer.bytes > plan_->arenaBytes ||
        static_cast<uint64_t>(value) > plan_->arenaBytes - buffer.bytes)
      return makeError(StatusCode::OutOfRange, name(), ": buffer ", i, " of ", buffer.bytes, " bytes is at byte ",
                       value, " of an arena of ", arena, " bytes");
    buffer.offset = static_cast<uint64_t>(value);
  }
  return okStatus();
}

} // namespace

Result<std::shared_ptr<const CallPlan>> makeCallPlan(const abi::fb::Function &function, std::span<const Value> inputs,
                                                     const PlanSources &sources, const CallKey::IgnoredScalars &ignored,
                                                     ResultTaker taker) {
  return Planner(function, inputs, sources, ignored, taker).make();
}

} // namespace tenon::runtime
