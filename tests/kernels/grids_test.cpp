// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose blocks need each other, against the host. With TENON_EMULATOR_THREADS they run at the same time.
#include "tests/kernels/driver.h"

namespace tenon::kernels {
namespace {

using GridKernels = Kernels;

TEST_F(GridKernels, Stencil) {
  TENON_KERNEL("grids", "stencil");
  const int width = 45, height = 70;
  std::vector<float> in(width * height);
  Random random;
  for (float &value : in)
    value = static_cast<float>(random.next() % 256); // sums are exact
  Array<float> din(in), out(in.size());
  ASSERT_EQ(launch({3, 5}, {16, 16}, 0, din.address, out.address, width, height), CUDA_SUCCESS);
  auto got = out.read();
  auto at = [&](int x, int y) {
    return in[static_cast<size_t>(std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1))];
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      ASSERT_EQ(got[static_cast<size_t>(y * width + x)],
                at(x, y) * 4 - at(x - 1, y) - at(x + 1, y) - at(x, y - 1) - at(x, y + 1));
}

TEST_F(GridKernels, ScanLooksBackOverBlocks) {
  TENON_KERNEL("grids", "lookBack");
  const size_t blocks = 40;
  auto in = integers(blocks * 128, 1, -1000, 999);
  Array<int> din(in), out(in.size()), state(blocks), sums(blocks), totals(blocks);
  Array<unsigned> ticket(1);
  ASSERT_EQ(
      launch({blocks}, {128}, 0, din.address, out.address, ticket.address, state.address, sums.address, totals.address),
      CUDA_SUCCESS);
  auto got = out.read();
  int sum = 0;
  for (size_t k = 0; k < in.size(); ++k)
    ASSERT_EQ(got[k], sum += in[k]) << k;
}

TEST_F(GridKernels, TheLastBlockFinishes) {
  TENON_KERNEL("grids", "lastBlock");
  auto in = integers(5000, 1, -1000, 999);
  Array<int> din(in), partial(20), out(1);
  Array<unsigned> count(1);
  ASSERT_EQ(launch({20}, {32}, 0, din.address, partial.address, count.address, out.address, 5000), CUDA_SUCCESS);
  int want = 0;
  for (int v : in)
    want += v;
  EXPECT_EQ(out.read()[0], want);
  EXPECT_EQ(count.read()[0], 0u);
}

TEST_F(GridKernels, QueueGivesEveryNumberOnce) {
  TENON_KERNEL("grids", "queue");
  const int n = 3000;
  Array<int> next(1), taken(n);
  Array<uint64_t> sum(1);
  Array<float> most(1);
  ASSERT_EQ(launch({12}, {96}, 0, next.address, taken.address, sum.address, most.address, n), CUDA_SUCCESS);
  uint64_t want = 0;
  for (uint64_t k = 0; k < n; ++k)
    want += k * k;
  EXPECT_EQ(taken.read(), std::vector<int>(n, 1));
  EXPECT_EQ(sum.read()[0], want);
  EXPECT_EQ(most.read()[0], (n - 1) * 0.5f);
  EXPECT_EQ(next.read()[0], n + 12 * 96);
}

} // namespace
} // namespace tenon::kernels
