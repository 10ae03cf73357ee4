// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls, pointers, tables, local memory, printf, assert, the device heap.
#include "tests/kernels/driver.h"

namespace tenon::kernels {
namespace {

using CallKernels = Kernels;

TEST_F(CallKernels, Recursion) {
  TENON_KERNEL("calls", "recursion");
  Array<int> out(64);
  ASSERT_EQ(launch({1}, {64}, 0, out.address), CUDA_SUCCESS);
  const int fibonacci[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  auto got = out.read();
  for (size_t t = 0; t < 64; ++t)
    ASSERT_EQ(got[t], fibonacci[t % 12]);
}

TEST_F(CallKernels, FunctionPointers) {
  TENON_KERNEL("calls", "pointers");
  std::vector<int> a(64), b(64);
  for (int t = 0; t < 64; ++t) {
    a[static_cast<size_t>(t)] = t * 7;
    b[static_cast<size_t>(t)] = 50 - t;
  }
  Array<int> da(a), db(b), out(64);
  ASSERT_EQ(launch({1}, {64}, 0, da.address, db.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t t = 0; t < 64; ++t)
    ASSERT_EQ(got[t], t % 3 == 0 ? a[t] + b[t] : t % 3 == 1 ? a[t] * b[t] : a[t] - b[t]);
}

TEST_F(CallKernels, StructuresByValueAndConstants) {
  TENON_KERNEL("calls", "aggregates");
  struct Pack {
    int values[5];
    short small;
    double big;
  } pack{{10, 20, 30, 40, 50}, -3, 0.25};
  Array<double> out(32);
  ASSERT_EQ(launch({1}, {32}, 0, pack, out.address), CUDA_SUCCESS);
  const int table[5] = {3, 1, 4, 1, 5};
  auto got = out.read();
  for (size_t t = 0; t < 32; ++t)
    ASSERT_EQ(got[t], pack.values[t % 5] * table[t % 5] - 0.75);
}

TEST_F(CallKernels, LocalArrays) {
  TENON_KERNEL("calls", "locals");
  std::vector<int> in(32);
  for (int t = 0; t < 32; ++t)
    in[static_cast<size_t>(t)] = t * 13 + 5;
  Array<int> din(in), out(32);
  ASSERT_EQ(launch({1}, {32}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t t = 0; t < 32; ++t) {
    int sum = 0;
    for (size_t i = 0; i < 64; ++i)
      sum += static_cast<uint8_t>(in[(t + (static_cast<size_t>(in[i % 32]) * 7 + i) % 64) % 32]);
    ASSERT_EQ(got[t], sum);
  }
}

TEST_F(CallKernels, Switch) {
  TENON_KERNEL("calls", "chooses");
  std::vector<int> in(64);
  for (int t = 0; t < 64; ++t)
    in[static_cast<size_t>(t)] = t % 9;
  Array<int> din(in), out(64);
  ASSERT_EQ(launch({1}, {64}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  const int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  for (int t = 0; t < 64; ++t) {
    const int want[9] = {11, t * 3, table[t & 15], -t, t ^ 0x55, t * 4, 99 - t, -1, -1};
    ASSERT_EQ(got[static_cast<size_t>(t)], want[t % 9]) << t;
  }
}

TEST_F(CallKernels, LoopsOfDifferentLength) {
  TENON_KERNEL("calls", "collatz");
  Array<int> out(200);
  ASSERT_EQ(launch({1}, {200}, 0, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (unsigned t = 0; t < 200; ++t) {
    unsigned v = t + 1;
    int c = 0;
    while (v != 1) {
      v = v & 1 ? 3 * v + 1 : v / 2;
      ++c;
    }
    ASSERT_EQ(got[t], c) << t;
  }
}

TEST_F(CallKernels, Printf) {
  TENON_KERNEL("calls", "prints");
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(launch({1}, {32}, 0, 2), CUDA_SUCCESS);
  fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "thread 0 of block: 0.000 123456789abc z%\nthread 1 of block: 1.500 123456789abc z%\n");
}

TEST_F(CallKernels, Heap) {
  TENON_KERNEL("calls", "heap");
  Array<int> out(64);
  ASSERT_EQ(launch({1}, {64}, 0, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (int t = 0; t < 64; ++t)
    ASSERT_EQ(got[static_cast<size_t>(t)], t * 120);
}

} // namespace
} // namespace tenon::kernels
