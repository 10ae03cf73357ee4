// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a verified function and checked inputs to a plan. The verifier (abi/executable_format.md) has shown that every
// index is in its array, so what is checked here is what the shapes decide: register values, and the ranges and grids
// made of them.
#include "runtime/program/call_plan.h"

#include "abi/format/arithmetic.h"
#include "runtime/program/lifetime_packing.h"
#include "runtime/program/register_program.h"

#include <algorithm>
#include <limits>

namespace tenon::runtime {

namespace {

constexpr uint32_t kNoRegister = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMostNamed = 64;                                    // dispatches in a message
constexpr uint32_t kWholeRange = std::numeric_limits<uint32_t>::max(); // "from the start", "to the end"

template <typename Vector> uint32_t sizeOf(const Vector *vector) {
  return vector ? vector->size() : 0;
}

/// " (argument 0: 8, argument 1: 7)": the values that a failed check compared; "" where it compares nothing.
std::string comparedValues(const abi::fb::Function &function, std::span<const int64_t> registers, uint32_t condition) {
  using abi::fb::RegisterOpcode;
  const auto &operations = *function.registers();
  const abi::fb::RegisterOp &compare = *operations.Get(condition);
  if (compare.opcode() != RegisterOpcode::Eq && compare.opcode() != RegisterOpcode::Lt)
    return {};
  const abi::fb::RegisterOp &a = *operations.Get(compare.a()), &b = *operations.Get(compare.b());
  const bool sameDimension = a.opcode() != RegisterOpcode::Dim || b.opcode() != RegisterOpcode::Dim || a.b() == b.b();
  std::string text;
  for (uint32_t index : {compare.a(), compare.b()}) {
    const abi::fb::RegisterOp &operand = *operations.Get(index);
    if (operand.opcode() == RegisterOpcode::Const) // the message has it
      continue;
    text += text.empty() ? " (" : ", ";
    if (operand.opcode() == RegisterOpcode::Dim && !sameDimension)
      text += concat("dimension ", operand.b(), " of ");
    if (operand.opcode() == RegisterOpcode::Dim || operand.opcode() == RegisterOpcode::Arg)
      text += concat("argument ", operand.a());
    else
      text += "computed";
    text += concat(": ", registers[index]);
  }
  return text.empty() ? text : text + ')';
}

class Planner {
public:
  Planner(const abi::fb::Function &function, std::span<const Value> inputs, const PlanSources &sources,
          const CallKey::IgnoredScalars &ignored)
      : function_(function), inputs_(inputs), sources_(sources),
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
    // One block for what does not outlive the call.
    TENON_RETURN_IF_ERROR(placeTransients());
    orderCommands(*plan_);
    return std::shared_ptr<const CallPlan>(std::move(plan_));
  }

private:
  Status planBuffers();
  Status planResults();
  Status planResult(const abi::fb::ResultValue &source, std::string_view what, uint32_t index);
  Status planCommands();
  Status planCommand(const abi::fb::Command &source, PlannedCommand &command);
  Status planDispatch(const abi::fb::Dispatch &dispatch, PlannedCommand &command);
  Status placeTransients();
  Status packTransients();
  Result<PlannedRange> range(const abi::fb::BufferRange &range) const;
  std::string name() const { return concat("function '", function_.name()->string_view(), "'"); }

