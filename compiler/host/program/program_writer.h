// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's bytes: one FlatBuffer, file identifier TNP1. What is written is verified before it is returned, with the
// same code that guards the loader. Same program, same bytes.
#pragma once

#include "compiler/host/program/program.h"
#include "support/result.h"

#include <cstdint>
#include <vector>

namespace tenon::compiler::host {

/// @return the file. Unimplemented: executables and small constants are too large for one FlatBuffer (2 GiB);
///         Internal: what was written does not verify, which is a bug in the compiler.
/// Source: abi/format/schemas/program.fbs.
Result<std::vector<uint8_t>> writeProgram(const Program &program);

} // namespace tenon::compiler::host
