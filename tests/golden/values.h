// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands that forms are recorded with: edges of their types, and reproducible random bits.
#pragma once

#include "support/random.h"
#include "tests/golden/form.h"

namespace tenon::golden {

/// Tuples of operands, one after another; eight bytes to an operand. Deterministic: they are not stored with results.
///
/// Sets by name (`values=` in forms.txt):
///   (none)        every pair (triple) of edge values, then random ones; more than three operands: random edges
///   dense         random bits over the whole type, beside the edges
///   range:LO:HI   f32, f16 or bf16 spread evenly
///   small         numbers in [-1, 1] (integers: any bits)
///   mixed         numbers of widely different exponents
///   tiny          about the smallest numbers of the type
///   edges         random finite edges; special: infinities and NaN among small numbers
std::vector<uint64_t> operandsOf(const Form &form);

/// A value of that type: an edge, a small number, or any bits.
uint64_t drawValue(const std::string &type, SplitMix64 &random);
/// A number in a floating-point type; every element of a packed one.
uint64_t encodeNumber(const std::string &type, double value);

} // namespace tenon::golden
