// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files in words and as JSON: what tenon-dump prints. Text is for people and may change; JSON members are only added
// to.
#pragma once

#include "abi/format/views/executable_view.h"
#include "abi/format/views/program_view.h"
#include "support/text/json.h"

#include <string>

namespace tenon::linker {

/// Exports with the offsets of their parameters, variants with the facts of their kernels, images with their sizes.
/// Each line begins with `indent`.
std::string dumpExecutable(const abi::ExecutableView &executable, uint64_t fileBytes, std::string_view indent = "");
void dumpExecutableJson(const abi::ExecutableView &executable, uint64_t fileBytes, JsonWriter &json);

/// Functions with registers, buffers, checks, commands and results, then every executable.
std::string dumpProgram(const abi::ProgramView &program, uint64_t fileBytes);
void dumpProgramJson(const abi::ProgramView &program, uint64_t fileBytes, JsonWriter &json);

/// A function in words.
struct FunctionText {
  std::string signature; // "'f'(tensor<4xf32>) -> (tensor<4xf32>)"
  std::string body;      // registers, buffers, checks, commands, results; blocks with theirs
};
FunctionText functionText(const abi::ProgramView &program, const abi::fb::Function &function);

/// "'n': tensor<4xf32>, constant 1".
std::string globalText(const abi::fb::Global &global);

/// "1 export", "2 exports".
inline std::string counted(uint64_t count, std::string_view noun) {
  return concat(count, ' ', noun, count == 1 ? "" : "s");
}

/// "r3 = ceildiv r0, r1": register `index` of a function.
std::string registerText(uint32_t index, const abi::fb::RegisterOp &operation);

} // namespace tenon::linker