  const abi::fb::Function &function_;
  std::span<const Value> inputs_;
  const PlanSources &sources_;
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

Result<PlannedRange> Planner::range(const abi::fb::BufferRange &range) const {
  const int64_t size = static_cast<int64_t>(plan_->buffers[range.buffer()].bytes);
  const int64_t offset = range.offset() == kWholeRange ? 0 : registers_[range.offset()];
  if (offset < 0 || offset > size)
    return makeError(StatusCode::OutOfRange, "a range of buffer ", range.buffer(), " starts at byte ", offset,
                     ", the buffer has ", size);
  const int64_t length = range.length() == kWholeRange ? size - offset : registers_[range.length()];
  if (length < 0 || length > size - offset)
    return makeError(StatusCode::OutOfRange, "a range of buffer ", range.buffer(), " has ", length, " bytes from byte ",
                     offset, ", the buffer has ", size);
  return PlannedRange{range.buffer(), static_cast<uint64_t>(offset), static_cast<uint64_t>(length)};
}

Status Planner::planDispatch(const abi::fb::Dispatch &dispatch, PlannedCommand &command) {
  std::array<int64_t, 3> grid;
  for (uint32_t axis = 0; axis < 3; ++axis)
    grid[axis] = registers_[dispatch.grid()->Get(axis)];
  TENON_RETURN_IF_ERROR(checkGrid(grid));
  std::copy(grid.begin(), grid.end(), command.grid.begin());
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
    if (const abi::fb::Dispatch *dispatch = source.body_as_Dispatch()) {
      TENON_ASSIGN_OR_RETURN(command.kernel,
                             sources_.executables[dispatch->executable()]->load(dispatch->export_ordinal()));
    }
    Status status = planCommand(source, command);
    if (!status.ok())
      return std::move(status).withContext(plan_->describeCommand(command));
    // An empty tensor is an empty grid or range, which the driver would refuse.
    const bool isDispatch = command.kind == PlannedCommand::Kind::Dispatch;
    const bool isEmpty = isDispatch ? command.grid[0] == 0 || command.grid[1] == 0 || command.grid[2] == 0
                                    : command.ranges.back().bytes == 0;
    if (isEmpty)
      continue;
    plan_->launches += isDispatch;
    plan_->commands.push_back(std::move(command));
  }
  return okStatus();
}

/// Where the compiler has put them; a file may say anything, so that it lies within is checked.
Status Planner::placeTransients() {
  if (function_.arena() == kWholeRange)
    return packTransients();
  const int64_t arena = registers_[function_.arena()];
  if (arena < 0 || arena > std::numeric_limits<int64_t>::max() / 2)
    return makeError(StatusCode::OutOfRange, name(), ": its transients take ", arena, " bytes");
  plan_->arenaBytes = static_cast<uint64_t>(arena);
  for (uint32_t i = 0; i < plan_->buffers.size(); ++i) {
    CallPlan::Buffer &buffer = plan_->buffers[i];
    if (buffer.place != CallPlan::Place::Arena)
      continue;
    const uint32_t offset = function_.buffers()->Get(i)->offset();
    const int64_t value = offset == kWholeRange ? -1 : registers_[offset];
    if (value < 0 || value % int64_t(kBufferAlignment) != 0 || buffer.bytes > plan_->arenaBytes ||
        static_cast<uint64_t>(value) > plan_->arenaBytes - buffer.bytes)
      return makeError(StatusCode::OutOfRange, name(), ": buffer ", i, " of ", buffer.bytes, " bytes is at byte ",
                       value, " of an arena of ", arena, " bytes");
    buffer.offset = static_cast<uint64_t>(value);
  }
  return okStatus();
}

/// For a file that says nothing of an arena: lifetimes and sizes of this call, packed here.
Status Planner::packTransients() {
  std::vector<PackedPiece> pieces;
  std::vector<uint32_t> owners;
  for (uint32_t i = 0; i < plan_->buffers.size(); ++i) {
    if (plan_->buffers[i].place != CallPlan::Place::Arena)
      continue;
    PackedPiece piece = {.bytes = plan_->buffers[i].bytes, .first = 1, .last = 0};
    for (uint32_t at = 0; at < plan_->commands.size(); ++at)
      for (const PlannedRange &range : plan_->commands[at].ranges)
        if (range.buffer == i) {
          piece.first = piece.last == 0 && piece.first == 1 ? at : piece.first;
          piece.last = at;
        }
    for (uint32_t result = 0; result < sizeOf(function_.results()); ++result) // read back at the end
      if (const abi::fb::ResultValue &value = *function_.results()->Get(result);
          value.element() != kNoRegister && value.buffer() == i)
        piece = {.bytes = piece.bytes, .first = 0, .last = static_cast<uint32_t>(plan_->commands.size())};
    pieces.push_back(piece);
    owners.push_back(i);
  }
  plan_->arenaBytes = packByLifetime(pieces);
  if (plan_->arenaBytes == ~uint64_t(0))
    return makeError(StatusCode::OutOfRange, name(), ": its transients pass 2^62 bytes");
  for (size_t i = 0; i < pieces.size(); ++i)
    plan_->buffers[owners[i]].offset = pieces[i].offset;
  return okStatus();
}

} // namespace

