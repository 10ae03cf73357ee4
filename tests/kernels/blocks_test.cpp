// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads work together, against plain loops on the host.
#include "tests/kernels/driver.h"

#include <algorithm>
#include <cmath>

namespace tenon::kernels {
namespace {

using BlockKernels = Kernels;

std::vector<float> reals(size_t count, double low, double high, uint64_t seed = 1) {
  Random random(seed);
  std::vector<float> out(count);
  for (float &value : out)
    value = static_cast<float>(random.real(low, high));
  return out;
}
std::vector<int> integers(size_t count, int limit, uint64_t seed = 1) {
  Random random(seed);
  std::vector<int> out(count);
  for (int &value : out)
    value = static_cast<int>(random.next() % static_cast<uint32_t>(limit));
  return out;
}

TEST_F(BlockKernels, Softmax) {
  TENON_KERNEL("blocks", "softmax");
  const size_t rows = 8, columns = 300;
  auto in = reals(rows * columns, -5, 5);
  Array<float> din(in), out(in.size());
  ASSERT_EQ(launch({rows}, {128}, 0, din.address, out.address, static_cast<int>(columns)), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (size_t c = 0; c < columns; ++c)
      sum += std::exp(static_cast<double>(in[r * columns + c]));
    for (size_t c = 0; c < columns; ++c) {
      double want = std::exp(static_cast<double>(in[r * columns + c])) / sum;
      ASSERT_NEAR(got[r * columns + c], want, 2e-6 * want + 1e-9);
    }
  }
}

TEST_F(BlockKernels, Layernorm) {
  TENON_KERNEL("blocks", "layernorm");
  const size_t rows = 5, columns = 200;
  auto in = reals(rows * columns, -2, 3), gain = reals(columns, 0.5, 2, 9);
  Array<float> din(in), dgain(gain), out(in.size());
  ASSERT_EQ(launch({rows}, {64}, 0, din.address, dgain.address, out.address, static_cast<int>(columns)), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t r = 0; r < rows; ++r) {
    double s = 0, q = 0;
    for (size_t c = 0; c < columns; ++c) {
      s += in[r * columns + c];
      q += static_cast<double>(in[r * columns + c]) * in[r * columns + c];
    }
    s /= columns;
    q /= columns;
    for (size_t c = 0; c < columns; ++c)
      ASSERT_NEAR(got[r * columns + c], (in[r * columns + c] - s) / std::sqrt(q - s * s + 1e-5) * gain[c], 1e-5);
  }
}

TEST_F(BlockKernels, ReduceWithShufflesAndAtomics) {
  TENON_KERNEL("blocks", "reduce");
  auto in = integers(5000, 1000);
  Array<int> din(in), out(1);
  ASSERT_EQ(launch({7}, {96}, 0, din.address, out.address, 5000), CUDA_SUCCESS);
  int want = 0;
  for (int v : in)
    want += v;
  EXPECT_EQ(out.read()[0], want);
}

TEST_F(BlockKernels, TiledMatmul) {
  TENON_KERNEL("blocks", "matmul");
  const size_t m = 48, n = 64, k = 80;
  auto a = reals(m * k, -1, 1), b = reals(k * n, -1, 1, 2);
  Array<float> da(a), db(b), dc(m * n);
  ASSERT_EQ(launch({n / 16, m / 16}, {16, 16}, 0, da.address, db.address, dc.address, int(m), int(n), int(k)),
            CUDA_SUCCESS);
  auto got = dc.read();
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      float want = 0; // the kernel's own order, fused: bit-exact
      for (size_t t = 0; t < k; ++t)
        want = std::fmaf(a[i * k + t], b[t * n + j], want);
      ASSERT_EQ(got[i * n + j], want);
    }
}

TEST_F(BlockKernels, Transpose) {
  TENON_KERNEL("blocks", "transpose");
  const size_t rows = 70, columns = 45;
  auto in = reals(rows * columns, -1, 1);
  Array<float> din(in), out(in.size());
  ASSERT_EQ(launch({2, 3}, {32, 8}, 0, din.address, out.address, int(rows), int(columns)), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      ASSERT_EQ(got[j * rows + i], in[i * columns + j]);
}

TEST_F(BlockKernels, Histogram) {
  TENON_KERNEL("blocks", "histogram");
  std::vector<uint8_t> in(4000);
  Random random;
  for (auto &v : in)
    v = static_cast<uint8_t>(random.next() % 200);
  Array<uint8_t> din(in);
  Array<uint32_t> out(256);
  ASSERT_EQ(launch({4}, {128}, 0, din.address, out.address, 4000), CUDA_SUCCESS);
  std::vector<uint32_t> want(256);
  for (auto v : in)
    ++want[v];
  EXPECT_EQ(out.read(), want);
}

TEST_F(BlockKernels, ScanInDynamicSharedMemory) {
  TENON_KERNEL("blocks", "scan");
  auto in = integers(512, 100);
  Array<int> din(in), out(in.size());
  ASSERT_EQ(launch({2}, {256}, 1024, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  int sum = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    sum = (k % 256 ? sum : 0) + in[k];
    ASSERT_EQ(got[k], sum);
  }
}

TEST_F(BlockKernels, BitonicSort) {
  TENON_KERNEL("blocks", "bitonic");
  auto in = integers(512, 10000);
  Array<int> data(in);
  ASSERT_EQ(launch({1}, {512}, 2048, data.address), CUDA_SUCCESS);
  std::sort(in.begin(), in.end());
  EXPECT_EQ(data.read(), in);
}

TEST_F(BlockKernels, CooperativeGroups) {
  TENON_KERNEL("blocks", "groups");
  auto in = integers(64, 50);
  Array<int> din(in), out(in.size());
  ASSERT_EQ(launch({1}, {64}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t t = 0; t < in.size(); ++t) {
    int v = 0;
    for (size_t k = 0; k < 8; ++k)
      v += in[t / 8 * 8 + k];
    if (in[t] & 1) {
      int size = 0, rank = 0;
      for (size_t k = t / 32 * 32; k < t / 32 * 32 + 32; ++k) {
        size += in[k] & 1;
        rank += (in[k] & 1) && k < t;
      }
      v += 1000 * size + rank;
    }
    ASSERT_EQ(got[t], v) << t;
  }
}

TEST_F(BlockKernels, GridSynchronisation) {
  TENON_KERNEL("blocks", "gridsync");
  int n = 4 * 64;
  Array<int> data(256);
  void *parameters[] = {&data.address, &n};
  ASSERT_EQ(driver().cuLaunchCooperativeKernel_(function_, 4, 1, 1, 64, 1, 1, 0, nullptr, parameters), CUDA_SUCCESS);
  auto got = data.read();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(got[static_cast<size_t>(i)], (i + 1) % n * 2);
}

TEST_F(BlockKernels, ShufflesInDivergentCode) {
  TENON_KERNEL("blocks", "divergent");
  auto in = integers(32, 20);
  Array<int> din(in), out(in.size());
  ASSERT_EQ(launch({1}, {32}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  // The host plays the warp: odd lanes take the first odd lane's value three times.
  std::vector<int> want = in;
  size_t first = 0;
  while (!(in[first] & 1))
    ++first;
  for (int k = 0; k < 3; ++k) {
    int leader = want[first];
    for (size_t l = 0; l < 32; ++l)
      if (in[l] & 1)
        want[l] += leader;
  }
  int large = 0;
  for (size_t l = 0; l < 32; ++l)
    if (!(in[l] & 1))
      large += in[l] * 2 > 4;
  for (size_t l = 0; l < 32; ++l)
    if (!(in[l] & 1))
      want[l] = in[l] * 2 - large;
  EXPECT_EQ(got, want);
}

TEST_F(BlockKernels, BlockVotesAndMatch) {
  TENON_KERNEL("blocks", "votes");
  auto in = integers(96, 30);
  in[5] = 7;
  Array<int> din(in), out(in.size());
  ASSERT_EQ(launch({1}, {96}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  int odd = 0;
  for (int v : in)
    odd += v & 1;
  for (size_t t = 0; t < in.size(); ++t) {
    int same = 0;
    for (size_t k = t / 32 * 32; k < t / 32 * 32 + 32; ++k)
      same += in[k] % 4 == in[t] % 4;
    ASSERT_EQ(got[t], odd + 100000 + 1000000 + 2000000 * same) << t;
  }
}

TEST_F(BlockKernels, SpinLockWithinAWarp) {
  TENON_KERNEL("blocks", "spinlock");
  Array<int> lock(1), count(1);
  ASSERT_EQ(launch({2}, {48}, 0, lock.address, count.address, 3), CUDA_SUCCESS);
  EXPECT_EQ(count.read()[0], 2 * 48 * 3);
}

TEST_F(BlockKernels, NamedBarriers) {
  TENON_KERNEL("blocks", "named");
  Array<int> out(128);
  ASSERT_EQ(launch({1}, {128}, 0, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (int t = 0; t < 128; ++t)
    ASSERT_EQ(got[static_cast<size_t>(t)], t < 64 ? 63 - t : (64 + 127 - t) + 0 + 63) << t;
}

TEST_F(BlockKernels, AsynchronousCopies) {
  TENON_KERNEL("blocks", "pipeline");
  auto in = reals(5 * 64 * 4, -1, 1);
  Array<float> din(in), out(in.size());
  ASSERT_EQ(launch({1}, {64}, 0, din.address, out.address, 5), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t tile = 0; tile < 5; ++tile)
    for (size_t k = 0; k < 256; ++k)
      ASSERT_EQ(got[tile * 256 + k], in[tile * 256 + 255 - k]);
}

} // namespace
} // namespace tenon::kernels
