// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Module, or a part of it, back as PTX text: for dumps, for messages that quote an instruction, and for tests.
//
// What the parser keeps, the printer prints: parsing the text of a module gives an equal module, other ranges and lines
// aside. What the parser drops is not there: comments, debug sections, sizes of debug files, .abi_preserve and the
// number of .unified. One declaration stands for each variable.
#pragma once

#include "ptx/module.h"

#include <string>

namespace tenon::ptx {

/// "[%rd1+8]", "{%f1, _}", "!%p1", "0f3F800000".
std::string print(const Operand &operand);
/// "@!%p1 ld.global.f32 %f1, [%rd1+8];"
std::string print(const Instruction &instruction);
/// ".shared .align 16 .b8 tile[1024];"; a parameter's has no ';'.
std::string print(const Variable &variable);
/// A whole file.
std::string print(const Module &module);

} // namespace tenon::ptx
