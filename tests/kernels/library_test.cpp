// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUB's block algorithms and those of cooperative groups against the host.
#include "tests/kernels/driver.h"

#include <algorithm>
#include <numeric>

namespace tenon::kernels {
namespace {

using LibraryKernels = Kernels;

TEST_F(LibraryKernels, BlockReduce) {
  TENON_KERNEL("library", "blockReduce");
  auto in = integers(3 * 128, 1, -1000, 999);
  Array<int> din(in), sums(3);
  Array<float> largest(3);
  ASSERT_EQ(launch({3}, {128}, 0, din.address, sums.address, largest.address), CUDA_SUCCESS);
  auto gotSums = sums.read();
  auto gotLargest = largest.read();
  for (size_t b = 0; b < 3; ++b) {
    auto begin = in.begin() + static_cast<ptrdiff_t>(b * 128), end = begin + 128;
    EXPECT_EQ(gotSums[b], std::accumulate(begin, end, 0));
    EXPECT_EQ(gotLargest[b], 0.5f * static_cast<float>(*std::max_element(begin, end)));
  }
}

TEST_F(LibraryKernels, BlockScan) {
  TENON_KERNEL("library", "blockScan");
  auto in = integers(512, 2, -1000, 999);
  Array<int> din(in), inclusive(512), exclusive(512);
  ASSERT_EQ(launch({1}, {128}, 0, din.address, inclusive.address, exclusive.address), CUDA_SUCCESS);
  auto gotInclusive = inclusive.read(), gotExclusive = exclusive.read();
  int sum = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    ASSERT_EQ(gotExclusive[k], sum);
    ASSERT_EQ(gotInclusive[k], sum += in[k]);
  }
}

TEST_F(LibraryKernels, BlockRadixSort) {
  TENON_KERNEL("library", "blockSort");
  std::vector<unsigned> keys(512);
  Random random(3);
  for (unsigned &key : keys)
    key = random.next() % 300 * 0x01010101u; // with equal ones: the sort is stable
  Array<unsigned> dkeys(keys);
  Array<int> positions(512);
  ASSERT_EQ(launch({1}, {128}, 0, dkeys.address, positions.address), CUDA_SUCCESS);
  std::vector<int> order(512);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(keys[static_cast<size_t>(a)], a) < std::pair(keys[static_cast<size_t>(b)], b);
  });
  EXPECT_EQ(positions.read(), order);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(dkeys.read(), keys);
}

TEST_F(LibraryKernels, BlockHistogram) {
  TENON_KERNEL("library", "blockHistogram");
  std::vector<uint8_t> in(512);
  std::vector<unsigned> want(64);
  Random random(4);
  for (uint8_t &value : in)
    ++want[(value = static_cast<uint8_t>(random.next())) % 64];
  Array<uint8_t> din(in);
  Array<unsigned> out(64);
  ASSERT_EQ(launch({1}, {128}, 0, din.address, out.address), CUDA_SUCCESS);
  EXPECT_EQ(out.read(), want);
}

TEST_F(LibraryKernels, AlgorithmsOfGroups) {
  TENON_KERNEL("library", "groupAlgorithms");
  auto in = integers(64, 5, -1000, 999);
  Array<int> din(in), out(5 * 64);
  ASSERT_EQ(launch({1}, {64}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t t = 0; t < 64; ++t) {
    auto begin = in.begin() + static_cast<ptrdiff_t>(t / 16 * 16), end = begin + 16,
         here = in.begin() + static_cast<ptrdiff_t>(t);
    EXPECT_EQ(got[5 * t], std::accumulate(begin, end, 0));
    EXPECT_EQ(got[5 * t + 1], *std::max_element(begin, end));
    EXPECT_EQ(got[5 * t + 2], std::accumulate(begin, here + 1, 0));
    EXPECT_EQ(got[5 * t + 3], std::accumulate(begin, here, 0));
    int odd = 0; // of the warp
    for (size_t k = t / 32 * 32; k < t / 32 * 32 + 32; ++k)
      odd += in[k] & 1 ? in[k] : 0;
    EXPECT_EQ(got[5 * t + 4], in[t] & 1 ? odd : 0);
  }
}

} // namespace
} // namespace tenon::kernels
