#include "emulator/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tenon::emulator::TENON_LEVEL {
namespace {

constexpr int kNothing = -4000; // exponent of zero: below every other, and so is its sum with another exponent
constexpr uint32_t kMostColumns = 32, kMostDepth = 64;

int exponentOf(double x, int smallest) {
  uint64_t bits = std::bit_cast<uint64_t>(x) << 1;
  return bits == 0 ? kNothing : std::max(static_cast<int>(bits >> 53) - 1023, smallest);
}
double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// Toward zero to single precision, subnormals included; what is too large becomes infinite.
double truncateToSingle(double x) {
  double size = std::fabs(x);
  if (size < 0x1p-126)
    return std::copysign(std::trunc(size * 0x1p149) * 0x1p-149, x);
  if (size >= 0x1p128)
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & ~((1ull << 29) - 1));
}

bool allFinite(const double *values, uint32_t count) {
  bool finite = true;
  for (uint32_t k = 0; k < count; ++k)
    finite &= (std::bit_cast<uint64_t>(values[k]) >> 52 & 0x7ff) != 0x7ff;
  return finite;
}

void multiplyFinite(const double *left, const double *right, double *sum, MatrixSize size, const SumFormat &format) {
  int32_t rightExponents[kMostDepth * kMostColumns];
  for (uint32_t k = 0; k < size.k * size.n; ++k)
    rightExponents[k] = exponentOf(right[k], format.smallestRight);
  for (uint32_t row = 0; row < size.m; ++row) {
    const double *factors = left + row * size.k;
    double *cells = sum + row * size.n;
    int32_t largest[kMostColumns];
    double scale[kMostColumns], total[kMostColumns];
    for (uint32_t column = 0; column < size.n; ++column)
      largest[column] = exponentOf(cells[column], -126);
    // By the operands' exponents: a product of two mantissas may be one bit longer than that, and keeps the bit.
    for (uint32_t k = 0; k < size.k; ++k) {
      int32_t exponent = exponentOf(factors[k], format.smallestLeft);
      for (uint32_t column = 0; column < size.n; ++column)
        largest[column] = std::max(largest[column], exponent + rightExponents[k * size.n + column]);
    }
    for (uint32_t column = 0; column < size.n; ++column) {
      largest[column] = std::max(largest[column], -900);
      scale[column] = powerOfTwo(format.fractionBits - largest[column]);
      total[column] = static_cast<double>(static_cast<int32_t>(cells[column] * scale[column]));
    }
    for (uint32_t k = 0; k < size.k; ++k)
      for (uint32_t column = 0; column < size.n; ++column)
        total[column] +=
            static_cast<double>(static_cast<int32_t>(factors[k] * right[k * size.n + column] * scale[column]));
    for (uint32_t column = 0; column < size.n; ++column) {
      double result = total[column] * powerOfTwo(largest[column] - format.fractionBits);
      cells[column] = format.isHalf ? result : truncateToSingle(result);
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
