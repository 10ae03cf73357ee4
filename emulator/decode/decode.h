// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a parsed kernel to a DecodedKernel: names become offsets, instructions become handlers. Everything an
// instruction says is either understood or refused here, with its line: a modifier is never ignored.
#pragma once

#include "emulator/decode/symbol_addresses.h"
#include "emulator/machine/decoded_kernel.h"
#include "support/diagnostics.h"

#include <memory>

namespace tenon::emulator {

/// Decodes `entry` and all it reaches. Errors go to `diagnostics`; the program is usable only when none were added.
/// What is right but not supported stays with the kernel (DecodedKernel::refusal).
/// module must outlive the program, and what runs it must have the same checks.
std::unique_ptr<DecodedKernel> decodeKernel(const ptx::Module &module, const ptx::Function &entry,
                                            const VariableAddress &variableAddress, uint32_t stackLimit,
                                            Diagnostics &diagnostics, const CheckOptions &checks = {});

} // namespace tenon::emulator
