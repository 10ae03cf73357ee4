// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/dump/function_lines.h"

#include "abi/format/type_spelling.h"
#include "linker/tools/dump/dump.h"
#include "support/number.h"

#include <algorithm>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;
constexpr uint32_t kAbsent = 0xffffffff;

std::string reg(uint32_t index) {
  return concat("r", index);
}

template <typename Values> std::string registers(const Values *values) {
  std::string text;
  if (values)
    for (uint32_t index : *values)
      text += concat(text.empty() ? "" : ", ", reg(index));
  return text;
}

/// "b1", "b1[r2..]", "b1[r2 .. +r3]": offset and length in bytes.
std::string rangeText(const fb::BufferRange &range) {
  std::string text = concat("b", range.buffer());
  if (range.offset() == kAbsent && range.length() == kAbsent)
    return text;
  text += concat("[", range.offset() == kAbsent ? "0" : reg(range.offset()), " ..");
  if (range.length() != kAbsent)
    text += concat(" +", reg(range.length()));
  return text + "]";
}

std::string bufferText(const fb::Buffer &buffer) {
  switch (buffer.source()) {
  case fb::BufferSource::Input:
    return concat("input ", buffer.index());
  case fb::BufferSource::Transient:
    return concat("transient, ", reg(buffer.size()), " bytes",
                  buffer.offset() == kAbsent ? "" : concat(" at ", reg(buffer.offset()), " of the arena"));
  case fb::BufferSource::Constant:
    return concat("constant ", buffer.index());
  }
  return "?";
}

std::string dispatchText(const abi::ProgramView &program, const fb::Dispatch &dispatch) {
  const abi::ExecutableView &executable = program.executableAt(dispatch.executable());
  std::string bindings;
  if (dispatch.bindings())
    for (const fb::BufferRange *range : *dispatch.bindings())
      bindings += concat(bindings.empty() ? "" : ", ", rangeText(*range));
  return concat("dispatch '", executable.name(), "'::'", executable.exportAt(dispatch.export_ordinal()).name,
                "' grid (", registers(dispatch.grid()), ") bindings (", bindings, ") constants (",
                registers(dispatch.constants()), ")");
}

std::string commandText(const abi::ProgramView &program, const fb::Command &command) {
  switch (command.body_type()) {
  case fb::CommandBody::Dispatch:
    return dispatchText(program, *command.body_as_Dispatch());
  case fb::CommandBody::Copy:
    return concat("copy ", rangeText(*command.body_as_Copy()->source()), " -> ",
                  rangeText(*command.body_as_Copy()->target()));
  case fb::CommandBody::Fill: {
    const fb::Fill &fill = *command.body_as_Fill();
    return concat("fill ", rangeText(*fill.target()), " with ", reg(fill.pattern()), ", ",
                  uint32_t(fill.pattern_size()), fill.pattern_size() == 1 ? " byte" : " bytes");
  }
  case fb::CommandBody::NONE:
    break;
  }
  return "nothing";
}

std::string at(const flatbuffers::String *location) {
  return location ? concat("  // ", location->string_view()) : "";
}

std::string resultText(const fb::ResultValue &result) {
  if (result.element() != kAbsent)
    return concat(abi::typeSpelling(*result.type()), " read from b", result.buffer(), " at byte ",
                  reg(result.element()));
  std::string type = abi::typeSpelling(*result.type());
  if (result.type()->kind() == fb::ValueKind::Scalar)
    return concat(type, " = ", reg(result.scalar()));
  return concat(type, " = b", result.buffer(), ", shape (", registers(result.shape()), ")");
}

std::string expectationText(const fb::Expectation &expectation) {
  std::string text = concat(expectation.operation()->string_view(), " ", resultText(*expectation.found()));
  if (expectation.wanted())
    text += concat(" wanted ", resultText(*expectation.wanted()));
  if (expectation.kind() == fb::ExpectationKind::AlmostEqual)
    text += concat(", atol ", numberText(expectation.absolute_tolerance()), ", rtol ",
                   numberText(expectation.relative_tolerance()));
  return text + at(expectation.location());
}

