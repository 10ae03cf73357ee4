// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/plan/call_plan.h"

#include "abi/format/arithmetic.h"
#include "runtime/program/plan/function_data.h"
#include "runtime/program/plan/lifetime_packing.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

constexpr uint64_t kMostNamed = 64; // dispatches in a message

/// " (argument 0: 8, argument 1: 7)": the values that a failed check compared; "" where it compares nothing.
std::string comparedValues(const abi::fb::Function &function, std::span<const int64_t> registers, uint32_t condition,
                           bool takesArguments) {
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
    const bool isInput = operand.opcode() == RegisterOpcode::Dim || operand.opcode() == RegisterOpcode::Arg;
    if (takesArguments && operand.opcode() == RegisterOpcode::Dim && !sameDimension)
      text += concat("dimension ", operand.b(), " of ");
    if (takesArguments && isInput)
      text += concat("argument ", operand.a());
    else
      text += "computed";
    text += concat(": ", registers[index]);
  }
  return text.empty() ? text : text + ')';
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

Status packTransients(CallPlan &plan) {
  std::vector<PackedPiece> pieces(plan.buffers.size(), {.bytes = 0, .first = kNoRegister, .last = 0});
  auto use = [&](uint32_t buffer, uint32_t first, uint32_t last) {
    if (plan.buffers[buffer].place != CallPlan::Place::Arena)
      return;
    PackedPiece &piece = pieces[buffer];
    piece.bytes = plan.buffers[buffer].bytes;
    piece.first = std::min(piece.first, first);
    piece.last = std::max(piece.last, last);
  };
  const auto count = static_cast<uint32_t>(plan.commands.size());
  for (uint32_t at = 0; at < count; ++at)
    for (const PlannedRange &range : plan.commands[at].ranges)
      use(range.buffer, at, at);
  const auto *results = plan.function->results();
  for (uint32_t i = 0; i < sizeOf(results); ++i)
    if (const abi::fb::ResultValue &value = *results->Get(i); value.element() != kNoRegister) // read back at the end
      use(value.buffer(), 0, count);

  std::vector<PackedPiece> used;
  std::vector<uint32_t> owners;
  for (uint32_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].first != kNoRegister) {
      used.push_back(pieces[i]);
      owners.push_back(i);
    }
  plan.arenaBytes = packByLifetime(used);
  if (plan.arenaBytes == ~uint64_t(0))
    return makeError(StatusCode::OutOfRange, "function '", plan.function->name()->string_view(),
                     "': its transients pass 2^62 bytes");
  for (size_t i = 0; i < used.size(); ++i)
    plan.buffers[owners[i]].offset = used[i].offset;
  return okStatus();
}

/// Commands in one line of addresses: the arena from 0, every other buffer behind it, apart from all others. Inputs may
/// be the same memory, where nobody writes; donated ones and results are not (Program::callInto sees to it).
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

Status evaluateChecks(const abi::fb::Function &function, std::span<const int64_t> registers, bool takesArguments) {
  for (uint32_t i = 0; i < sizeOf(function.checks()); ++i) {
    const abi::fb::Check &check = *function.checks()->Get(i);
    if (registers[check.condition()] != 0)
      continue;
    std::string where = check.location() ? concat(check.location()->string_view(), ": ") : std::string();
    return makeError(StatusCode::InvalidArgument, where, "function '", function.name()->string_view(),
                     "': ", check.message()->string_view(),
                     comparedValues(function, registers, check.condition(), takesArguments));
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