std::string CallPlan::describeCommand(const PlannedCommand &command) const {
  if (!command.function)
    return concat("function '", function->name()->string_view(), "', the copy of a result");
  const abi::fb::Command &source = *command.function->commands()->Get(command.index);
  std::string out = source.location() ? concat(source.location()->string_view(), ": ") : std::string();
  out += concat("function '", function->name()->string_view(), "', command ", command.index, " (",
                abi::fb::EnumNameCommandBody(source.body_type()));
  if (command.kernel)
    out += concat(" of '", command.kernel->declaration->name, "', variant '", command.kernel->variantName, "'");
  return out + ")";
}

Status CallPlan::describeFault(Status status) const {
  if (status.ok())
    return status;
  if (launches == 0)
    return std::move(status).withContext(concat("function '", function->name()->string_view(), "'"));
  // The stream says that something failed, not what.
  std::string candidates;
  uint64_t named = 0;
  for (const PlannedCommand &command : commands) {
    if (command.kind != PlannedCommand::Kind::Dispatch)
      continue;
    if (launches == 1)
      return std::move(status).withContext(describeCommand(command));
    if (++named <= kMostNamed)
      candidates += concat("\n  ", describeCommand(command));
  }
  if (named > kMostNamed)
    candidates += concat("\n  and ", named - kMostNamed, " more");
  return makeError(status.code(), "function '", function->name()->string_view(), "': ", status.message(),
                   "\none of these dispatches failed; run with --synchronous to know which:", candidates);
}

/// Commands in one line of addresses: the arena from 0, every other buffer behind it, apart from all others. Inputs may
/// be the same memory, which nobody writes; results are not (Program::callInto sees to it).
void orderCommands(CallPlan &plan) {
  std::vector<uint64_t> base(plan.buffers.size());
  uint64_t next = plan.arenaBytes;
  for (size_t i = 0; i < base.size(); ++i) {
    const CallPlan::Buffer &buffer = plan.buffers[i];
    base[i] = buffer.place == CallPlan::Place::Arena ? buffer.offset : next;
    if (buffer.place != CallPlan::Place::Arena)
      next += buffer.bytes;
  }
  std::vector<std::vector<Access>> accesses(plan.commands.size());
  for (size_t i = 0; i < accesses.size(); ++i) {
    const PlannedCommand &command = plan.commands[i];
    for (size_t operand = 0; operand < command.ranges.size(); ++operand) {
      const PlannedRange &range = command.ranges[operand];
      bool isWrite = operand + 1 == command.ranges.size(); // the target of a copy or fill
      if (command.kind == PlannedCommand::Kind::Dispatch)
        isWrite = !command.kernel->declaration->layout.bindings[operand].readOnly;
      const uint64_t begin = base[range.buffer] + range.offset;
      accesses[i].push_back({begin, begin + range.bytes, isWrite});
    }
  }
  plan.order = hazardOrder(accesses);
}

bool takeConstants(const PlannedCommand &command, std::span<const int64_t> registers,
                   std::vector<uint64_t> &constants) {
  if (command.kind != PlannedCommand::Kind::Dispatch)
    return false;
  const auto *names = command.function->commands()->Get(command.index)->body_as_Dispatch()->constants();
  bool isChanged = false;
  for (uint32_t i = 0; i < constants.size(); ++i) {
    const auto value = static_cast<uint64_t>(registers[names->Get(i)]);
    isChanged |= constants[i] != value;
    constants[i] = value;
  }
  return isChanged;
}

