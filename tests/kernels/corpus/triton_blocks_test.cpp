// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Triton's kernels on tensor cores, with atomics, tables of pointers and random numbers, against the host.
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>

namespace tenon::corpus {
namespace {

using Triton = CorpusTest;

MatrixView rows(const std::vector<Half> &values, size_t step) {
  return {[&values, step](size_t i, size_t j) { return double(values[i * step + j]); }};
}

TEST_F(Triton, Matmul) {
  const size_t m = 100, n = 80, k = 112;
  const auto a = reals<Half>(m * k, 1), b = reals<Half>(k * n, 2);
  const auto want = product(m, n, k, rows(a, k), rows(b, n));
  Kernel kernel("triton_matmul", "matmul");
  kernel.in(a).in(b).out<Half>(m * n).i32(m).i32(n).i32(k).i32(k).i32(n).i32(n).grid(4).sharedBytes(16384);
  kernel.run([&](const Results &r) { expectNear(r.get<Half>(2), want, 1e-3, 1e-3); });
}

TEST_F(Triton, GroupedMatmulOfPointerTables) {
  const size_t groups = 3, sizes[groups][3] = {{40, 32, 24}, {32, 70, 64}, {5, 33, 16}};
  Kernel kernel("triton_grouped_matmul", "grouped_matmul");
  std::vector<size_t> a, b, c;
  std::vector<int> flat;
  std::vector<std::vector<double>> want;
  for (size_t g = 0; g < groups; ++g) {
    const auto [m, n, k] = sizes[g];
    flat.insert(flat.end(), {int(m), int(n), int(k)});
    const auto va = reals<Half>(m * k, 3 + g), vb = reals<Half>(k * n, 6 + g);
    a.push_back(kernel.memory(va, Access::Read));
    b.push_back(kernel.memory(vb, Access::Read));
    c.push_back(kernel.addMemory(std::vector<uint8_t>(m * n * 2), Access::Write));
    want.push_back(product(m, n, k, rows(va, k), rows(vb, n)));
  }
  kernel.pointer(kernel.table(a)).pointer(kernel.table(b)).pointer(kernel.table(c)).in(flat).i32(groups);
  kernel.grid(3).sharedBytes(4096);
  kernel.run([&](const Results &r) {
    for (size_t g = 0; g < groups; ++g)
      expectNear(r.get<Half>(c[g]), want[g], 1e-3, 1e-3);
  });
}

TEST_F(Triton, AttentionWithItsScaleFirst) {
  const size_t heads = 2, length = 100, width = 64;
  const double scale = 0.125;
  const auto q = reals<Half>(heads * length * width, 10), k = reals<Half>(q.size(), 11), v = reals<Half>(q.size(), 12);
  std::vector<double> want(q.size()), lse(heads * length);
  for (size_t h = 0; h < heads; ++h)
    for (size_t i = 0; i < length; ++i) {
      std::vector<double> p(i + 1);
      double sum = 0;
      for (size_t j = 0; j <= i; ++j) {
        for (size_t d = 0; d < width; ++d)
          p[j] += double(q[(h * length + i) * width + d]) * double(k[(h * length + j) * width + d]);
        sum += p[j] = std::exp(scale * p[j]);
      }
      lse[h * length + i] = std::log(sum);
      for (size_t j = 0; j <= i; ++j)
        for (size_t d = 0; d < width; ++d)
          want[(h * length + i) * width + d] += p[j] / sum * double(v[(h * length + j) * width + d]);
    }
  Kernel kernel("triton_attention", "attention");
  kernel.f32(float(scale)).in(q).in(k).in(v).out<Half>(q.size()).out<float>(heads * length);
  kernel.i32(heads).i32(length).i32(length * width).i32(width).grid(2, heads).sharedBytes(57344);
  kernel.run([&](const Results &r) {
    expectNear(r.get<Half>(3), want, 2e-3, 2e-3); // probabilities are halves on their way into the product
    expectNear(r.get<float>(4), lse, 1e-4, 1e-4);
  });
}

TEST_F(Triton, Histogram) {
  const size_t n = 1300;
  const auto x = integers(n, 13, 0, 63);
  std::vector<int> bins(64, 5), want = bins;
  for (int value : x)
    ++want[size_t(value)];
  Kernel kernel("triton_histogram", "histogram");
  kernel.in(x).inout(bins).i32(n).grid(3);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Triton, SegmentMax) {
  const size_t n = 500;
  const auto values = reals(n, 14);
  const auto segments = integers(n, 15, 0, 9);
  std::vector<float> out(10, -0.9f), want = out;
  for (size_t i = 0; i < n; ++i)
    want[size_t(segments[i])] = std::max(want[size_t(segments[i])], values[i]);
  Kernel kernel("triton_segment_max", "segment_max");
  kernel.in(values).in(segments).i32(n).inout(out).grid(2).sharedBytes(2048);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<float>(2), want); });
}

