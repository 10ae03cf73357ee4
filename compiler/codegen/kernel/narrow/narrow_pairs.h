// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operands of products are computed from is narrow: integers of 4 or 8 bits, f16 and bf16. A register holds two of
// these, and from sm_90 on (f16: from sm_60 on) an instruction computes both; so neighbouring lanes are one vector of
// two, which the back end takes apart where a target has no such instruction.
//
// Conversions of small integers are additions. The number 0x4B000000 is 2^23 as f32, whose last bit is worth 1: with
// an integer u below 2^23 in its low bits it is 2^23 + u, and u what is left without 2^23. f16 has ten such bits behind
// 2^10, bf16 seven behind 2^7. All of it is exact, as the conversion itself is, which takes an instruction of a quarter
// of the rate, and for bf16 another one; a f32, of which a register holds one, is computed so as well. Signed integers
// have their sign turned around, so that they are that much higher, which goes with the 2^23.
//
// Integers of four bits are halves of bytes that were read 16 at a time. A body shifts and masks each of them; here a
// pair is taken out of its words with one permutation of bytes, and masked with the leading bits in one instruction:
//
//   word        .. .. .. hl        of which byte 0 holds h and l
//   word >> 4   .. .. .h .h
//   permuted    .. .h .. hl        low half: byte 0 of the word; high half: byte 0 of what is shifted
//   masked, ^   43 0h 43 0l        128 + h, 128 + l as bf16
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/kernel/lanes.h"

namespace tenon::compiler::codegen {

/// The result of an operation of a body for an even number of lanes, one by one; none where it is not computed by
/// pairs.
llvm::SmallVector<mlir::Value> computePairs(KernelBuilder &k, mlir::Operation &op, llvm::ArrayRef<Lanes> operands,
                                            unsigned width);

} // namespace tenon::compiler::codegen
