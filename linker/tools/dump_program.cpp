// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as one reads it: a function's registers as assignments, its buffers, then its commands in stream order.
// Registers are r0, r1, ...; buffers b0, b1, ...
#include "linker/tools/dump.h"

#include "abi/format/layout_table.h"
#include "abi/format/type_spelling.h"
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

/// "(x: tensor<4xf32>) -> (tensor<4xf32>)".
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

/// The parts of a function as lines of text, for both ways of printing.
struct FunctionLines {
  std::vector<std::string> registers, buffers, arena, checks, commands, results, expectations, loads, stores, targets;
  std::vector<std::string> donated;
};

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

/// "64 bytes, 4 of them repeated".
std::string constantText(const fb::ConstantData &constant) {
  const bool isRepeated = constant.data() && constant.data()->size() != constant.size();
  return concat(constant.size(), " bytes",
                isRepeated ? concat(", ", constant.data()->size(), " of them repeated") : "");
}

uint64_t nestedBytes(const abi::ProgramView &program, size_t index) {
  return program.raw().executables()->Get(uint32_t(index))->data()->size();
}

std::string nameOf(const fb::Program &raw) {
  return raw.name() ? raw.name()->str() : std::string();
}
uint32_t constantCount(const fb::Program &raw) {
  return raw.constants() ? raw.constants()->size() : 0;
}

} // namespace

