// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that LLVM prints and ptxas (CUDA 13.0, every target that was tried) gets wrong, written in another way. Found by
// tests/sequences; its README has the whole list, with what LLVM does not print.
//
// Bits of a number in floating point. A register has no type in PTX, but ptxas remembers which instruction wrote it. A
// store that is narrower than the number, or a shift of 64 bits by it, gets the number converted to an integer
// (F2I.U8) where PTX takes the low bits:
//
//   add.rn.f32 %r3, %r1, %r2;   st.global.b8 [%rd1], %r3;      shr.u64 %rd3, %rd2, %r3;
//
// LLVM prints this for the low bits of a bitcast, and for stores at odd addresses. A copy has no such memory.
//
// The upper half of what was extended. Where nobody reads the lower half, ptxas takes it for the upper one:
//
//   ld.global.s8 %r1, [%rd2];   mov.b32 {_, %rs1}, %r1;        cvt.u32.u16 %r1, %rs2;   mov.b32 {_, %rs1}, %r1;
//
// A shift by 16 is computed right.
//
// A NaN that is clamped to [0, 1]. The smaller of NaN and 1 is 1, and so is the larger of that and 0; ptxas makes one
// saturating addition of both, which gives 0 for NaN (f64: takes the larger first). The same for a bound above 1.
//
//   min.f32 %r2, %r1, 0f3F800000;   max.f32 %r3, %r2, 0f00000000;
//
// The smallest integer with another sign. It stays what it is, as LLVM and MLIR say. ptxas takes what `abs.s32` and
// `abs.s64` give for no negative number, and folds what is computed of it; and it makes `neg.s16` and `abs.s16` of 32
// bits, so that a comparison or an extension behind them sees 32768.
//
// The largest of three, one of which has another sign. From sm_90 on, one instruction takes it, and ptxas forgets the
// sign; the smallest, and numbers of 16 bits, are the same. Where ~x + 1 is written it is kept.
//
//   neg.s32 %r4, %r1;   max.s32 %r5, %r2, %r4;   max.s32 %r6, %r5, %r3;      gives the largest of %r2, %r1 and %r3
//
// The upper half of a product that is added several times, one after the other. ptxas makes each addition a product
// that adds, whose sum it counts as the one before: of five, three are left; of four turns of a loop, two. The upper
// half of the wide product is added right, and takes as long.
//
//   mul.hi.u32 %r3, %r1, %r2;   loop: add.u32 %r4, %r3, %r4;
//
// Whether the smaller of two integers of 16 bits is the first, or a constant. From sm_90 on, one instruction takes the
// smaller of two pairs and says of each which number that is; ptxas writes both answers to the same predicate, so that
// the upper halves', which are equal zeros, is the one that stays: the comparison is always true. The larger is the
// same. (LLVM narrows the number of a block of a small grid to 16 bits.) Numbers of 32 bits that were extended are
// compared the same way. What says that they differ is not made part of it.
//
//   min.u16 %rs3, %rs1, %rs2;   setp.eq.b16 %p1, %rs3, %rs1;
#pragma once

#include "llvm/ADT/SmallString.h"

namespace tenon::compiler::codegen {

/// Changes the instructions that are assembled wrong. A text that is no PTX stays as it is: whoever reads it next says
/// why. @return how many
unsigned writeAroundPtxasErrors(llvm::SmallVectorImpl<char> &ptx);

} // namespace tenon::compiler::codegen
