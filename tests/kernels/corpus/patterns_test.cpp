// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of patterns.cu against the host.
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>
#include <numeric>

namespace tenon::corpus {
namespace {

using Patterns = CorpusTest;

TEST_F(Patterns, ReduceGridStride) {
  const auto in = integers(3000, 1, -1000, 1000);
  Kernel kernel("patterns", "reduce_grid_stride");
  kernel.in(in).out<int>(4).i32(3000).workgroup(128).grid(4);
  kernel.run([&](const Results &r) {
    const auto out = r.get<int>(1);
    EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), std::accumulate(in.begin(), in.end(), 0));
  });
}

TEST_F(Patterns, ReduceSinglePass) {
  const size_t n = 2000;
  const auto in = reals(n, 2);
  Kernel kernel("patterns", "reduce_single_pass");
  kernel.i32(n).in(in).out<float>(5).out<float>(1).workgroup(128).grid(5).warns("writes variable 'finishedBlocks'");
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(2), std::vector{std::accumulate(in.begin(), in.end(), 0.)}, 1e-4);
  });
}

TEST_F(Patterns, ShuffleScan) {
  const auto in = integers(3 * 256, 3, -50, 50);
  std::vector<int> want(in.size()), sums;
  for (long b = 0; b < 3; ++b) {
    std::partial_sum(in.begin() + 256 * b, in.begin() + 256 * (b + 1), want.begin() + 256 * b);
    sums.push_back(want[size_t(256 * b + 255)]);
  }
  Kernel kernel("patterns", "shuffle_scan");
  kernel.inout(in).i32(32).out<int>(3).workgroup(256).sharedBytes(32).grid(3);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<int>(0), want);
    EXPECT_EQ(r.get<int>(1), sums);
  });
}

TEST_F(Patterns, ScanExclusive) {
  const auto in = integers(2 * 1024, 4, 0, 100);
  std::vector<int> want(in.size());
  for (long b = 0; b < 2048; b += 1024)
    std::exclusive_scan(in.begin() + b, in.begin() + b + 1024, want.begin() + b, 0);
  Kernel kernel("patterns", "scan_exclusive");
  kernel.i32(256).in(in).out<int>(in.size()).workgroup(256).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Patterns, Histogram256) {
  Random random(5);
  std::vector<uint32_t> words(900), bins(256, 3), want = bins;
  for (uint32_t &word : words) {
    word = random.next() & 0x1fff1fff;
    for (int b = 0; b < 32; b += 8)
      ++want[word >> b & 255];
  }
  Kernel kernel("patterns", "histogram_256");
  kernel.i32(900).in(words).inout(bins).workgroup(128).grid(3);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<uint32_t>(1), want); });
}

TEST_F(Patterns, EveryAtomic) {
  const int threads = 128;
  std::vector<int> at = {0, 0, -1, -1, 1 << 20, 0, 0, -1, 0xff, 0, 0xff};
  Kernel kernel("patterns", "every_atomic");
  kernel.inout(at).workgroup(64).grid(2);
  kernel.run([&](const Results &r) {
    const auto got = r.get<int>(0);
    EXPECT_EQ(got[0], 10 * threads);
    EXPECT_EQ(got[1], -10 * threads);
    EXPECT_TRUE(got[2] >= 0 && got[2] < threads); // whoever came last
    EXPECT_EQ(got[3], threads - 1);
    EXPECT_EQ(got[4], 0);
    EXPECT_EQ(got[5], threads % 18);                // 0 to 17 and round again
    EXPECT_EQ(got[6], (138 - threads % 138) % 138); // 137 down to 0 and round again
    EXPECT_TRUE(got[7] >= -1 && got[7] < threads);  // as far as the order went
    EXPECT_EQ(got[8], 1);                           // what all of 2 t + 7 have in common
    EXPECT_EQ(got[9], 0x7fffffff);
    EXPECT_EQ(got[10], 0xff); // every number below 128 once: they cancel out
  });
}

TEST_F(Patterns, DotInDoublePrecision) {
  const size_t n = 300;
  const auto a = reals<double>(n, 6), b = reals<double>(n, 7);
  Kernel kernel("patterns", "dot_double");
  kernel.i32(n).inout(std::vector<double>{0.5}).in(a).in(b).workgroup(64).grid(5);
  kernel.run([&](const Results &r) {
    expectNear(r.get<double>(0), std::vector{std::inner_product(a.begin(), a.end(), b.begin(), 0.5)}, 1e-12);
  });
}

TEST_F(Patterns, SparseMatrixByVector) {
  const int rows = 20, columns = 100;
  std::vector<int> begins = {0}, at;
  std::vector<double> values;
  Random random(8);
  for (int row = 0; row < rows; ++row) {
    for (int i = 0, count = row == 3 ? 0 : int(random.next() % 70); i < count; ++i) {
      at.push_back(int(random.next() % columns));
      values.push_back(random.real(-1, 1));
    }
    begins.push_back(int(at.size()));
  }
  const auto x = reals<double>(columns, 9), y = reals<double>(rows, 10);
  std::vector<double> want(rows);
  for (size_t row = 0; row < rows; ++row) {
    for (auto i = size_t(begins[row]); i < size_t(begins[row + 1]); ++i)
      want[row] += 2 * values[i] * x[size_t(at[i])];
    want[row] -= y[row];
  }
  Kernel kernel("patterns", "spmv_csr");
  kernel.i32(rows).in(begins).in(at).in(values).f64(2).in(x).f64(-1).inout(y).workgroup(64).grid(10);
  kernel.run([&](const Results &r) { expectNear(r.get<double>(4), want, 1e-12); });
}

