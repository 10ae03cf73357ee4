// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of samples.cu against the host.
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>
#include <bit>

namespace tenon::corpus {
namespace {

using Samples = CorpusTest;

template <typename T> MatrixView rows(const std::vector<T> &values, size_t step) {
  return {[&values, step](size_t i, size_t j) { return double(values[i * step + j]); }};
}

/// alpha * a * b + beta * c.
std::vector<double> gemm(size_t m, size_t n, size_t k, double alpha, const std::vector<float> &a,
                         const std::vector<float> &b, double beta, const std::vector<float> &c) {
  std::vector<double> out = product(m, n, k, rows(a, k), rows(b, n));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = alpha * out[i] + beta * c[i];
  return out;
}

TEST_F(Samples, SgemmNaive) {
  const size_t m = 40, n = 36, k = 20;
  const auto a = reals(m * k, 1), b = reals(k * n, 2), c = reals(m * n, 3);
  const auto want = gemm(m, n, k, 1.5, a, b, -0.5, c);
  Kernel kernel("samples", "sgemm_naive");
  kernel.i32(m).i32(n).i32(k).f32(1.5f).in(a).in(b).f32(-0.5f).inout(c).workgroup(16, 16).grid(3, 3);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(2), want, 1e-5); });
}

TEST_F(Samples, SgemmBlocked) {
  const size_t m = 128, n = 64, k = 48;
  const auto a = reals(m * k, 4), b = reals(k * n, 5), c = reals(m * n, 6);
  const auto want = gemm(m, n, k, 2, a, b, 1, c);
  Kernel kernel("samples", "sgemm_blocked");
  kernel.i32(m).i32(n).i32(k).f32(2).in(a).in(b).f32(1).inout(c).grid(1, 2);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(2), want, 1e-4); });
}

TEST_F(Samples, MatrixMultiply) {
  const size_t m = 32, n = 48, k = 64;
  const auto a = reals(m * k, 7), b = reals(k * n, 8);
  const auto want = product(m, n, k, rows(a, k), rows(b, n));
  Kernel kernel("samples", "matrix_multiply");
  kernel.out<float>(m * n).in(a).in(b).i32(k).i32(n).workgroup(16, 16).grid(3, 2);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(0), want, 1e-4); });
}

TEST_F(Samples, TensorCoreGemm) {
  const size_t m = 32, n = 64, k = 48;
  const auto a = reals<Half>(m * k, 9), b = reals<Half>(k * n, 10);
  auto want = product(m, n, k, rows(a, k), rows(b, n));
  for (double &value : want)
    value *= 0.5;
  Kernel kernel("samples", "tensor_core_gemm");
  kernel.i32(m).i32(n).i32(k).in(a).in(b).out<float>(m * n).f32(0.5f).workgroup(64).grid(2, 2);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(2), want, 1e-4); });
}

TEST_F(Samples, AsyncRowSums) {
  const size_t rowCount = 3, columns = 1024;
  const auto in = reals(rowCount * columns, 11);
  std::vector<double> want(rowCount);
  for (size_t i = 0; i < in.size(); ++i)
    want[i / columns] += in[i];
  Kernel kernel("samples", "async_row_sums");
  kernel.i32(columns).in(in).out<float>(rowCount).workgroup(64).grid(rowCount);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(1), want, 1e-4); });
}

TEST_F(Samples, TransposePadded) {
  const size_t width = 70, height = 45;
  const auto in = reals(width * height, 12);
  std::vector<float> want(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    want[i % width * height + i / width] = in[i];
  Kernel kernel("samples", "transpose_padded");
  kernel.out<float>(in.size()).in(in).i32(width).i32(height).workgroup(32, 8).grid(3, 2);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<float>(0), want); });
}

TEST_F(Samples, ConvolveRows) {
  const int width = 150, height = 4;
  const double weights[9] = {0.02, 0.05, 0.12, 0.18, 0.26, 0.18, 0.12, 0.05, 0.02};
  const auto in = reals(size_t(width * height), 13);
  std::vector<double> want(in.size());
  for (int i = 0; i < width * height; ++i)
    for (int j = -4; j <= 4; ++j)
      if (i % width + j >= 0 && i % width + j < width)
        want[size_t(i)] += weights[4 - j] * in[size_t(i + j)];
  Kernel kernel("samples", "convolve_rows");
  kernel.i32(width).i32(height).in(in).out<float>(in.size()).workgroup(64).sharedBytes(72 * 4).grid(3,
                                                                                                    uint32_t(height));
  kernel.run([&](const Results &r) { expectNear(r.get<float>(1), want, 1e-6); });
}

TEST_F(Samples, Fdtd3d) {
  const int nx = 32, ny = 16, nz = 12;
  struct Weights {
    float at[5];
  } weights = {{0.5f, 0.2f, -0.1f, 0.05f, 0.025f}};
  const auto in = reals(size_t(nx * ny * nz), 14);
  std::vector<float> out(in.size(), 7);
  std::vector<double> want(in.size(), 7);
  auto at = [&](int x, int y, int z) {
    return x < 0 || x >= nx || y < 0 || y >= ny ? 0. : double(in[size_t((z * ny + y) * nx + x)]);
  };
  for (int z = 4; z < nz - 4; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        double sum = weights.at[0] * at(x, y, z);
        for (int r = 1; r <= 4; ++r)
          sum += weights.at[r] * (at(x - r, y, z) + at(x + r, y, z) + at(x, y - r, z) + at(x, y + r, z) +
                                  at(x, y, z - r) + at(x, y, z + r));
        want[size_t((z * ny + y) * nx + x)] = sum;
      }
  Kernel kernel("samples", "fdtd_3d");
  kernel.structure(weights).i32(nx).i32(ny).i32(nz).inout(out).in(in).workgroup(16, 8).grid(2, 2);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(0), want, 1e-5); });
}

