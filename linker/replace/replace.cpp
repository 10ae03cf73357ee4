// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In a program the executable is a nested buffer; functions name executables and exports by number, and numbers do not
// change. Data of constants that lies behind the tables moves with their end.
#include "linker/replace/replace.h"

#include "abi/format/aligned_bytes.h"
#include "abi/format/executable_generated.h"
#include "abi/format/file_kind.h"
#include "abi/format/verify/verify.h"
#include "abi/format/views/program_view.h"
#include "linker/replace/replace_in_executable.h"
#include "linker/replace/whole_program_generated.h"
#include "support/align.h"
#include "support/text/nearest_names.h"

namespace tenon::linker {
namespace {

namespace whole = whole_program;
constexpr size_t kDataAlignment = 64; // F-14

/// "a::b" -> "a", "b"; "b" -> "", "b".
std::pair<std::string, std::string> splitName(const std::string &name) {
  const size_t colons = name.find("::");
  if (colons == std::string::npos)
    return {"", name};
  return {name.substr(0, colons), name.substr(colons + 2)};
}

struct Place {
  size_t executable = 0;
  uint32_t ordinal = 0;
};

Result<Place> findExport(const abi::ProgramView &program, const std::string &name) {
  const auto [wantedExecutable, wantedExport] = splitName(name);
  std::vector<Place> found;
  std::vector<std::string> known, matching;
  for (size_t i = 0; i < program.executableCount(); ++i) {
    const abi::ExecutableView &executable = program.executableAt(i);
    for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
      const std::string &exported = executable.exportAt(ordinal).name;
      known.push_back(concat(executable.name(), "::", exported));
      // A name may hold colons itself.
      const bool matches = exported == name || (exported == wantedExport && executable.name() == wantedExecutable);
      if (!matches)
        continue;
      found.push_back({i, ordinal});
      matching.push_back(known.back());
    }
  }
  if (found.empty())
    return makeError(StatusCode::NotFound, "no export '", name, "'; the exports are ", quotedList(known));
  if (found.size() > 1)
    return makeError(StatusCode::InvalidArgument, "several executables have an export '", name,
                     "': ", quotedList(matching), "; name one");
  return found.front();
}

/// The program's tables and what lies in them, its bytes where F-14 wants them.
std::vector<uint8_t> write(const whole::ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder;
  const auto bytesOf = [&](const std::vector<uint8_t> &data) {
    return abi::createAlignedBytes(builder, data.data(), data.size(), kDataAlignment);
  };
  std::vector<flatbuffers::Offset<whole::NestedExecutable>> executables;
  for (const auto &executable : program.executables)
    executables.push_back(whole::CreateNestedExecutable(builder, bytesOf(executable->data)));
  std::vector<flatbuffers::Offset<whole::Function>> functions;
  for (const auto &function : program.functions)
    functions.push_back(whole::CreateFunction(builder, function.get()));
  std::vector<flatbuffers::Offset<whole::ConstantData>> constants;
  for (const auto &constant : program.constants) {
    const auto data = constant->data.empty() ? 0 : bytesOf(constant->data);
    constants.push_back(whole::CreateConstantData(builder, data, constant->file_offset, constant->size));
  }
  const auto producer = builder.CreateString(program.producer);
  const auto name = builder.CreateString(program.name);
  const auto executableTable = builder.CreateVector(executables);
  const auto functionTable = builder.CreateVector(functions);
  const auto constantTable = builder.CreateVector(constants);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<whole::Global>>> globalTable;
  if (!program.globals.empty()) {
    std::vector<flatbuffers::Offset<whole::Global>> globals;
    for (const auto &global : program.globals)
      globals.push_back(whole::CreateGlobal(builder, global.get()));
    globalTable = builder.CreateVector(globals);
  }
  flatbuffers::Offset<whole::Function> initializer;
  if (program.initializer)
    initializer = whole::CreateFunction(builder, program.initializer.get());
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<whole::Edition>>> editionTable;
  if (!program.editions.empty()) {
    std::vector<flatbuffers::Offset<whole::Edition>> editions;
    for (const auto &edition : program.editions)
      editions.push_back(whole::CreateEdition(builder, edition.get()));
    editionTable = builder.CreateVector(editions);
  }
  whole::FinishProgramBuffer(builder, whole::CreateProgram(builder, program.format_version, producer, name,
                                                           executableTable, functionTable, constantTable, globalTable,
                                                           initializer, editionTable));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Result<std::vector<uint8_t>> replaceInProgram(std::span<const uint8_t> file, const std::string &path,
                                              const Replacement &replacement, Diagnostics &diagnostics) {
  TENON_ASSIGN_OR_RETURN(abi::ProgramView view, abi::ProgramView::create(file, path));
  TENON_ASSIGN_OR_RETURN(Place place, findExport(view, replacement.exportName));
  TENON_ASSIGN_OR_RETURN(std::vector<uint8_t> executable, replaceInExecutable(view.executableAt(place.executable),
                                                                              place.ordinal, replacement, diagnostics));
  whole::ProgramT program;
  whole::GetProgram(file.data())->UnPackTo(&program);
  program.executables[place.executable]->data = std::move(executable);

  // Offsets into the file are numbers of one size whatever they say: once to learn where the tables end, once to write.
  std::vector<uint8_t> bytes;
  for (int round = 0; round < 2; ++round) {
    size_t end = alignUp(bytes.size(), kDataAlignment);
    for (auto &constant : program.constants) {
      if (!constant->data.empty() || constant->size == 0)
        continue;
      // Not 0, or the field would be left out and the tables end elsewhere.
      const uint32_t index = uint32_t(&constant - program.constants.data());
      if (round == 1) {
        const abi::fb::ConstantData &old = *view.raw().constants()->Get(index);
        constant->file_offset = end;
        end = alignUp(end + old.size(), kDataAlignment);
      }
    }
    bytes = write(program);
  }
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const abi::fb::ConstantData &old = *view.raw().constants()->Get(uint32_t(i));
    if (old.data() || old.size() == 0)
      continue;
    bytes.resize(size_t(program.constants[i]->file_offset));
    const std::span<const uint8_t> data = file.subspan(size_t(old.file_offset()), size_t(old.size()));
    bytes.insert(bytes.end(), data.begin(), data.end());
  }
  if (Status status = abi::verifyProgram(bytes, path); !status.ok())
    return makeError(StatusCode::Internal, "the program written does not verify: ", status.message());
  return bytes;
}

} // namespace

Result<std::vector<uint8_t>> replaceKernel(std::span<const uint8_t> file, const std::string &path,
                                           const Replacement &replacement, Diagnostics &diagnostics) {
  const std::string_view identifier =
      file.size() < 8 ? std::string_view() : std::string_view(reinterpret_cast<const char *>(file.data()) + 4, 4);
  if (identifier == abi::fb::ProgramIdentifier())
    return replaceInProgram(file, path, replacement, diagnostics);
  if (identifier != abi::fb::ExecutableIdentifier())
    return makeError(StatusCode::InvalidArgument, "'", path, "': found ",
                     abi::describeFile({reinterpret_cast<const char *>(file.data()), file.size()}),
                     ", an executable (TNX1) or a program (TNP1) is wanted");
  TENON_ASSIGN_OR_RETURN(abi::ExecutableView view, abi::ExecutableView::create(file, path));
  TENON_ASSIGN_OR_RETURN(uint32_t ordinal, view.findExport(replacement.exportName));
  return replaceInExecutable(view, ordinal, replacement, diagnostics);
}

} // namespace tenon::linker
