// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of two pairs of 16-bit integers. From sm_90 on `add.s16x2` is one instruction, and where one side is a constant
// and one half of the sum alone is read, ptxas (CUDA 13.0, from -O1 on, sm_90 to sm_120) forgets the constant: it
// assembles
//
//   mov.b32 %c, 4;  add.s16x2 %s, %x, %c;  mov.b32 {%low, _}, %s      as      VIADD.16x2 S, X, 0x0
//
// What is a constant, and which half is read, is not known before ptxas has removed what nobody needs, so no such
// instruction is left to it. Minima, maxima and pairs of floats are assembled right.
#pragma once

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Replaces each sum or difference of vectors of i16 by one of each element. After LLVM has optimised, so that nothing
/// makes a vector of them again.
/// @return how many
unsigned splitPairSums(llvm::Module &device);

} // namespace tenon::compiler::codegen
