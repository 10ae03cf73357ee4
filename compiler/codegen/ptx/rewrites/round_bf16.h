// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An f32 that is rounded to bf16 and computed with further, as programs of bf16 round between operations. ptxas makes
// `cvt.rn.bf16.f32` of one number an instruction of the unit for functions (F2F), which has a quarter of the lanes or
// fewer, and another instruction shifts its result up to be an f32 again. `cvt.rn.bf16x2.f32` of two numbers is one of
// all lanes (F2FP). With a zero as the lower one its result is the rounded number as an f32, with nothing to shift;
// with a zero as the upper one it is what arithmetic of bf16 takes.
#pragma once

#include "abi/target_arch.h"

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

/// Replaces what is rounded for arithmetic. What is stored stays: two neighbours become one such instruction. After
/// LLVM has optimised, so that nothing that it knows of such numbers is lost. Targets before sm_80 have no such
/// instruction.
/// @return how many roundings
unsigned roundByPairs(llvm::Module &device, abi::TargetArch arch);

} // namespace tenon::compiler::codegen
