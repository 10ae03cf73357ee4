// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over compare-and-swap, and libcu++'s barriers, pipelines and atomics, against the host.
#include "tests/kernels/driver.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tenon::kernels {
namespace {

using AtomicKernels = Kernels;

TEST_F(AtomicKernels, SumDoubles) {
  TENON_KERNEL("atomics", "sumDoubles");
  auto in = integers(500, 21, -1000, 999);
  Array<int> din(in);
  Array<double> out(1);
  ASSERT_EQ(launch({4}, {128}, 0, din.address, out.address, 500), CUDA_SUCCESS);
  EXPECT_EQ(out.read()[0], std::accumulate(in.begin(), in.end(), 0));
}

TEST_F(AtomicKernels, LargestFloat) {
  TENON_KERNEL("atomics", "largestFloat");
  std::vector<float> in(500);
  Random random(22);
  for (float &value : in)
    value = static_cast<float>(random.real(1, 1000));
  Array<float> din(in);
  Array<int> out(1);
  ASSERT_EQ(launch({4}, {128}, 0, din.address, out.address, 500), CUDA_SUCCESS);
  EXPECT_EQ(std::bit_cast<float>(out.read()[0]), *std::max_element(in.begin(), in.end()));
}

TEST_F(AtomicKernels, ContainsLarger) {
  TENON_KERNEL("atomics", "containsLarger");
  auto in = integers(512, 23, 0, 99);
  in[300] = in[301] = in[400] = 500; // the second block, in three warps
  Array<int> din(in), out(2);
  ASSERT_EQ(launch({2}, {256}, 0, din.address, out.address, 100), CUDA_SUCCESS);
  EXPECT_EQ(out.read(), (std::vector<int>{0, 1}));
}

TEST_F(AtomicKernels, RotateBetweenBarriers) {
  TENON_KERNEL("atomics", "rotate");
  auto in = integers(256, 24, -1000, 999);
  Array<int> din(in), out(256);
  ASSERT_EQ(launch({1}, {256}, 0, din.address, out.address, 5), CUDA_SUCCESS);
  std::rotate(in.begin(), in.begin() + 5, in.end());
  EXPECT_EQ(out.read(), in);
}

TEST_F(AtomicKernels, ReverseBatchesInAPipeline) {
  TENON_KERNEL("atomics", "reverseBatches");
  const size_t threads = 96, batches = 5;
  auto in = integers(2 * batches * threads, 25, -1000, 999);
  Array<int> din(in), out(in.size());
  ASSERT_EQ(launch({2}, {unsigned(threads)}, 2 * threads * sizeof(int), din.address, out.address, int(batches)),
            CUDA_SUCCESS);
  for (auto at = in.begin(); at != in.end(); at += threads)
    std::reverse(at, at + threads);
  EXPECT_EQ(out.read(), in);
}

TEST_F(AtomicKernels, References) {
  TENON_KERNEL("atomics", "references");
  auto in = integers(256, 26, 0, 999);
  Array<int> din(in), out(4);
  ASSERT_EQ(launch({2}, {128}, 0, din.address, out.address), CUDA_SUCCESS);
  EXPECT_EQ(out.read(), (std::vector<int>{std::accumulate(in.begin(), in.end(), 0),
                                          *std::max_element(in.begin(), in.end()), in[33], in[128 + 33]}));
}

} // namespace
} // namespace tenon::kernels
