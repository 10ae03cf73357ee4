// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of cub.cu against the host.
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>
#include <numeric>

namespace tenon::corpus {
namespace {

using Cub = CorpusTest;

void expectBlockSums(const char *name) {
  const size_t n = 1200;
  const auto in = reals(n, 1);
  std::vector<double> want(3);
  for (size_t i = 0; i < n; ++i)
    want[i / 512] += in[i];
  Kernel kernel("cub", name);
  kernel.i32(n).in(in).out<float>(3).grid(3);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(1), want, 1e-4); });
}
TEST_F(Cub, ReduceRaking) {
  expectBlockSums("cub_reduce_raking");
}
TEST_F(Cub, ReduceOfWarps) {
  expectBlockSums("cub_reduce_warps");
}

template <typename Key, typename Value> struct Sorted {
  std::vector<Key> keys;
  std::vector<Value> values;

  /// Blocks of 512, stable by what `of` takes of a key.
  Sorted(const std::vector<Key> &k, const std::vector<Value> &v, const std::function<uint64_t(Key)> &of)
      : keys(k), values(v) {
    for (size_t b = 0; b < k.size(); b += 512) {
      std::vector<size_t> order(512);
      std::iota(order.begin(), order.end(), b);
      std::sort(order.begin(), order.end(),
                [&](size_t i, size_t j) { return std::pair(of(k[i]), i) < std::pair(of(k[j]), j); });
      for (size_t i = 0; i < 512; ++i)
        keys[b + i] = k[order[i]], values[b + i] = v[order[i]];
    }
  }
};

TEST_F(Cub, SortFloats) {
  const auto keys = reals(1024, 2, -3, 3);
  const auto values = integers(1024, 3, 0, 1 << 20);
  const Sorted<float, int> want(keys, values,
                                [](float key) { return uint64_t(int64_t(double(key) * 1e12) + (1ll << 62)); });
  Kernel kernel("cub", "cub_sort_floats");
  kernel.i32(32).in(keys).in(values).out<float>(1024).out<int>(1024).grid(2);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<float>(2), want.keys);
    EXPECT_EQ(r.get<int>(3), want.values);
  });
}

TEST_F(Cub, SortLongsByTheirLowBits) {
  Random random(4);
  std::vector<int64_t> keys(512);
  std::vector<int16_t> values(512);
  for (size_t i = 0; i < 512; ++i)
    keys[i] = int64_t(uint64_t(random.next()) << 32 | random.next() % 97), values[i] = int16_t(i);
  const Sorted<int64_t, int16_t> want(keys, values, [](int64_t key) { return uint64_t(key) & 0xfff; });
  Kernel kernel("cub", "cub_sort_longs");
  kernel.in(keys).in(values).i32(12).out<int64_t>(512).out<int16_t>(512);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<int64_t>(2), want.keys);
    EXPECT_EQ(r.get<int16_t>(3), want.values);
  });
}

TEST_F(Cub, ScanPairs) {
  const size_t n = 200;
  std::vector<int> segments(n);
  Random random(5);
  for (size_t i = 1; i < n; ++i)
    segments[i] = segments[i - 1] + (random.next() % 6 == 0);
  const auto in = reals(n, 6);
  std::vector<double> want(n);
  for (size_t i = 0; i < n; ++i)
    want[i] = in[i] + (i && segments[i] == segments[i - 1] ? want[i - 1] : 0);
  Kernel kernel("cub", "cub_scan_pairs");
  kernel.i32(n).in(segments).in(in).out<float>(n);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(2), want, 1e-5); });
}

TEST_F(Cub, MergeSort) {
  const size_t n = 300;
  Random random(7);
  std::vector<uint64_t> in(n);
  for (uint64_t &value : in)
    value = uint64_t(random.next()) << 32 | random.next();
  auto want = in;
  std::sort(want.begin(), want.end());
  Kernel kernel("cub", "cub_merge_sort");
  kernel.i32(n).in(in).out<uint64_t>(n);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<uint64_t>(1), want); });
}

TEST_F(Cub, Warps) {
  const float bias = 0.25f;
  const auto in = reals(192, 8);
  std::vector<int> ranks(192);
  std::vector<float> sums(192, -9);
  std::vector<double> want(192, -9);
  for (size_t i = 0; i < 192; ++i) {
    for (size_t j = i / 32 * 32; j < i; ++j)
      ranks[i] += in[j] + bias > 0;
    if (i % 16 % 5 == 0) {
      want[i] = 0;
      for (size_t j = i; j < i / 16 * 16 + 16 && (j == i || j % 16 % 5); ++j)
        want[i] += double(in[j]) + bias;
    }
  }
  Kernel kernel("cub", "cub_warps");
  kernel.f32(bias).in(in).out<int>(192).inout(sums).grid(2);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<int>(1), ranks);
    expectNear(r.get<float>(2), want, 1e-5);
  });
}

TEST_F(Cub, RunLengths) {
  const size_t runs = 100;
  const auto in = integers(runs, 9, -1000, 1000), drawn = integers(runs, 10, 1, 9);
  const std::vector<unsigned> lengths(drawn.begin(), drawn.end());
  std::vector<int> want;
  for (size_t i = 0; i < runs; ++i)
    want.insert(want.end(), lengths[i], in[i]);
  Kernel kernel("cub", "cub_run_lengths");
  kernel.in(in).i32(runs).in(lengths).out<int>(want.size());
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(2), want); });
}

TEST_F(Cub, Compact) {
  const auto in = integers(256, 11, 0, 100);
  std::vector<int> want;
  for (size_t i = 0; i < 256; ++i)
    if (std::abs(i ? in[i] - in[i - 1] : in[0]) > 30)
      want.push_back(in[i]);
  Kernel kernel("cub", "cub_compact");
  kernel.i32(30).out<int>(1).in(in).out<int>(256);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<int>(0)[0], int(want.size()));
    auto got = r.get<int>(2);
    got.resize(want.size());
    EXPECT_EQ(got, want);
  });
}

} // namespace
} // namespace tenon::corpus
