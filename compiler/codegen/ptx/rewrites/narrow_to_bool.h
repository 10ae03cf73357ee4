// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats that become i1. LLVM's NVPTX back end selects for `fptosi` and `fptoui` to i1 a comparison of the float's bits
// with zero, which is the wrong way round: 0.0 becomes true, and whatever else false. Through an integer of 32 bits
// they are right: 0 is false, 1 (or -1, with a sign) is true, and what lies between them is cut off towards zero.
#pragma once

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Replaces each conversion of a float, or of a vector of floats, to i1. After LLVM has optimised, so that nothing puts
/// one back.
/// @return how many
unsigned narrowToBool(llvm::Module &device);

} // namespace tenon::compiler::codegen
