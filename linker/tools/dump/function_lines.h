// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function as one reads it: its registers as assignments, its buffers, then its commands in stream order. Registers
// are r0, r1, ...; buffers b0, b1, ...
#pragma once

#include "abi/format/views/program_view.h"

#include <string>
#include <vector>

namespace tenon::linker {

/// "(x: tensor<4xf32>) -> (tensor<4xf32>)".
std::string typesText(const abi::fb::Function &function);

/// The parts of a function as lines of text, for both ways of printing.
struct FunctionLines {
  std::vector<std::string> registers, buffers, arena, checks, commands, results, expectations, loads, stores, targets;
  std::vector<std::string> donated;
};
FunctionLines linesOf(const abi::ProgramView &program, const abi::fb::Function &function);

} // namespace tenon::linker