TEST_F(Patterns, WalshTransform) {
  const size_t size = 256;
  const auto in = reals(2 * size, 11);
  std::vector<double> want(in.size());
  for (size_t b = 0; b < 2; ++b)
    for (size_t i = 0; i < size; ++i)
      for (size_t j = 0; j < size; ++j)
        want[b * size + i] += __builtin_parityll(i & j) ? -in[b * size + j] : in[b * size + j];
  Kernel kernel("patterns", "walsh_transform");
  kernel.out<float>(in.size()).in(in).i32(8).workgroup(64).sharedBytes(1024).grid(2);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(0), want, 1e-4); });
}

TEST_F(Patterns, VoteGroups) {
  const auto in = integers(128, 12, -3, 7);
  std::vector<uint32_t> ballots(4), match(128);
  std::vector<int> any(128), all(128, 1);
  for (size_t i = 0; i < 128; ++i) {
    ballots[i / 32] |= uint32_t(in[i] > 0) << i % 32;
    for (size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      any[i] |= in[j] == 7, all[i] &= in[j] >= 0;
      match[i] |= uint32_t(in[j] == in[i]) << j % 32;
    }
  }
  Kernel kernel("patterns", "vote_groups");
  kernel.in(in).out<uint32_t>(4).out<int>(128).out<int>(128).out<uint32_t>(128).workgroup(64).grid(2);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<uint32_t>(1), ballots);
    EXPECT_EQ(r.get<int>(2), any);
    EXPECT_EQ(r.get<int>(3), all);
    EXPECT_EQ(r.get<uint32_t>(4), match);
  });
}

TEST_F(Patterns, BoxBlurOfStructs) {
  const int width = 30, height = 20, pitch = 32, step = 40, radius = 2;
  std::vector<uint8_t> pixels, out(size_t(step * height), 77), want = out;
  for (int value : integers(size_t(pitch * height), 13, 0, 255))
    pixels.push_back(uint8_t(value));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int sum = 0, count = 0;
      for (int j = std::max(y - radius, 0); j <= std::min(y + radius, height - 1); ++j)
        for (int i = std::max(x - radius, 0); i <= std::min(x + radius, width - 1); ++i)
          sum += pixels[size_t(j * pitch + i)], ++count;
      want[size_t(y * step + x)] = uint8_t(sum / count);
    }
  struct Image {
    const uint8_t *pixels;
    int width, height;
    size_t pitch;
  } image = {nullptr, width, height, pitch};
  struct Target {
    int step;
    uint8_t *pixels;
  } target = {step, nullptr};
  Kernel kernel("patterns", "box_blur");
  const size_t from = kernel.memory(pixels, Access::Read), to = kernel.memory(out, Access::Write);
  kernel.structure(image, {{0, from}}).i32(radius).structure(target, {{8, to}}).workgroup(16, 8).grid(2, 3);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<uint8_t>(to), want); });
}

TEST_F(Patterns, StructMultiplyAdd) {
  const int n = 200;
  const auto a = reals(n, 14), b = reals(n, 15), c = reals(n, 16);
  std::vector<double> want(n);
  for (size_t i = 0; i < n; ++i)
    want[i] = c[i] + 0.5 * a[i] * b[i];
  struct {
    const float *a, *b;
    float *c;
    float scale;
    int n;
  } operands = {nullptr, nullptr, nullptr, 0.5f, n};
  Kernel kernel("patterns", "struct_multiply_add");
  const size_t pa = kernel.memory(a, Access::Read), pb = kernel.memory(b, Access::Read),
               pc = kernel.memory(c, Access::Write);
  kernel.structure(operands, {{0, pa}, {8, pb}, {16, pc}}).workgroup(64).grid(2);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(pc), want, 1e-6); });
}

TEST_F(Patterns, BatchedAxpyOfPointerTables) {
  const size_t n = 100, batches = 3;
  const auto alphas = reals(batches, 17);
  Kernel kernel("patterns", "batched_axpy");
  std::vector<size_t> xs, ys;
  std::vector<std::vector<double>> want;
  for (size_t b = 0; b < batches; ++b) {
    const auto x = reals(n, 18 + b), y = reals(n, 21 + b);
    xs.push_back(kernel.memory(x, Access::Read));
    ys.push_back(kernel.memory(y, Access::Write));
    want.emplace_back(n);
    for (size_t i = 0; i < n; ++i)
      want[b][i] = y[i] + double(alphas[b]) * x[i];
  }
  kernel.i32(n).in(alphas).pointer(kernel.table(xs)).pointer(kernel.table(ys)).workgroup(64).grid(2, batches);
  kernel.run([&](const Results &r) {
    for (size_t b = 0; b < batches; ++b)
      expectNear(r.get<float>(ys[b]), want[b], 1e-6);
  });
}

TEST_F(Patterns, MixedScalars) {
  const auto in = integers(300, 24, 0, 100000);
  std::vector<double> want(100);
  for (size_t i = 0; i < want.size(); ++i)
    want[i] = -double((in[3 * i] & 0xff0f) - 9);
  Kernel kernel("patterns", "mixed_scalars");
  kernel.i8(-9).in(in).i64(3).u16(0xff0f).out<double>(100).f32(1).i8(1).i32(100).workgroup(64);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<double>(1), want); });
}

TEST_F(Patterns, FillOfAStaticKernel) {
  std::vector<uint32_t> want(500);
  for (uint32_t i = 0; i < want.size(); ++i)
    want[i] = 0xabcdef ^ i;
  Kernel kernel("patterns", "fill_pattern");
  kernel.i32(500).i32(0xabcdef).out<uint32_t>(500).workgroup(64).grid(3);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<uint32_t>(0), want); });
}

} // namespace
} // namespace tenon::corpus
