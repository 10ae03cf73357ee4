// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tuning file knows a contraction by: all that decides how long its kernel takes, and nothing else. Each
// operation of the kernel says its loops (sizes, '?' where they are known only when the program runs; p: parallel,
// r: reduced), what it reads and by which loops, what it computes, and what comes of it, stored or (not), and that its
// sums start from memory where they do:
//
//   64x32x16 ppr: bf16(d0, d2), bf16(d2, d1), extf, extf, mulf, addf -> (f32); 64x32 pp: f32, f32(d1), addf -> f32
//
// In front of it stands what flags allow: "tf32; ", "narrow sums; ". Names of values, places in the source and the
// function it stands in are left out: who moves code keeps what was tuned.
#pragma once

#include "compiler/codegen/kernel/kernel_function.h"

namespace tenon::compiler::codegen {

std::string contractionKey(const KernelFunction &kernel);

} // namespace tenon::compiler::codegen