/// A register as a formula over inputs and numbers: "align(4 * dim 0 of input 0, 256)"; "r9" for what is no size.
std::string formula(const fb::Function &function, uint32_t index, int depth = 0) {
  constexpr int kDeepest = 12; // a formula is for reading
  const fb::RegisterOp &op = *function.registers()->Get(index);
  if (op.opcode() == fb::RegisterOpcode::Const)
    return concat(op.imm());
  if (op.opcode() == fb::RegisterOpcode::Dim)
    return concat("dim ", op.b(), " of input ", op.a());
  if (op.opcode() == fb::RegisterOpcode::Arg)
    return concat("input ", op.a());
  if (depth == kDeepest)
    return reg(index);
  auto operand = [&](uint32_t of, bool isFactor) {
    const std::string text = formula(function, of, depth + 1);
    return isFactor && function.registers()->Get(of)->opcode() == fb::RegisterOpcode::Add ? concat("(", text, ")")
                                                                                          : text;
  };
  switch (op.opcode()) {
  case fb::RegisterOpcode::Add:
    return concat(operand(op.a(), false), " + ", operand(op.b(), false));
  case fb::RegisterOpcode::Mul:
    return concat(operand(op.a(), true), " * ", operand(op.b(), true));
  case fb::RegisterOpcode::Max:
    return concat("max(", operand(op.a(), false), ", ", operand(op.b(), false), ")");
  case fb::RegisterOpcode::Align:
    return concat("align(", operand(op.a(), false), ", ", operand(op.b(), false), ")");
  default:
    return reg(index);
  }
}

using Names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

/// "x: " of what has a name, else nothing.
std::string namePrefix(const Names *names, uint32_t index) {
  const std::string_view name = names ? names->Get(index)->string_view() : std::string_view();
  return name.empty() ? std::string() : concat(name, ": ");
}

/// "r3: block 2 (0, 1)": results of the block, by their number.
std::string targetText(const fb::Target &target) {
  std::string arguments;
  if (target.arguments())
    for (uint32_t result : *target.arguments())
      arguments += concat(arguments.empty() ? "" : ", ", result);
  return concat(target.condition() == kAbsent ? "" : reg(target.condition()) + ": ", "block ", target.block(), " (",
                arguments, ")");
}

std::string globalName(const abi::ProgramView &program, uint32_t index) {
  return concat("'", program.raw().globals()->Get(index)->name()->string_view(), "'");
}

} // namespace

std::string typesText(const fb::Function &function) {
  std::string text = "(";
  if (function.inputs())
    for (uint32_t i = 0; i < function.inputs()->size(); ++i)
      text +=
          concat(i ? ", " : "", namePrefix(function.input_names(), i), abi::typeSpelling(*function.inputs()->Get(i)));
  text += ") -> (";
  if (function.results())
    for (uint32_t i = 0; i < function.results()->size(); ++i)
      text += concat(i ? ", " : "", namePrefix(function.result_names(), i),
                     abi::typeSpelling(*function.results()->Get(i)->type()));
  return text + ")";
}

FunctionLines linesOf(const abi::ProgramView &program, const fb::Function &function) {
  FunctionLines lines;
  if (function.registers())
    for (uint32_t i = 0; i < function.registers()->size(); ++i)
      lines.registers.push_back(registerText(i, *function.registers()->Get(i)));
  if (function.buffers())
    for (uint32_t i = 0; i < function.buffers()->size(); ++i)
      lines.buffers.push_back(concat("b", i, " = ", bufferText(*function.buffers()->Get(i))));
  if (function.arena() != kAbsent)
    lines.arena.push_back(concat(reg(function.arena()), " = ", formula(function, function.arena()), " bytes"));
  if (function.checks())
    for (const fb::Check *check : *function.checks())
      lines.checks.push_back(
          concat(reg(check->condition()), " else '", check->message()->string_view(), "'", at(check->location())));
  if (function.commands())
    for (const fb::Command *command : *function.commands())
      lines.commands.push_back(concat(commandText(program, *command), at(command->location())));
  const bool hasBlocks = function.blocks() && function.blocks()->size() != 0; // which say where the results are
  if (function.results() && !hasBlocks)
    for (const fb::ResultValue *result : *function.results())
      lines.results.push_back(resultText(*result));
  if (function.expectations())
    for (const fb::Expectation *expectation : *function.expectations())
      lines.expectations.push_back(expectationText(*expectation));
  if (function.loads())
    for (uint32_t i = 0; i < function.loads()->size(); ++i)
      lines.loads.push_back(concat("input ", function.inputs()->size() - function.loads()->size() + i, " = global ",
                                   globalName(program, function.loads()->Get(i))));
  if (function.stores())
    for (const fb::Store *store : *function.stores())
      lines.stores.push_back(concat("global ", globalName(program, store->global()), " = result ", store->result()));
  if (function.donated())
    for (uint32_t input : *function.donated()) {
      const auto *updated = function.updated();
      const bool isUpdated = updated && std::find(updated->begin(), updated->end(), input) != updated->end();
      lines.donated.push_back(concat("input ", input, isUpdated ? ", which has a new value then" : ""));
    }
  if (function.targets())
    for (const fb::Target *target : *function.targets())
      lines.targets.push_back(targetText(*target));
  return lines;
}

} // namespace tenon::linker
