// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index arithmetic of a function: a list of operations over 64-bit registers, computed on the host before anything
// is launched. In: the shapes and scalars of the inputs. Out: every register. Specification: abi/executable_format.md
// and the comments of RegisterOpcode in abi/format/schemas/program.fbs; operations refer to earlier registers
// (verified).
#pragma once

#include "abi/format/program_generated.h"
#include "runtime/values/value.h"
#include "support/result.h"

#include <span>
#include <vector>

namespace tenon::runtime {

/// @param inputs [n] the function's inputs, already checked against its types
/// @return [registers] values. OutOfRange: an overflow; InvalidArgument: a division by zero; both name the function,
///         the register and the operands.
Result<std::vector<int64_t>> runRegisterProgram(const abi::fb::Function &function, std::span<const Value> inputs);
/// The same, into `registers`, whose memory serves again.
Status runRegisterProgram(const abi::fb::Function &function, std::span<const Value> inputs,
                          std::vector<int64_t> &registers);

} // namespace tenon::runtime
