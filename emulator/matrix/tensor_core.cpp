// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/matrix/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tenon::emulator::TENON_LEVEL {
namespace {

constexpr int kNothing = -4000; // exponent of zero: below every other, and so is its sum with another exponent
constexpr uint32_t kMostRows = 64, kMostDepth = 64;

// Eight columns at once: a multiple of eight is what every instruction has.
constexpr uint32_t kBlock = 8;
using Doubles = double __attribute__((vector_size(8 * kBlock)));
using Words = uint64_t __attribute__((vector_size(8 * kBlock)));
using Ints = int32_t __attribute__((vector_size(4 * kBlock)));

[[gnu::always_inline]] inline void exponentsOf(const Doubles &x, int smallest, Ints &out) {
  Words bits = reinterpret_cast<const Words &>(x) << 1;
  Ints exponent = __builtin_convertvector(bits >> 53, Ints) - 1023, isZero = __builtin_convertvector(bits == 0, Ints);
  exponent = exponent > smallest ? exponent : Ints{} + smallest;
  out = isZero ? Ints{} + kNothing : exponent;
}
int exponentOf(double x, int smallest) {
  uint64_t bits = std::bit_cast<uint64_t>(x) << 1;
  return bits == 0 ? kNothing : std::max(static_cast<int>(bits >> 53) - 1023, smallest);
}
[[gnu::always_inline]] inline void powersOfTwo(const Ints &exponents, Doubles &out) {
  Words bits = __builtin_convertvector(exponents + 1023, Words) << 52;
  out = reinterpret_cast<Doubles &>(bits);
}
[[gnu::always_inline]] inline void readBlock(const double *from, Doubles &out) {
  memcpy(&out, from, sizeof out);
}

/// Toward zero to single precision, subnormals included; what is too large becomes infinite.
[[gnu::always_inline]] inline void truncateToSingle(Doubles &x) {
  const Words sign = reinterpret_cast<Words &>(x) & (1ull << 63);
  Words sizeBits = reinterpret_cast<Words &>(x) & ~(1ull << 63), cut = sizeBits & ~((1ull << 29) - 1);
  Doubles size = reinterpret_cast<Doubles &>(sizeBits), result = reinterpret_cast<Doubles &>(cut);
  result = size < 0x1p-126 ? __builtin_elementwise_trunc(size * 0x1p149) * 0x1p-149 : result;
  result = size >= 0x1p128 ? Doubles{} + std::numeric_limits<double>::infinity() : result;
  Words bits = reinterpret_cast<Words &>(result) | sign;
  x = reinterpret_cast<Doubles &>(bits);
}

bool allFinite(const double *values, uint32_t count) {
  bool finite = true;
  for (uint32_t k = 0; k < count; ++k)
    finite &= (std::bit_cast<uint64_t>(values[k]) >> 52 & 0x7ff) != 0x7ff;
  return finite;
}

void multiplyFinite(const double *left, const double *right, double *sum, MatrixSize size, const SumFormat &format) {
  int32_t leftExponents[kMostRows * kMostDepth];
  for (uint32_t k = 0; k < size.m * size.k; ++k)
    leftExponents[k] = exponentOf(left[k], format.smallestLeft);
  for (uint32_t column = 0; column < size.n; column += kBlock) {
    Doubles factors[kMostDepth];
    Ints exponents[kMostDepth];
    for (uint32_t k = 0; k < size.k; ++k) {
      readBlock(right + k * size.n + column, factors[k]);
      exponentsOf(factors[k], format.smallestRight, exponents[k]);
    }
    for (uint32_t row = 0; row < size.m; ++row) {
      double *cells = sum + row * size.n + column;
      Doubles total, scale, back;
      Ints largest;
      readBlock(cells, total);
      exponentsOf(total, -126, largest);
      // By the operands' exponents: a product of two mantissas may be one bit longer than that, and keeps the bit.
      for (uint32_t k = 0; k < size.k; ++k) {
        Ints exponent = exponents[k] + leftExponents[row * size.k + k];
        largest = exponent > largest ? exponent : largest;
      }
      largest = largest > -900 ? largest : Ints{} - 900;
      powersOfTwo(format.fractionBits - largest, scale);
      powersOfTwo(largest - format.fractionBits, back);
      total = __builtin_elementwise_trunc(total * scale) + 0.0; // -0 is 0, as it is for integers
      for (uint32_t k = 0; k < size.k; ++k)
        total += __builtin_elementwise_trunc(left[row * size.k + k] * factors[k] * scale);
      total *= back;
      if (!format.isHalf)
        truncateToSingle(total);
      memcpy(cells, &total, sizeof total);
    }
  }
}

} // namespace

void multiplyStepByStep(const double *left, const double *right, double *sum, MatrixSize size) {
  for (uint32_t row = 0; row < size.m; ++row)
    for (uint32_t k = 0; k < size.k; ++k)
      for (uint32_t column = 0; column < size.n; ++column) {
        double &cell = sum[row * size.n + column];
        cell = std::fma(left[row * size.k + k], right[k * size.n + column], cell);
      }
}

void multiplyAsTensorCore(const double *left, const double *right, double *sum, MatrixSize size,
                          const SumFormat &format) {
  if (allFinite(left, size.m * size.k) && allFinite(right, size.k * size.n) && allFinite(sum, size.m * size.n))
    return multiplyFinite(left, right, sum, size, format);
  // Infinities and NaN need no shifting, any order gives the same: they are added to what the numbers gave.
  auto split = [](const double *values, uint32_t count, std::vector<double> &numbers, std::vector<double> &others) {
    for (uint32_t k = 0; k < count; ++k) {
      bool finite = allFinite(values + k, 1);
      numbers.push_back(finite ? values[k] : 0);
      others.push_back(finite ? (values[k] == 0 ? 0 : std::copysign(1.0, values[k])) : values[k]);
    }
  };
  std::vector<double> a, b, c, signsA, signsB, signsC;
  split(left, size.m * size.k, a, signsA);
  split(right, size.k * size.n, b, signsB);
  split(sum, size.m * size.n, c, signsC);
  multiplyFinite(a.data(), b.data(), c.data(), size, format);
  multiplyStepByStep(signsA.data(), signsB.data(), signsC.data(), size);
  for (uint32_t k = 0; k < size.m * size.n; ++k)
    sum[k] = allFinite(&signsC[k], 1) ? c[k] : signsC[k];
}

} // namespace tenon::emulator::TENON_LEVEL
