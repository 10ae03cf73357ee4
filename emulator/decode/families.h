// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which row decodes an instruction, out of the rows of all families.
#pragma once

#include "emulator/decode/opcode.h"
#include "ptx/module.h"

#include <vector>

namespace tenon::emulator {

/// Null: no family knows the instruction.
const Opcode *findOpcode(const ptx::Instruction &instruction);
/// The rows of all families.
std::vector<Opcode> allOpcodes();

} // namespace tenon::emulator
