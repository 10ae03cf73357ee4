// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold in a program around its functions: executables that verify themselves, and constants whose bytes are
// in the file. Rules F-3, F-4, F-13, F-14; the functions follow in verify_function.cpp, their blocks and the globals in
// verify_blocks.cpp.
#include "abi/format/layout_table.h"
#include "abi/format/verify/verify.h"
#include "abi/format/verify/verify_support.h"
#include "abi/parameter_layout.h"

namespace tenon::abi::verify {

static constexpr size_t kDataAlignment = 64; // bytes, of constants and nested executables in the file

static ExportShape shapeOf(const fb::Export &value) {
  ExportShape shape;
  Layout layout = layoutFromTable(*value.layout());
  for (const Binding &binding : layout.bindings)
    shape.readOnly.push_back(binding.readOnly);
  if (auto block = computeParameterLayout(layout); block.ok()) // verified with the executable
    shape.constantWords = block->words;
  return shape;
}

/// F-13: the bytes are an executable by every rule of executables.
static Status checkNested(VerifiedBytes &file, const fb::NestedExecutable &nested, std::set<std::string_view> &names,
                          ProgramScope &scope) {
  TENON_RETURN_IF_ERROR(checkAlignment(file, nested.data(), kDataAlignment, "data"));
  TENON_RETURN_IF_ERROR(file.spend(nested.data()->size()));
  std::span<const uint8_t> bytes(nested.data()->data(), nested.data()->size());
  TENON_RETURN_IF_ERROR(checkExecutableBytes(bytes));
  const fb::Executable &executable = *fb::GetExecutable(bytes.data());
  TENON_RETURN_IF_ERROR(checkUniqueName(file, "name", executable.name(), names));
  std::vector<ExportShape> &shapes = scope.executables.emplace_back();
  for (const fb::Export *value : *executable.exports())
    shapes.push_back(shapeOf(*value));
  return okStatus();
}

/// F-14: the bytes are here, once or several times over, or behind the buffer in the same file.
static Status checkConstantData(VerifiedBytes &file, const fb::ConstantData &constant) {
  TENON_RETURN_IF_ERROR(checkAlignment(file, constant.data(), kDataAlignment, "data"));
  uint64_t fileBytes = file.bytes().size();
  if (constant.data()) {
    const uint64_t here = constant.data()->size();
    if ((here == 0 ? constant.size() : constant.size() % here) != 0 || constant.size() < here ||
        constant.file_offset() != 0)
      return broken("F-14", "size is ", constant.size(), ", file_offset ", constant.file_offset(), "; the data has ",
                    here, " bytes and stands here");
    return okStatus();
  }
  if (constant.file_offset() % kDataAlignment != 0)
    return broken("F-14", "file_offset ", constant.file_offset(), " is no multiple of ", kDataAlignment);
  if (constant.file_offset() > fileBytes || constant.size() > fileBytes - constant.file_offset())
    return broken("F-14", "bytes ", constant.file_offset(), " + ", constant.size(), " end behind the file of ",
                  fileBytes);
  return okStatus();
}

Status checkProgram(VerifiedBytes &file, const fb::Program &program) {
  TENON_RETURN_IF_ERROR(checkFormatVersion(program.format_version(), kBlocksFormatVersion));
  if (program.format_version() < kBlocksFormatVersion && needsBlocksFormat(program))
    return broken("F-3", "blocks or globals in format version ", program.format_version(), ", they are there from ",
                  kBlocksFormatVersion);
  ProgramScope scope;
  scope.constantCount = sizeOf(program.constants());
  std::set<std::string_view> executableNames, functionNames;
  TENON_RETURN_IF_ERROR(
      forEach(file, program.executables(), "executables", [&](uint32_t, const fb::NestedExecutable *nested) {
        return checkNested(file, *nested, executableNames, scope);
      }));
  TENON_RETURN_IF_ERROR(
      forEach(file, program.constants(), "constants",
              [&](uint32_t, const fb::ConstantData *constant) { return checkConstantData(file, *constant); }));
  std::set<std::string_view> globalNames;
  TENON_RETURN_IF_ERROR(forEach(file, program.globals(), "globals", [&](uint32_t, const fb::Global *global) {
    TENON_RETURN_IF_ERROR(checkUniqueName(file, "name", global->name(), globalNames));
    return checkGlobal(file, *global, program);
  }));
  scope.globals = program.globals();
  if (program.initializer())
    TENON_RETURN_IF_ERROR(checkInitializer(file, *program.initializer(), scope));
  TENON_RETURN_IF_ERROR(forEach(file, program.functions(), "functions", [&](uint32_t, const fb::Function *function) {
    TENON_RETURN_IF_ERROR(checkUniqueName(file, "name", function->name(), functionNames));
    return within(function->name()->string_view(), checkFunction(file, *function, scope));
  }));
  return checkEditions(file, program, scope);
}

Status checkInitializer(VerifiedBytes &file, const fb::Function &initializer, const ProgramScope &scope) {
  if (sizeOf(initializer.inputs()) != 0 || sizeOf(initializer.results()) != 0)
    return within("initializer", broken("F-28", "it takes ", sizeOf(initializer.inputs()), " inputs and returns ",
                                        sizeOf(initializer.results()), " results, none are wanted"));
  TENON_RETURN_IF_ERROR(within("initializer", checkName(file, "name", initializer.name())));
  return within("initializer", checkFunction(file, initializer, scope));
}

} // namespace tenon::abi::verify
