// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tensor core adds up, bit for bit. A Hopper tensor core does not round after every product: it takes the exact
// products of one instruction's whole depth together with the accumulator, shifts them all to the largest exponent
// among them, drops what falls below the 25th fraction bit (the 13th where operands have 8 bits), adds the rest as
// integers, and truncates the sum to single precision (or rounds it to half). The exponent of a product is the sum of
// its operands' exponents, and a subnormal operand has that of the smallest normal one. Measured on an H200
// (tests/golden, forms mma.sync); other architectures' devices use shorter runs and fewer bits, here they all get this
// one.
#pragma once

#include "emulator/machine/lanes.h"

#include <cstdint>

namespace tenon::emulator::TENON_LEVEL {

struct MatrixSize {
  uint32_t m, n, k;
};

/// The formats of a product: what a sum of it depends on.
struct SumFormat {
  int smallestLeft = -126,
      smallestRight = -126; // smallest normal exponents: f16 -14; bf16, tf32 -126; e4m3 -6; e5m2 -14
  int fractionBits = 25;    // kept below the largest exponent; 13 for 8-bit operands
  bool isHalf = false;      // the sum is still to be rounded to f16: once, to nearest, never to -0
};

/// Of floating-point operands and an f32 or f16 sum.
inline SumFormat sumFormat(ptx::ScalarType left, ptx::ScalarType right, ptx::ScalarType sum) {
  using ptx::ScalarType;
  auto smallest = [](ScalarType operand) {
    return operand == ScalarType::E4M3 ? -6 : operand == ScalarType::F16 || operand == ScalarType::E5M2 ? -14 : -126;
  };
  const bool isOfBytes = left == ScalarType::E4M3 || left == ScalarType::E5M2;
  return {.smallestLeft = smallest(left),
          .smallestRight = smallest(right),
          .fractionBits = isOfBytes ? 13 : 25,
          .isHalf = sum == ScalarType::F16};
}

/// sum[m][n] += left[m][k] * right[k][n], matrices row by row; n at most 32, k at most 64. `sum` is f32 or f16, and so
/// are the results.
void multiplyAsTensorCore(const double *left, const double *right, double *sum, MatrixSize size,
                          const SumFormat &format);

/// The same, exact for integers that fit, rounded at each step for doubles.
void multiplyStepByStep(const double *left, const double *right, double *sum, MatrixSize size);

} // namespace tenon::emulator::TENON_LEVEL
