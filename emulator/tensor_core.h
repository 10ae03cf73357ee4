// What a tensor core adds up, bit for bit. A Hopper tensor core does not round after every product: it takes the exact
// products of one instruction's whole depth together with the accumulator, shifts them all to the largest exponent
// among them, drops what falls below the 25th fraction bit, adds the rest as integers, and truncates the sum to single
// precision (or rounds it to half). The exponent of a product is the sum of its operands' exponents, and a subnormal
// operand has that of the smallest normal one. Measured on an H200 (tests/golden, forms mma.sync); other architectures'
// devices use shorter runs and fewer bits, here they all get this one.
#pragma once

#include "emulator/lanes.h"

#include <cstdint>

namespace tenon::emulator::TENON_LEVEL {

struct MatrixSize {
  uint32_t m, n, k;
};

/// sum[m][n] += left[m][k] * right[k][n], matrices row by row; n at most 32, k at most 64. Operands are of a format
/// whose smallest normal exponent is `smallestExponent` (f16: -14; bf16, tf32: -126), `sum` is f32 or f16. Results are
/// f32, or, with `isHalf`, still to be rounded to f16 (once, to nearest; never to -0).
void multiplyAsTensorCore(const double *left, const double *right, double *sum, MatrixSize size, int smallestExponent,
                          bool isHalf);

/// The same, exact for integers that fit, rounded at each step for doubles.
void multiplyStepByStep(const double *left, const double *right, double *sum, MatrixSize size);

} // namespace tenon::emulator::TENON_LEVEL