TEST_F(Samples, NBody) {
  const size_t n = 100;
  const double softening = 0.01, step = 0.1;
  const auto p = reals(4 * n, 15), v = reals(4 * n, 16);
  std::vector<double> next(p.begin(), p.end()), velocities(v.begin(), v.end());
  for (size_t i = 0; i < n; ++i) {
    double pull[3] = {};
    for (size_t j = 0; j < n; ++j) {
      double d[3], square = softening;
      for (size_t x = 0; x < 3; ++x)
        d[x] = double(p[4 * j + x]) - p[4 * i + x], square += d[x] * d[x];
      for (size_t x = 0; x < 3; ++x)
        pull[x] += d[x] * p[4 * j + 3] / (square * std::sqrt(square));
    }
    for (size_t x = 0; x < 3; ++x) {
      velocities[4 * i + x] += pull[x] * step;
      next[4 * i + x] += velocities[4 * i + x] * step;
    }
  }
  Kernel kernel("samples", "n_body");
  kernel.i32(n).f32(float(softening)).f32(float(step)).in(p).out<float>(4 * n).inout(v);
  kernel.workgroup(64).sharedBytes(1024).grid(2);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(1), next, 5e-3, 1e-4); // close pairs pull hard
    expectNear(r.get<float>(2), velocities, 5e-2, 1e-4);
  });
}

TEST_F(Samples, Mandelbrot) {
  const int width = 40, height = 20, limit = 60;
  std::vector<uint8_t> want;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double cx = -2 + x * 0.07, cy = -0.7 + y * 0.07;
      double zx = 0, zy = 0;
      int count = 0;
      while (count < limit && zx * zx + zy * zy < 4) {
        const double now = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = now;
        ++count;
      }
      const auto shade = uint8_t(count == limit ? 0 : 255 * count / limit);
      want.insert(want.end(), {shade, uint8_t(shade / 2), uint8_t(255 - shade), 255});
    }
  Kernel kernel("samples", "mandelbrot");
  kernel.out<uint8_t>(want.size()).i32(width).i32(height).i32(limit).f64(-2).f64(-0.7).f64(0.07);
  kernel.workgroup(16, 4).grid(3, 5);
  kernel.run([&](const Results &r) {
    const auto got = r.get<uint8_t>(0);
    size_t different = 0; // fused multiply-adds decide at the very edge
    for (size_t i = 0; i < got.size(); ++i)
      different += got[i] != want[i];
    EXPECT_LE(different, got.size() / 100);
  });
}

TEST_F(Samples, BitonicSort) {
  Random random(17);
  std::vector<uint32_t> keys(1024), values(1024);
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = random.next() | 1, values[i] = keys[i] * 3; // a value tells its key
  auto want = keys;
  for (long b = 0; b < 1024; b += 512)
    std::sort(want.begin() + b, want.begin() + b + 512);
  Kernel kernel("samples", "bitonic_sort");
  kernel.out<uint32_t>(1024).out<uint32_t>(1024).in(keys).in(values).i32(512).i32(1).workgroup(256).grid(2);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<uint32_t>(0), want);
    const auto moved = r.get<uint32_t>(1);
    for (size_t i = 0; i < moved.size(); ++i)
      ASSERT_EQ(moved[i], want[i] * 3);
  });
}

TEST_F(Samples, BlackScholes) {
  const size_t n = 200;
  const double rate = 0.02, volatility = 0.3;
  const auto price = reals(n, 18, 5, 30), strike = reals(n, 19, 1, 100), years = reals(n, 20, 0.25, 10);
  std::vector<double> call(n), put(n);
  for (size_t i = 0; i < n; ++i) {
    const double root = volatility * std::sqrt(years[i]), discounted = strike[i] * std::exp(-rate * years[i]);
    const double d1 = (std::log(double(price[i]) / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / root;
    auto normal = [](double d) { return 0.5 * std::erfc(-d * std::sqrt(0.5)); };
    call[i] = price[i] * normal(d1) - discounted * normal(d1 - root);
    put[i] = discounted * normal(root - d1) - price[i] * normal(-d1);
  }
  Kernel kernel("samples", "black_scholes");
  kernel.out<float>(n).out<float>(n).in(price).in(strike).in(years).f32(float(rate)).f32(float(volatility)).i32(n / 2);
  kernel.workgroup(32).grid(2);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(0), call, 1e-4); // the normal distribution is a polynomial
    expectNear(r.get<float>(1), put, 1e-4);
  });
}

TEST_F(Samples, Sobol) {
  const unsigned vectors = 300, dimensions = 3;
  std::vector<uint32_t> directions;
  Random random(21);
  for (unsigned d = 0; d < dimensions; ++d)
    for (int bit = 0; bit < 32; ++bit)
      directions.push_back(d == 0 ? 0x80000000u >> bit : (random.next() | 1) << (31 - bit));
  std::vector<float> want;
  for (unsigned d = 0; d < dimensions; ++d)
    for (unsigned i = 0; i < vectors; ++i) {
      uint32_t x = 0;
      for (uint32_t gray = i ^ (i >> 1); gray; gray &= gray - 1)
        x ^= directions[d * 32 + unsigned(std::countr_zero(gray))];
      want.push_back(float(int32_t(x)) * 2.3283064365386963e-10f);
    }
  Kernel kernel("samples", "sobol");
  kernel.i32(vectors).i32(dimensions).in(directions).out<float>(vectors * dimensions).workgroup(64).grid(2, dimensions);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<float>(1), want); });
}

} // namespace
} // namespace tenon::corpus
