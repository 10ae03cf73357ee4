// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor-core kernels. The inputs are small integers, so that every product and sum is exact in any order.
#include "tests/kernels/driver.h"

#include <bit>

namespace tenon::kernels {
namespace {

using MatrixKernels = Kernels;

int small(Random &random) {
  return static_cast<int>(random.next() % 17) - 8;
}

/// C[m][8] = start + A[m][k] B[k][8].
template <typename T> std::vector<T> product(const std::vector<int> &a, const std::vector<int> &b, size_t k, T start) {
  std::vector<T> c(16 * 8, start);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j)
      for (size_t t = 0; t < k; ++t)
        c[i * 8 + j] += static_cast<T>(a[i * k + t] * b[t * 8 + j]);
  return c;
}
std::vector<int> integers(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<int> out(count);
  for (int &value : out)
    value = small(random);
  return out;
}

TEST_F(MatrixKernels, HalfThroughLdmatrix) {
  TENON_KERNEL("matrix", "mma_f16");
  auto a = integers(256, 1), b = integers(128, 2);
  std::vector<uint16_t> ha, hb;
  for (int v : a)
    ha.push_back(std::bit_cast<uint16_t>(static_cast<_Float16>(v)));
  for (int v : b)
    hb.push_back(std::bit_cast<uint16_t>(static_cast<_Float16>(v)));
  Array<uint16_t> da(ha), db(hb);
  Array<float> dc(128);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  EXPECT_EQ(dc.read(), product<float>(a, b, 16, 0));
}

TEST_F(MatrixKernels, Tf32) {
  TENON_KERNEL("matrix", "mma_tf32");
  if (driver().capability < 80)
    GTEST_SKIP() << "tf32 needs compute capability 8.0";
  auto a = integers(128, 3), b = integers(64, 4);
  Array<float> da(std::vector<float>(a.begin(), a.end())), db(std::vector<float>(b.begin(), b.end())), dc(128);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  EXPECT_EQ(dc.read(), product<float>(a, b, 8, 1));
}

TEST_F(MatrixKernels, Int8) {
  TENON_KERNEL("matrix", "mma_s8");
  if (driver().capability < 80)
    GTEST_SKIP() << "mma m16n8k32 needs compute capability 8.0";
  auto a = integers(512, 5), b = integers(256, 6);
  Array<int8_t> da(std::vector<int8_t>(a.begin(), a.end())), db(std::vector<int8_t>(b.begin(), b.end()));
  Array<int> dc(128);
  ASSERT_EQ(launch({1}, {32}, 0, da.address, db.address, dc.address), CUDA_SUCCESS);
  EXPECT_EQ(dc.read(), product<int>(a, b, 32, 0));
}

} // namespace
} // namespace tenon::kernels
