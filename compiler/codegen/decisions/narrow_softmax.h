// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax of which only f16 or bf16 results leave the kernel: cheaper arithmetic, by a rule, where rounding the result
// hides it.
//
//   m = max x,  s = sum exp(x - m),  y = round(exp(x - m) / s)        or  y = round((x - m) - log s)
//
// An exact exponential and an exact division are some 17 instructions, more than memory leaves time for where an
// element takes two bytes. They become `ex2.approx.ftz` of one product, and a product with 1 / s, which is one division
// for each row. What holds for numbers, with x - m = -t:
//
// - exponentials are in [0, 1], the largest of a row is exactly 1; each is off by at most (t + 4) 2^-24 of itself, and
//   those below 2^-126 are 0;
// - so s is at least 1 and finite, 1 / s is no subnormal, and the quotient is off by less than 2^-17 of itself (t <
// 88);
//   bf16 rounds by up to 2^-9, f16 by 2^-12 of numbers above 2^-14, which have t < 10: less than 2^-20;
// - so a result of bf16 is off by at most 0.504 units of its last place (0.5 where arithmetic is exact), one of f16 by
//   0.503; results of bf16 below 2^-126 may be 0, which f16 has no numbers for;
// - NaNs and infinities come out as before: only x = -inf gives 0, any NaN or +inf in a row, and m = -inf, give NaN.
//
// It is done only where all that is made of an exponential or of s is such a result: nothing else may be computed from
// them, because a difference of two could make any error large. Maxima start from -inf, sums from 0. f32 results,
// exponentials of anything else, and sums that are stored stay exact.
#pragma once

#include "compiler/codegen/kernel/kernel_function.h"

namespace tenon::compiler::codegen {

/// Rewrites the bodies of the kernel's operations.
/// @return whether there was such a softmax
bool narrowSoftmax(const KernelFunction &kernel);

} // namespace tenon::compiler::codegen