Result<std::shared_ptr<const CallPlan>> makeCallPlan(const abi::fb::Function &function, std::span<const Value> inputs,
                                                     const PlanSources &sources,
                                                     const CallKey::IgnoredScalars &ignored) {
  return Planner(function, inputs, sources, ignored).make();
}

Status evaluateChecks(const abi::fb::Function &function, std::span<const int64_t> registers) {
  for (uint32_t i = 0; i < sizeOf(function.checks()); ++i) {
    const abi::fb::Check &check = *function.checks()->Get(i);
    if (registers[check.condition()] != 0)
      continue;
    std::string where = check.location() ? concat(check.location()->string_view(), ": ") : std::string();
    return makeError(StatusCode::InvalidArgument, where, "function '", function.name()->string_view(),
                     "': ", check.message()->string_view(), comparedValues(function, registers, check.condition()));
  }
  return okStatus();
}

CallKey::IgnoredScalars planIndependentScalars(const abi::fb::Function &block) {
  std::vector<bool> needed(sizeOf(block.registers()));
  auto need = [&](uint32_t index) {
    if (index < needed.size())
      needed[index] = true;
  };
  auto needRange = [&](const abi::fb::BufferRange &range) {
    need(range.offset());
    need(range.length());
  };
  need(block.arena());
  for (uint32_t i = 0; i < sizeOf(block.buffers()); ++i) {
    need(block.buffers()->Get(i)->size());
    need(block.buffers()->Get(i)->offset());
  }
  auto needShape = [&](const abi::fb::ResultValue *value) {
    for (uint32_t axis = 0; value && axis < sizeOf(value->shape()); ++axis)
      need(value->shape()->Get(axis));
  };
  for (uint32_t i = 0; i < sizeOf(block.results()); ++i)
    needShape(block.results()->Get(i));
  for (uint32_t i = 0; i < sizeOf(block.expectations()); ++i)
    for (const abi::fb::ResultValue *value :
         {block.expectations()->Get(i)->found(), block.expectations()->Get(i)->wanted()}) {
      needShape(value);
      if (value)
        need(value->scalar()); // a scalar that is compared is of the plan
    }
  for (uint32_t i = 0; i < sizeOf(block.commands()); ++i) {
    const abi::fb::Command &command = *block.commands()->Get(i);
    if (const abi::fb::Dispatch *dispatch = command.body_as_Dispatch()) {
      for (uint32_t axis = 0; axis < dispatch->grid()->size(); ++axis)
        need(dispatch->grid()->Get(axis));
      for (uint32_t binding = 0; binding < sizeOf(dispatch->bindings()); ++binding)
        needRange(*dispatch->bindings()->Get(binding));
    } else if (const abi::fb::Copy *copy = command.body_as_Copy()) {
      needRange(*copy->source());
      needRange(*copy->target());
    } else if (const abi::fb::Fill *fill = command.body_as_Fill()) {
      needRange(*fill->target());
      need(fill->pattern());
    }
  }
  CallKey::IgnoredScalars ignored(sizeOf(block.inputs()), true);
  for (size_t i = needed.size(); i-- > 0;) {
    if (!needed[i])
      continue;
    const abi::fb::RegisterOp &op = *block.registers()->Get(static_cast<uint32_t>(i));
    if (op.opcode() == abi::fb::RegisterOpcode::Arg)
      ignored[op.a()] = false;
    const uint32_t operands[] = {op.a(), op.b(), op.c()};
    for (uint32_t n = 0; n < abi::operandCount(op.opcode()); ++n)
      needed[operands[n]] = true;
  }
  return ignored;
}

} // namespace tenon::runtime