/// Each line begins with `indent`.
static std::string bodyText(const abi::ProgramView &program, const fb::Function &function, const std::string &indent) {
  std::string text;
  if (function.documentation()) {
    text += indent;
    for (const char c : function.documentation()->string_view())
      text += c == '\n' ? "\n" + indent : std::string(1, static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
    text += "\n";
  }
  const FunctionLines lines = linesOf(program, function);
  auto section = [&](std::string_view name, const std::vector<std::string> &entries) {
    if (!entries.empty())
      text += concat(indent, name, ":\n");
    for (const std::string &entry : entries)
      text += concat(indent, "  ", entry, "\n");
  };
  section("loads", lines.loads);
  section("donated", lines.donated);
  section("registers", lines.registers);
  section("buffers", lines.buffers);
  section("arena", lines.arena);
  section("checks", lines.checks);
  section("commands", lines.commands);
  section("results", lines.results);
  section("expectations", lines.expectations);
  section("stores", lines.stores);
  section("targets", lines.targets);
  for (uint32_t i = 0; function.blocks() && i < function.blocks()->size(); ++i) {
    const fb::Function &block = *function.blocks()->Get(i);
    text += concat(indent, "block ", i, " ", typesText(block), ":\n", bodyText(program, block, indent + "  "));
  }
  return text;
}

FunctionText functionText(const abi::ProgramView &program, const fb::Function &function) {
  return {.signature = concat("'", function.name()->string_view(), "'", typesText(function)),
          .body = bodyText(program, function, "  ")};
}

std::string globalText(const fb::Global &global) {
  const bool isScalar = global.type()->kind() == fb::ValueKind::Scalar;
  return concat("'", global.name()->string_view(), "': ", abi::typeSpelling(*global.type()), ", ",
                isScalar                       ? concat("bits ", global.scalar())
                : global.constant() == kAbsent ? std::string("no initial value")
                                               : concat("constant ", global.constant()));
}

static std::string functionsText(const abi::ProgramView &program) {
  std::string text;
  for (size_t i = 0; i < program.functionCount(); ++i) {
    const FunctionText words = functionText(program, program.functionAt(i));
    text += concat("function ", words.signature, "\n", words.body);
  }
  if (const fb::Function *initializer = program.initializer()) {
    const FunctionText words = functionText(program, *initializer);
    text += concat("initializer ", words.signature, "\n", words.body);
  }
  return text;
}

std::string dumpProgram(const abi::ProgramView &program, uint64_t fileBytes) {
  const fb::Program &raw = program.raw();
  std::string text = concat("program '", nameOf(raw), "': ", counted(program.functionCount(), "function"), ", ",
                            counted(program.executableCount(), "executable"), ", ",
                            counted(constantCount(raw), "constant"), ", ", fileBytes, " bytes\n");
  if (raw.producer())
    text += concat("producer: ", raw.producer()->string_view(), ", format ", raw.format_version(), "\n");
  text += functionsText(program);
  for (uint32_t i = 0; i < program.editionCount(); ++i)
    text +=
        concat("edition for ", program.withEdition(i).editionTargets(), ":\n", functionsText(program.withEdition(i)));
  for (uint32_t i = 0; raw.globals() && i < raw.globals()->size(); ++i)
    text += concat("global ", globalText(*raw.globals()->Get(i)), "\n");
  for (uint32_t i = 0; i < constantCount(raw); ++i)
    text += concat("constant ", i, ": ", constantText(*raw.constants()->Get(i)), "\n");
  for (size_t i = 0; i < program.executableCount(); ++i)
    text += dumpExecutable(program.executableAt(i), nestedBytes(program, i));
  return text;
}

/// The members of a function's object; its blocks are objects of the same form.
static void writeFunction(const abi::ProgramView &program, const fb::Function &function, JsonWriter &json) {
  json.member("name", function.name()->string_view());
  json.key("inputs");
  json.beginArray();
  if (function.inputs())
    for (const fb::ValueType *type : *function.inputs())
      json.value(abi::typeSpelling(*type));
  json.endArray();
  for (auto [key, names] :
       {std::pair("input_names", function.input_names()), {"result_names", function.result_names()}})
    if (names) {
      json.key(key);
      json.beginArray();
      for (const flatbuffers::String *name : *names)
        json.value(name->string_view());
      json.endArray();
    }
  if (function.documentation())
    json.member("documentation", function.documentation()->string_view());
  FunctionLines lines = linesOf(program, function);
  auto section = [&json](std::string_view name, const std::vector<std::string> &entries) {
    json.key(name);
    json.beginArray();
    for (const std::string &entry : entries)
      json.value(entry);
    json.endArray();
  };
  section("registers", lines.registers);
  section("buffers", lines.buffers);
  section("arena", lines.arena);
  section("checks", lines.checks);
  section("commands", lines.commands);
  section("results", lines.results);
  section("expectations", lines.expectations);
  if (!lines.donated.empty())
    section("donated", lines.donated);
  if (!lines.loads.empty())
    section("loads", lines.loads);
  if (!lines.stores.empty())
    section("stores", lines.stores);
  if (!lines.targets.empty())
    section("targets", lines.targets);
  if (!function.blocks() || function.blocks()->size() == 0)
    return;
  json.key("blocks");
  json.beginArray();
  for (const fb::Function *block : *function.blocks()) {
    json.beginObject();
    writeFunction(program, *block, json);
    json.endObject();
  }
  json.endArray();
}

/// Of an object: the functions of the view's edition, and its initializer.
static void writeFunctions(const abi::ProgramView &program, JsonWriter &json) {
  json.key("functions");
  json.beginArray();
  for (size_t i = 0; i < program.functionCount(); ++i) {
    json.beginObject();
    writeFunction(program, program.functionAt(i), json);
    json.endObject();
  }
  json.endArray();
  if (const fb::Function *initializer = program.initializer()) {
    json.key("initializer");
    json.beginObject();
    writeFunction(program, *initializer, json);
    json.endObject();
  }
}

void dumpProgramJson(const abi::ProgramView &program, uint64_t fileBytes, JsonWriter &json) {
  const fb::Program &raw = program.raw();
  json.beginObject();
  json.member("kind", "program");
  json.member("name", nameOf(raw));
  json.member("bytes", fileBytes);
  json.member("format_version", raw.format_version());
  json.member("producer", raw.producer() ? raw.producer()->string_view() : std::string_view());
  writeFunctions(program, json);
  if (program.editionCount() != 0) {
    json.key("editions");
    json.beginArray();
    for (uint32_t i = 0; i < program.editionCount(); ++i) {
      json.beginObject();
      json.key("targets");
      json.beginArray();
      for (const fb::Arch *arch : *program.editionAt(i).targets())
        json.value(abi::archFromStruct(*arch).toString());
      json.endArray();
      writeFunctions(program.withEdition(i), json);
      json.endObject();
    }
    json.endArray();
  }
  if (raw.globals()) {
    json.key("globals");
    json.beginArray();
    for (const fb::Global *global : *raw.globals())
      json.value(globalText(*global));
    json.endArray();
  }
  json.key("constants");
  json.beginArray();
  for (uint32_t i = 0; i < constantCount(raw); ++i)
    json.value(raw.constants()->Get(i)->size());
  json.endArray();
  json.key("executables");
  json.beginArray();
  for (size_t i = 0; i < program.executableCount(); ++i)
    dumpExecutableJson(program.executableAt(i), nestedBytes(program, i), json);
  json.endArray();
  json.endObject();
}

} // namespace tenon::linker
