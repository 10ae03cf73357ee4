// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma, double buffering and mbarriers. Inputs are small integers, so that every product and sum is exact in any order.
#include "tests/kernels/driver.h"

#include <bit>

namespace tenon::kernels {
namespace {

using TensorKernels = Kernels;

uint16_t half(int value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}
uint16_t bfloat(int value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}
template <typename T>
std::vector<T> as(const std::vector<int> &values, T (*convert)(int) = [](int v) { return T(v); }) {
  std::vector<T> out;
  for (int value : values)
    out.push_back(convert(value));
  return out;
}
/// C[m][n] = start + A B; element (i, j) of each at i * stride + j * step.
struct Layout {
  size_t stride, step;
};
std::vector<int> product(const std::vector<int> &a, Layout la, const std::vector<int> &b, Layout lb, size_t m, size_t n,
                         size_t k) {
  std::vector<int> c(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t t = 0; t < k; ++t)
        c[i * n + j] += a[i * la.stride + t * la.step] * b[t * lb.stride + j * lb.step];
  return c;
}

#define NEEDS(arch, what)                                                                                              \
  if (driver().capability < arch)                                                                                      \
  GTEST_SKIP() << what " needs compute capability " << arch / 10 << "." << arch % 10

TEST_F(TensorKernels, WmmaHalfMatmul) {
  TENON_KERNEL("tensor", "wmma_f16");
  const size_t m = 32, n = 48, k = 64;
  auto a = integers(m * k, 1, -8, 8), b = integers(n * k, 2, -8, 8);
  Array<uint16_t> da(as<uint16_t>(a, half)), db(as<uint16_t>(b, half));
  Array<float> dc(m * n);
  ASSERT_EQ(launch({n / 16, m / 16}, {32}, 0, da.address, db.address, dc.address, int(n), int(k)), CUDA_SUCCESS);
  auto want = product(a, {k, 1}, b, {1, k}, m, n, k);
  for (int &value : want)
    value *= 2;
  EXPECT_EQ(dc.read(), as<float>(want));
}

TEST_F(TensorKernels, WmmaHalfAccumulators) {
  struct Case {
    const char *kernel;
    size_t m, n;
  };
  for (const Case &shape : {Case{"wmma_half_32x8", 32, 8}, Case{"wmma_half_8x32", 8, 32}}) {
    TENON_KERNEL("tensor", shape.kernel);
    auto a = integers(shape.m * 16, 3, -8, 8), b = integers(16 * shape.n, 4, -8, 8),
         c = integers(shape.m * shape.n, 5, -8, 8);
    Array<uint16_t> da(as<uint16_t>(a, half)), db(as<uint16_t>(b, half)), dc(as<uint16_t>(c, half));
    Array<uint16_t> dd(shape.m * shape.n);
    ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address, dd.address), CUDA_SUCCESS);
    auto want = product(a, {1, shape.m}, b, {shape.n, 1}, shape.m, shape.n, 16);
    for (size_t i = 0; i < shape.m; ++i)
      for (size_t j = 0; j < shape.n; ++j)
        want[i * shape.n + j] += c[j * shape.m + i];
    EXPECT_EQ(dd.read(), as<uint16_t>(want, half)) << shape.kernel;
    TearDown();
    module_ = nullptr;
  }
}

TEST_F(TensorKernels, WmmaInt8) {
  TENON_KERNEL("tensor", "wmma_s8");
  auto a = integers(256, 6, -8, 8), b = integers(256, 7, -8, 8);
  Array<int8_t> da(as<int8_t>(a)), db(as<int8_t>(b));
  Array<int> dc(256);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  auto want = product(a, {16, 1}, b, {16, 1}, 16, 16, 16);
  for (int &value : want)
    value += 3;
  EXPECT_EQ(dc.read(), want);
}

TEST_F(TensorKernels, WmmaBfloat) {
  NEEDS(80, "bf16");
  TENON_KERNEL("tensor", "wmma_bf16");
  auto a = integers(256, 8, -8, 8), b = integers(256, 9, -8, 8);
  Array<uint16_t> da(as<uint16_t>(a, bfloat)), db(as<uint16_t>(b, bfloat));
  Array<float> dc(256);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  EXPECT_EQ(dc.read(), as<float>(product(a, {16, 1}, b, {16, 1}, 16, 16, 16)));
}

TEST_F(TensorKernels, WmmaTf32) {
  NEEDS(80, "tf32");
  TENON_KERNEL("tensor", "wmma_tf32");
  auto a = integers(128, 10, -8, 8), b = integers(128, 11, -8, 8);
  Array<float> da(as<float>(a)), db(as<float>(b)), dc(256);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  EXPECT_EQ(dc.read(), as<float>(product(a, {8, 1}, b, {16, 1}, 16, 16, 8)));
}

TEST_F(TensorKernels, WmmaDouble) {
  NEEDS(80, "wmma of f64");
  TENON_KERNEL("tensor", "wmma_f64");
  auto a = integers(32, 12, -8, 8), b = integers(32, 13, -8, 8);
  Array<double> da(as<double>(a)), db(as<double>(b)), dc(64);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  auto want = as<double>(product(a, {4, 1}, b, {8, 1}, 8, 8, 4));
  for (double &value : want)
    value += 0.5;
  EXPECT_EQ(dc.read(), want);
}

TEST_F(TensorKernels, MatmulInTwoBuffers) {
  NEEDS(80, "cp.async");
  TENON_KERNEL("tensor", "matmul_double_buffered");
  const size_t n = 64;
  auto a = integers(n * n, 14, -8, 8), b = integers(n * n, 15, -8, 8);
  Array<float> da(as<float>(a)), db(as<float>(b)), dc(n * n);
  ASSERT_EQ(launch({n / 16, n / 16}, {16, 16}, 0, da.address, db.address, dc.address, int(n)), CUDA_SUCCESS);
  EXPECT_EQ(dc.read(), as<float>(product(a, {n, 1}, b, {n, 1}, n, n, n)));
}

TEST_F(TensorKernels, MbarrierPipeline) {
  NEEDS(90, "this kernel");
  TENON_KERNEL("tensor", "mbarrier_pipeline");
  const size_t tiles = 5;
  auto in = integers(tiles * 128, 16, -8, 8);
  Array<float> din(as<float>(in)), dout(128);
  ASSERT_EQ(launch({1}, {128}, 0, din.address, dout.address, int(tiles)), CUDA_SUCCESS);
  std::vector<float> want(128);
  for (size_t k = 0; k < in.size(); ++k)
    want[k % 128] += static_cast<float>(in[k]);
  EXPECT_EQ(dout.read(), want);
}

TEST_F(TensorKernels, MbarrierStates) {
  NEEDS(90, "this kernel");
  TENON_KERNEL("tensor", "mbarrier_state");
  Array<uint32_t> out(64);
  ASSERT_EQ(launch({1}, {64}, 0, out.address), CUDA_SUCCESS);
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < 64; ++t)
    want.push_back((63 - t) * 3 + 1000);
  EXPECT_EQ(out.read(), want);
}

} // namespace
} // namespace tenon::kernels
