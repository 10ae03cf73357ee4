// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of groups.cu against the host.
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>
#include <complex>
#include <numeric>

namespace tenon::corpus {
namespace {

using Groups = CorpusTest;

TEST_F(Groups, TileSums) {
  const auto in = integers(128, 1, -100, 100);
  std::vector<int> want(128 * 6);
  for (size_t i = 0; i < 128; ++i)
    for (size_t s = 0; s < 6; ++s) {
      const size_t size = size_t(1) << s;
      for (size_t j = i / size * size; j < i / size * size + size; ++j)
        want[6 * i + s] += in[j];
    }
  Kernel kernel("groups", "tile_sums");
  kernel.i32(6).in(in).out<int>(want.size()).workgroup(64).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Groups, WideTiles) {
  const size_t n = 300;
  const auto in = integers(n, 2, -100, 100);
  std::vector<int> want(2 * n);
  for (size_t i = 0; i < n; ++i) {
    int most = -1000;
    for (size_t j = i / 128 * 128; j < i / 128 * 128 + 128; ++j) {
      want[2 * i] += j < n ? in[j] : 0;
      most = std::max(most, j < n ? in[j] : 0);
    }
    want[2 * i + 1] = most + int(i / 128 % 2);
  }
  Kernel kernel("groups", "wide_tiles");
  kernel.in(in).i32(n).out<int>(2 * n).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Groups, CoalescedCount) {
  const size_t n = 250;
  const auto in = integers(n, 3, 0, 1000);
  std::vector<int> want;
  std::copy_if(in.begin(), in.end(), std::back_inserter(want), [](int value) { return value % 3 == 0; });
  std::sort(want.begin(), want.end());
  Kernel kernel("groups", "coalesced_count");
  kernel.i32(n).i32(3).in(in).inout(std::vector<int>(1)).out<int>(n).workgroup(64).grid(4);
  kernel.run([&](const Results &r) {
    auto got = r.get<int>(2);
    ASSERT_EQ(r.get<int>(1)[0], int(want.size()));
    got.resize(want.size());
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, want);
  });
}

TEST_F(Groups, LabeledGroups) {
  const auto labels = integers(128, 4, 0, 3);
  const auto in = reals(128, 5);
  std::vector<double> sums(128);
  std::vector<unsigned> sizes(128);
  for (size_t i = 0; i < 128; ++i)
    for (size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j)
      if (labels[i] == labels[j])
        sums[i] += in[j], ++sizes[i];
  Kernel kernel("groups", "labeled_groups");
  kernel.in(labels).in(in).out<float>(128).out<unsigned>(128).workgroup(64).grid(2);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(2), sums, 1e-5);
    EXPECT_EQ(r.get<unsigned>(3), sizes);
  });
}

TEST_F(Groups, TileScans) {
  const size_t n = 100;
  const auto in = integers(n, 6, 0, 1000);
  std::vector<int> want(2 * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i / 16 * 16; j <= i; ++j) {
      want[2 * i] += in[j];
      want[2 * i + 1] ^= j < i ? in[j] : 0;
    }
  Kernel kernel("groups", "tile_scans");
  kernel.out<int>(2 * n).in(in).i32(n).workgroup(64).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(0), want); });
}

TEST_F(Groups, GridNormalize) {
  const size_t n = 500;
  const auto data = reals(n, 7, 0, 1);
  const double total = std::accumulate(data.begin(), data.end(), 0.);
  std::vector<double> want(n);
  for (size_t i = 0; i < n; ++i)
    want[i] = data[i] * 2 / total;
  Kernel kernel("groups", "grid_normalize");
  kernel.f32(2).i32(n).inout(data).inout(std::vector<double>(1)).workgroup(64).grid(4).cooperative();
  kernel.run([&](const Results &r) { expectNear(r.get<float>(0), want, 1e-7, 1e-5); });
}

TEST_F(Groups, StagedCopy) {
  const size_t tiles = 3;
  const auto in = integers(2 * tiles * 128, 8, -100, 100);
  std::vector<int> want(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    want[i] = in[i / 128 * 128 + 127 - i % 128] + int(i / 128 % tiles);
  Kernel kernel("groups", "staged_copy");
  kernel.i32(tiles).in(in).out<int>(in.size()).workgroup(128).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Groups, BarrierPipeline) {
  const size_t rounds = 7;
  const auto in = reals(rounds * 64, 9);
  std::vector<float> want(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    want[i] = in[i / 64 * 64 + 63 - i % 64] * 3;
  Kernel kernel("groups", "barrier_pipeline");
  kernel.i32(rounds).in(in).f32(3).out<float>(in.size());
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<float>(1), want); });
}

TEST_F(Groups, PipelineStages) {
  const size_t batches = 5;
  const auto in = integers(2 * batches * 64, 10, -100, 100);
  std::vector<int> want(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    want[i] = 3 * in[i ^ 1];
  Kernel kernel("groups", "pipeline_stages");
  kernel.i64(batches).in(in).out<int>(in.size()).workgroup(64).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Groups, ScopedAtomics) {
  const size_t n = 150;
  const auto in = integers(n, 11, 0, 1000);
  std::vector<uint32_t> flags(3);
  for (size_t i = 0; i < n; ++i)
    flags[i / 64] |= 1u << in[i] % 32;
  const int64_t sum = std::accumulate(in.begin(), in.end(), int64_t(0));
  Kernel kernel("groups", "scoped_atomics");
  kernel.i32(n).in(in).inout(std::vector<uint32_t>(3)).inout(std::vector<int>(1)).inout(std::vector<double>(1));
  kernel.inout(std::vector<int64_t>(1)).workgroup(64).grid(3);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<uint32_t>(1), flags);
    EXPECT_EQ(r.get<int>(2)[0], *std::max_element(in.begin(), in.end()));
    EXPECT_EQ(r.get<double>(3)[0], double(sum) / 2);
    EXPECT_EQ(r.get<int64_t>(4)[0], sum);
  });
}

TEST_F(Groups, ComplexPowersOfStructs) {
  const size_t n = 60;
  struct alignas(16) {
    double re, im;
  } z = {0.25, -1};
  const std::array<int, 4> powers = {0, 1, 2, 5};
  const auto in = reals<double>(2 * n, 12);
  std::vector<double> want;
  for (size_t i = 0; i < n; ++i) {
    std::complex<double> value(1, 0);
    for (int p = 0; p < powers[i % 4]; ++p)
      value *= std::complex<double>(in[2 * i], in[2 * i + 1]);
    want.insert(want.end(), {value.real() + z.re, value.imag() + z.im});
  }
  Kernel kernel("groups", "complex_powers");
  kernel.structure(z).i32(n).structure(powers).in(in).out<double>(2 * n).workgroup(64);
  kernel.run([&](const Results &r) { expectNear(r.get<double>(1), want, 1e-12); });
}

} // namespace
} // namespace tenon::corpus