TEST_F(Triton, SumUnderALock) {
  const size_t blocks = 5, columns = 200;
  const auto x = reals(blocks * columns, 16);
  std::vector<double> want(columns);
  for (size_t i = 0; i < x.size(); ++i)
    want[i % columns] += x[i];
  Kernel kernel("triton_locked_sum", "locked_sum");
  kernel.inout(std::vector<int>(1)).inout(std::vector<int>(1)).in(x).out<float>(columns).i32(columns).grid(blocks);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<int>(0)[0], 0);
    expectNear(r.get<float>(3), want, 1e-5);
  });
}

TEST_F(Triton, Embedding) {
  const size_t rows = 6, width = 96;
  const std::vector<int64_t> indices = {4, 0, 19, 4, 7, 11};
  const auto table = reals<Half>(20 * width, 17);
  std::vector<Half> want;
  for (int64_t at : indices)
    want.insert(want.end(), table.begin() + at * long(width), table.begin() + (at + 1) * long(width));
  Kernel kernel("triton_embedding", "embedding");
  kernel.in(indices).in(table).out<Half>(rows * width).i32(width).grid(rows);
  kernel.run([&](const Results &r) { expectNear(r.get<Half>(2), want, 0); });
}

TEST_F(Triton, ScatterAdd) {
  const size_t n = 40, width = 20;
  const auto indices = integers(n, 18, 0, 7);
  const auto updates = reals(n * width, 19);
  std::vector<float> out(8 * width, 1);
  std::vector<double> want(8 * width, 1);
  for (size_t i = 0; i < updates.size(); ++i)
    want[size_t(indices[i / width]) * width + i % width] += updates[i];
  Kernel kernel("triton_scatter_add", "scatter_add");
  kernel.i32(n).i32(width).in(indices).in(updates).inout(out).grid(3);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(2), want, 1e-5); });
}

/// Philox 4x32-10 as Salmon et al. published it: counter {i, 0, 0, 0}, key {seed, 0}.
std::array<uint32_t, 4> philox(uint32_t i, uint32_t seed) {
  std::array<uint32_t, 4> c = {i, 0, 0, 0};
  uint32_t k0 = seed, k1 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xd2511f53) * c[0], b = uint64_t(0xcd9e8d57) * c[2];
    c = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
    k0 += 0x9e3779b9, k1 += 0xbb67ae85;
  }
  return c;
}

TEST_F(Triton, RandomWords) {
  const size_t n = 200;
  std::vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t word : philox(i, 77))
      want.push_back(word);
  Kernel kernel("triton_random_words", "random_words");
  kernel.out<uint32_t>(4 * n).i32(77).i32(n).grid(2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<uint32_t>(0), want); });
}

TEST_F(Triton, Dropout) {
  const size_t n = 600;
  const auto x = reals(n, 20);
  std::vector<float> want(n);
  std::vector<int8_t> keep(n);
  for (uint32_t i = 0; i < n; ++i) {
    const auto word = int32_t(philox(i, 123)[0]);
    keep[i] = float(word < 0 ? -word - 1 : word) * 4.6566127342e-10f > 0.25f;
    want[i] = keep[i] ? x[i] / 0.75f : 0;
  }
  Kernel kernel("triton_dropout", "dropout");
  kernel.f32(0.25f).i32(123).in(x).out<float>(n).out<int8_t>(n).i32(n).grid(3);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(1), want, 0, 1e-6);
    EXPECT_EQ(r.get<int8_t>(2), keep);
  });
}

TEST_F(Triton, Transpose) {
  const size_t m = 50, n = 70;
  const auto values = integers(m * n, 21, -128, 127);
  const std::vector<int8_t> x(values.begin(), values.end());
  std::vector<int8_t> want(m * n);
  for (size_t i = 0; i < m * n; ++i)
    want[i % n * m + i / n] = x[i];
  Kernel kernel("triton_transpose", "transpose");
  kernel.in(x).i32(m).i32(n).out<int8_t>(m * n).grid(2, 3);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int8_t>(1), want); });
}

TEST_F(Triton, MatrixOfFourBitsByVector) {
  const size_t rows = 40, words = 24, group = 8;
  Random random(22);
  std::vector<uint32_t> packed(rows * words);
  for (uint32_t &word : packed)
    word = random.next();
  const auto scales = reals(rows * words / group, 23, 0.01, 0.1), x = reals(8 * words, 24);
  std::vector<double> want(rows);
  for (size_t r = 0; r < rows; ++r)
    for (size_t i = 0; i < 8 * words; ++i)
      want[r] += (int(packed[r * words + i / 8] >> (4 * (i % 8)) & 15) - 8) *
                 double(scales[r * (words / group) + i / 8 / group]) * x[i];
  Kernel kernel("triton_int4_matvec", "int4_matvec");
  kernel.i32(group).in(packed).in(scales).in(x).out<float>(rows).i32(rows).i32(words).grid(3);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(3), want, 1e-4); });
}

} // namespace
} // namespace tenon::corpus
