// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as one reads it: its functions, globals and constants, then its executables.
#include "linker/tools/dump/dump.h"

#include "abi/format/layout_table.h"
#include "abi/format/type_spelling.h"
#include "linker/tools/dump/function_lines.h"

namespace tenon::linker {
namespace {

namespace fb = abi::fb;
constexpr uint32_t kAbsent = 0xffffffff;

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
