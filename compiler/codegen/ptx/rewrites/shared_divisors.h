// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients of f32 that have one divisor: a softmax's, unit vectors', averages'. `div.rn.f32` is correctly rounded and
// takes some sixteen instructions, two of them of the unit for functions, with a branch. Those of one divisor b share
// y, the correctly rounded 1 / b, and each is
//
//   q0 = a y,  q1 = q0 + (a - b q0) y      every sum with its product fused
//
// q1 is a / b correctly rounded, as long as nothing on the way is too large or too small: q0 is off by at most 1.5
// units of its last place, y by half a unit, so that what is rounded to q1 is off by at most 7 2^-25 units of a / b. A
// quotient is so near to where rounding changes only if A 2^k = B M + c, for the integers A and B that a and b are, an
// odd M and |c| <= 7. All of these, 46 million, have been tried, and some are in the test. Nothing is too large or too
// small where
//
//   2^-24 <= |b| <= 2^24,  and  2^-96 <= |a| <= 2^96  or  a = +0:
//
// then y and the quotients have exponents that there are, and what is left of a is a multiple of ulp(b) ulp(q0), which
// is at least 2^-145. -0 is left out since the sum of the two zeros is +0. Several quotients ask together, and where
// one is out of bounds all are divided as they were.
#pragma once

namespace llvm {
class Module;
}

namespace tenon::compiler::codegen {

// 1 / b is a division, too, and what asks for bounds takes as long as some quotients: fewer are not worth it (an H200,
// softmax of rows of 10 f32, whose threads have four: 14.4 -> 18.8 us).
constexpr unsigned kLeastOfDivisor = 12;

/// Rewrites quotients that stand together, of divisors that have at least so many. After LLVM has optimised.
/// @return how many
unsigned shareDivisors(llvm::Module &device, unsigned least = kLeastOfDivisor);

} // namespace tenon::compiler::codegen
