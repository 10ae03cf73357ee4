// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element-wise kernels against the host. Basic arithmetic is bit-exact; special functions are compared with double
// precision within the errors that the CUDA C++ Programming Guide documents for them (ulp of float, plus what the
// test's own cancellation adds).
#include "tests/kernels/driver.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace tenon::kernels {
namespace {

using VectorKernels = Kernels;

std::vector<float> reals(size_t count, double low, double high, uint64_t seed = 1) {
  Random random(seed);
  std::vector<float> out(count);
  for (float &value : out)
    value = static_cast<float>(random.real(low, high));
  return out;
}
/// |got - want| in units of `want`'s last place (of float), at least those of 1e-6.
double ulps(float got, double want) {
  double unit = std::ldexp(1.0, std::max(-43, std::ilogb(want)) - 23);
  return std::fabs(static_cast<double>(got) - want) / unit;
}

TEST_F(VectorKernels, Saxpy) {
  TENON_KERNEL("vector", "saxpy");
  int n = 1000;
  auto x = reals(1000, -3, 3), y = reals(1000, -3, 3, 2);
  Array<float> dx(x), dy(y), out(x.size());
  ASSERT_EQ(launch({8}, {128}, 0, dx.address, dy.address, out.address, 1.7f, n), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < got.size(); ++k)
    ASSERT_EQ(got[k], std::fmaf(1.7f, x[k], y[k])) << k;
}

TEST_F(VectorKernels, VectorsOfFour) {
  TENON_KERNEL("vector", "add4");
  auto a = reals(400, -3, 3), b = reals(400, -3, 3, 2);
  Array<float> da(a), db(b), out(a.size());
  ASSERT_EQ(launch({4}, {32}, 0, da.address, db.address, out.address, 100), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < got.size(); ++k)
    ASSERT_EQ(got[k], a[k] + b[k]);
}

TEST_F(VectorKernels, Divides64Bits) {
  TENON_KERNEL("vector", "divide64");
  Random random;
  std::vector<int64_t> a, b;
  for (int k = 0; k < 300; ++k) {
    uint64_t x = static_cast<uint64_t>(random.next()) << 32 | random.next(),
             y = static_cast<uint64_t>(random.next()) << 32 | random.next();
    a.push_back(static_cast<int64_t>(x >> (k % 40)));
    b.push_back(static_cast<int64_t>(y >> (k % 63)) | 1);
  }
  Array<int64_t> da(a), db(b), q(a.size()), r(a.size()), u(a.size());
  ASSERT_EQ(launch({3}, {128}, 0, da.address, db.address, q.address, r.address, u.address, 300), CUDA_SUCCESS);
  auto gotQ = q.read(), gotR = r.read(), gotU = u.read();
  for (size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(gotQ[k], a[k] / b[k]);
    ASSERT_EQ(gotR[k], a[k] % b[k]);
    ASSERT_EQ(static_cast<uint64_t>(gotU[k]), static_cast<uint64_t>(a[k]) / static_cast<uint64_t>(b[k]));
  }
}

TEST_F(VectorKernels, Divides128Bits) {
  TENON_KERNEL("vector", "divide128");
  Random random;
  std::vector<uint64_t> a;
  std::vector<int64_t> b;
  for (int k = 0; k < 200; ++k) {
    auto word = [&] { return static_cast<uint64_t>(random.next()) << 32 | random.next(); };
    __int128 dividend = static_cast<__int128>(static_cast<unsigned __int128>(word()) << 64 | word()) >> (k % 127);
    a.push_back(static_cast<uint64_t>(dividend));
    a.push_back(static_cast<uint64_t>(dividend >> 64));
    b.push_back(static_cast<int64_t>(word() >> (k % 63)) | 1);
  }
  Array<uint64_t> da(a), q(a.size());
  Array<int64_t> db(b);
  ASSERT_EQ(launch({4}, {64}, 0, da.address, db.address, q.address, 200), CUDA_SUCCESS);
  auto got = q.read();
  for (size_t k = 0; k < b.size(); ++k) {
    auto quotient = static_cast<__int128>(static_cast<unsigned __int128>(a[2 * k + 1]) << 64 | a[2 * k]) / b[k];
    EXPECT_EQ(got[2 * k], static_cast<uint64_t>(quotient)) << k;
    EXPECT_EQ(got[2 * k + 1], static_cast<uint64_t>(quotient >> 64)) << k;
  }
}

TEST_F(VectorKernels, SpecialFunctions) {
  TENON_KERNEL("vector", "specials");
  auto x = reals(500, -9, 9);
  Array<float> dx(x), out(x.size() * 12);
  ASSERT_EQ(launch({4}, {128}, 0, dx.address, out.address, 500), CUDA_SUCCESS);
  auto got = out.read();
  const double limits[12] = {2, 2, 2, 2, 2, 0.51, 2, 9, 2.1, 3, 0.01, 1.1};
  for (size_t k = 0; k < x.size(); ++k) {
    double v = x[k];
    float a = std::fabs(x[k]);
    double want[12] = {std::exp(v),
                       std::log(static_cast<double>(a + 0.5f)),
                       std::sin(v),
                       std::cos(v),
                       std::tanh(v),
                       std::sqrt(static_cast<double>(a)),
                       1 / std::sqrt(static_cast<double>(a + 0.1f)),
                       std::pow(static_cast<double>(a + 0.1f), static_cast<double>(1.7f)),
                       std::erf(v),
                       std::atan2(v, 2.0),
                       static_cast<double>(std::fmod(x[k], 0.3f)),
                       std::cbrt(v)};
    for (int j = 0; j < 12; ++j)
      EXPECT_LE(ulps(got[k * 12 + static_cast<size_t>(j)], want[j]), limits[j]) << "function " << j << " of " << v;
  }
}

TEST_F(VectorKernels, SpecialFunctionsInDouble) {
  TENON_KERNEL("vector", "specials64");
  std::vector<double> x;
  Random random;
  for (int k = 0; k < 300; ++k)
    x.push_back(random.real(-9, 9));
  Array<double> dx(x), out(x.size() * 6);
  ASSERT_EQ(launch({3}, {128}, 0, dx.address, out.address, 300), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < x.size(); ++k) {
    double a = std::fabs(x[k]);
    double want[6] = {std::exp(x[k]), std::log(a + 0.5),      std::sin(x[k]),
                      1 / x[k],       1 / std::sqrt(a + 0.1), std::pow(a + 0.1, 1.7)};
    for (size_t j = 0; j < 6; ++j)
      EXPECT_NEAR(got[k * 6 + j], want[j], 4e-16 * std::max(1e-3, std::fabs(want[j])) * 2)
          << "function " << j << " of " << x[k];
  }
}

TEST_F(VectorKernels, FastFunctions) {
  TENON_KERNEL("vector", "fast");
  auto x = reals(500, -3, 3);
  Array<float> dx(x), out(x.size() * 6);
  ASSERT_EQ(launch({4}, {128}, 0, dx.address, out.address, 500), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < x.size(); ++k) {
    double v = x[k];
    float a = std::fabs(x[k]);
    double want[6] = {std::exp(v), std::log(static_cast<double>(a + 0.5f)), std::sin(v), std::cos(v),
                      v / 3,       std::min(1.0, std::max(0.0, v))};
    // __expf: 2 + floor(|1.173 x|) ulp; the others: 2^-21 absolute in [-pi, pi], division 2 ulp, saturate exact.
    EXPECT_LE(ulps(got[k * 6], want[0]), 6);
    for (size_t j = 1; j < 4; ++j)
      EXPECT_NEAR(got[k * 6 + j], want[j], 5e-7) << j << " of " << v;
    EXPECT_LE(ulps(got[k * 6 + 4], want[4]), 2);
    EXPECT_EQ(got[k * 6 + 5], static_cast<float>(want[5]));
  }
}

TEST_F(VectorKernels, DirectedRounding) {
  TENON_KERNEL("vector", "rounding");
  auto a = reals(400, -1e3, 1e3), b = reals(400, -1e-3, 1e-3, 7);
  Array<float> da(a), db(b), out(a.size() * 8);
  ASSERT_EQ(launch({4}, {128}, 0, da.address, db.address, out.address, 400), CUDA_SUCCESS);
  auto got = out.read();
  // Neighbours of the exact result, found in double (or long double) and stepped.
  auto directed = [](long double exact, int direction) {
    float near = static_cast<float>(exact);
    if (direction < 0 && static_cast<long double>(near) > exact)
      near = std::nextafterf(near, -INFINITY);
    if (direction > 0 && static_cast<long double>(near) < exact)
      near = std::nextafterf(near, INFINITY);
    if (direction == 0 && std::fabs(static_cast<long double>(near)) > std::fabs(exact))
      near = std::nextafterf(near, 0);
    return near;
  };
  for (size_t k = 0; k < a.size(); ++k) {
    long double x = a[k], y = b[k];
    const float *o = &got[k * 8];
    ASSERT_EQ(o[0], directed(x + y, -1)) << k;
    ASSERT_EQ(o[1], directed(x + y, 1)) << k;
    ASSERT_EQ(o[2], directed(x * y, 0)) << k;
    ASSERT_EQ(o[3], directed(x / y, 1)) << k;
    ASSERT_EQ(o[4], directed(std::sqrt(std::fabs(x)), -1)) << k;
    ASSERT_EQ(o[5], directed(x * y + 1, 1)) << k;
    ASSERT_EQ(o[6], directed(static_cast<long double>(std::bit_cast<int32_t>(a[k])), -1)) << k;
    ASSERT_EQ(o[7], static_cast<float>(1 / y)) << k;
  }
}

TEST_F(VectorKernels, HalfPairs) {
  TENON_KERNEL("vector", "halves");
  Random random;
  std::vector<uint16_t> a(512), b(512);
  auto half = [&] { return std::bit_cast<uint16_t>(static_cast<_Float16>(random.real(-4, 4))); };
  for (size_t k = 0; k < a.size(); ++k) {
    a[k] = half();
    b[k] = half();
  }
  Array<uint16_t> da(a), db(b), out(a.size());
  ASSERT_EQ(launch({2}, {128}, 0, da.address, db.address, out.address, 256), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < a.size(); ++k) {
    double x = std::bit_cast<_Float16>(a[k]), y = std::bit_cast<_Float16>(b[k]);
    _Float16 scaled = static_cast<_Float16>(x * 0.5);
    // x * y + scaled needs 22 bits and lies in float exactly, so one rounding is left.
    _Float16 want = static_cast<_Float16>(x * y + static_cast<double>(scaled));
    ASSERT_EQ(got[k], std::bit_cast<uint16_t>(want)) << k;
  }
}

TEST_F(VectorKernels, BFloats) {
  TENON_KERNEL("vector", "bfloats");
  auto a = reals(300, -4, 4), b = reals(300, -4, 4, 3);
  Array<float> da(a), db(b), out(a.size());
  ASSERT_EQ(launch({3}, {128}, 0, da.address, db.address, out.address, 300), CUDA_SUCCESS);
  auto got = out.read();
  auto round = [](float x) {
    uint32_t bits = std::bit_cast<uint32_t>(x);
    return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
  };
  for (size_t k = 0; k < a.size(); ++k)
    ASSERT_EQ(got[k], round(a[k]) * round(b[k]));
}

TEST_F(VectorKernels, BitOperations) {
  TENON_KERNEL("vector", "bits");
  std::vector<uint32_t> a = {0, 1, 0x80000000u, 0xffffffffu, 0x7fffffffu};
  Random random;
  while (a.size() < 200)
    a.push_back(random.next());
  Array<uint32_t> da(a), out(a.size() * 8);
  ASSERT_EQ(launch({2}, {128}, 0, da.address, out.address, 200), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t k = 0; k < a.size(); ++k) {
    uint32_t v = a[k], reversed = 0;
    for (int b = 0; b < 32; ++b)
      reversed |= (v >> b & 1) << (31 - b);
    uint64_t both = static_cast<uint64_t>(~v) << 32 | v, funnel = static_cast<uint64_t>(v * 7) << 32 | v;
    auto byte = [&](int n) { return static_cast<uint32_t>(both >> (8 * n) & 0xff); };
    const uint32_t want[8] = {static_cast<uint32_t>(std::popcount(v)),
                              static_cast<uint32_t>(std::countl_zero(v)),
                              reversed,
                              v ? static_cast<uint32_t>(std::countr_zero(v)) + 1 : 0,
                              byte(6) | byte(7) << 8 | byte(2) << 16 | byte(5) << 24,
                              static_cast<uint32_t>(funnel << (v & 31) >> 32),
                              static_cast<uint32_t>(static_cast<uint64_t>(v) * 0x9e3779b9u >> 32),
                              (v > 12345 ? v - 12345 : 12345 - v) + 7};
    for (size_t j = 0; j < 8; ++j)
      ASSERT_EQ(got[k * 8 + j], want[j]) << "operation " << j << " of " << v;
  }
}

} // namespace
} // namespace tenon::kernels
