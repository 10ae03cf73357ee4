// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of math.h against the host's in higher precision, within the errors that the CUDA C++ Programming Guide
// documents; half and bfloat arithmetic to the bit.
#include "tests/kernels/functions.h"

#include "tests/kernels/driver.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon::kernels {
namespace {

using FunctionKernels = Kernels;

/// Distance in units of `want`'s last place, of `digits` bits; subnormal results as if the format went on.
double ulps(long double got, long double want, int digits) {
  if (got == want || (std::isnan(got) && std::isnan(want)))
    return 0;
  return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::ilogb(want) + 1 - digits));
}

TEST_F(FunctionKernels, SinglePrecision) {
  TENON_KERNEL("functions", "functions32");
  std::vector<float> in;
  Random random;
  for (int k = 0; k < 700; ++k)
    in.push_back(static_cast<float>(random.real(-9, 9)));
  struct Function {
    const char *name;
    double want, limit;
  };
  auto expected = [](float v) {
    float a = std::fabs(v) + 0.01f, u = v * 0.109f;
    double x = v, y = a, z = u;
#define TENON_EXPECT(CALL, HOST, ULPS) {#CALL, HOST, ULPS},
    return std::vector<Function>{TENON_FUNCTIONS_32(TENON_EXPECT)};
  };
  size_t count = expected(1).size(), n = in.size();
  Array<float> din(in), out(n * count);
  ASSERT_EQ(launch({6}, {128}, 0, din.address, out.address, static_cast<int>(n)), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < n; ++k) {
    auto want = expected(in[k]);
    for (size_t f = 0; f < count; ++f)
      EXPECT_LE(ulps(got[f * n + k], want[f].want, 24), want[f].limit + 0.51)
          << want[f].name << " of v = " << in[k] << ": " << got[f * n + k] << ", " << want[f].want << " is right";
  }
}

TEST_F(FunctionKernels, DoublePrecision) {
  TENON_KERNEL("functions", "functions64");
  std::vector<double> in;
  Random random;
  for (int k = 0; k < 300; ++k)
    in.push_back(random.real(-9, 9));
  struct Function {
    const char *name;
    long double want;
    double limit;
  };
  auto expected = [](double v) {
    double a = std::fabs(v) + 0.01, u = v * 0.109;
    long double x = v, y = a, z = u;
    return std::vector<Function>{TENON_FUNCTIONS_64(TENON_EXPECT)};
  };
  size_t count = expected(1).size(), n = in.size();
  Array<double> din(in), out(n * count);
  ASSERT_EQ(launch({3}, {128}, 0, din.address, out.address, static_cast<int>(n)), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < n; ++k) {
    auto want = expected(in[k]);
    for (size_t f = 0; f < count; ++f)
      EXPECT_LE(ulps(got[f * n + k], want[f].want, 53), want[f].limit + 0.51)
          << want[f].name << " of v = " << in[k] << ": " << got[f * n + k] << ", " << static_cast<double>(want[f].want)
          << " is right";
  }
}

TEST_F(FunctionKernels, HalfArithmetic) {
  TENON_KERNEL("functions", "halfMath");
  const size_t n = 500;
  Random random;
  std::vector<uint16_t> a(n), b(n);
  auto half = [&] { return std::bit_cast<uint16_t>(static_cast<_Float16>(random.real(-6, 6))); };
  std::generate(a.begin(), a.end(), half);
  std::generate(b.begin(), b.end(), half);
  Array<uint16_t> da(a), db(b), out(12 * n);
  ASSERT_EQ(launch({4}, {128}, 0, da.address, db.address, out.address, static_cast<int>(n)), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < n; ++k) {
    // Sums and products of halves are exact in double.
    double x = std::bit_cast<_Float16>(a[k]), y = std::bit_cast<_Float16>(b[k]);
    float scaled = static_cast<float>(x) * 1.001f;
    _Float16 near = static_cast<_Float16>(scaled);
    if (std::fabs(static_cast<float>(near)) > std::fabs(scaled)) // toward zero
      near = std::bit_cast<_Float16>(static_cast<uint16_t>(std::bit_cast<uint16_t>(near) - 1));
    const double want[12] = {
        x + y,          x - y, x * y,        x * y + x,         std::clamp(x + y, 0.0, 1.0), std::max(x, y),
        std::min(x, y), -x,    std::fabs(y), x < y ? 1.0 : 0.0, static_cast<double>(near),   std::floor(y)};
    for (size_t j = 0; j < 12; ++j)
      ASSERT_EQ(static_cast<double>(std::bit_cast<_Float16>(got[12 * k + j])),
                static_cast<double>(static_cast<_Float16>(want[j])))
          << "operation " << j << " of " << x << ", " << y;
  }
}

TEST_F(FunctionKernels, BfloatArithmetic) {
  TENON_KERNEL("functions", "bfloatMath");
  const size_t n = 500;
  Random random;
  std::vector<uint16_t> a(n), b(n);
  // Short numbers: the exact results have few enough bits to be rounded once, from double.
  auto bfloat = [&] {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(random.real(-6, 6))) >> 16);
  };
  std::generate(a.begin(), a.end(), bfloat);
  std::generate(b.begin(), b.end(), bfloat);
  Array<uint16_t> da(a), db(b), out(6 * n);
  ASSERT_EQ(launch({4}, {128}, 0, da.address, db.address, out.address, static_cast<int>(n)), CUDA_SUCCESS);
  auto got = out.read();
  auto value = [](uint16_t bits) {
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
  };
  auto round = [](double exact) {
    int exponent;
    double scaled = std::ldexp(std::frexp(exact, &exponent), 8); // eight significant bits
    return std::ldexp(std::nearbyint(scaled), exponent - 8);
  };
  for (size_t k = 0; k < n; ++k) {
    double x = value(a[k]), y = value(b[k]);
    const double want[6] = {round(x + y),   round(x * y), round(x * y + x),
                            std::max(x, y), -x,           round(static_cast<double>(static_cast<float>(x) * 1.01f))};
    for (size_t j = 0; j < 6; ++j)
      ASSERT_EQ(value(got[6 * k + j]), want[j]) << "operation " << j << " of " << x << ", " << y;
  }
}

} // namespace
} // namespace tenon::kernels
