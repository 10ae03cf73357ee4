// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Triton's kernels of layers, row by row and element by element, against the host in double precision.
#include "tests/kernels/corpus/corpus.h"

#include <algorithm>
#include <numeric>

namespace tenon::corpus {
namespace {

using Triton = CorpusTest;

TEST_F(Triton, VectorAdd) {
  const size_t n = 1000;
  const auto x = reals(n, 1), y = reals(n, 2);
  std::vector<float> want(n);
  for (size_t i = 0; i < n; ++i)
    want[i] = x[i] + y[i];
  Kernel kernel("triton_vector_add", "vector_add");
  kernel.in(x).in(y).out<float>(n).i32(n).grid(4);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<float>(2), want); });
}

TEST_F(Triton, StridedCopy) {
  const size_t n = 300;
  const auto source = reals<Half>(3 * n, 3);
  std::vector<Half> target(2 * n, Half(-5)), want = target;
  for (size_t i = 0; i < n; ++i)
    want[2 * i] = source[3 * i];
  Kernel kernel("triton_strided_copy", "strided_copy");
  kernel.i32(n).in(source).i64(3).inout(target).i64(2).grid(3);
  kernel.run([&](const Results &r) { expectNear(r.get<Half>(1), want, 0); });
}

TEST_F(Triton, RowSoftmax) {
  const size_t rows = 5, columns = 400, step = 410;
  const auto x = reals(rows * step, 4, -5, 5);
  std::vector<float> out(rows * step, 9);
  std::vector<double> want(rows * step, 9);
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (size_t i = 0; i < columns; ++i)
      sum += want[r * step + i] = std::exp(double(x[r * step + i]));
    for (size_t i = 0; i < columns; ++i)
      want[r * step + i] /= sum;
  }
  Kernel kernel("triton_row_softmax", "row_softmax");
  kernel.inout(out).in(x).i32(step).i32(columns).grid(rows);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(0), want, 1e-7, 1e-5); });
}

TEST_F(Triton, LayerNorm) {
  const size_t rows = 3, columns = 600;
  const double eps = 1e-5;
  const auto x = reals(rows * columns, 5, -2, 3), weight = reals(columns, 6), bias = reals(columns, 7);
  std::vector<double> want(rows * columns), means(rows), rstds(rows);
  for (size_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (size_t i = 0; i < columns; ++i)
      means[r] += x[r * columns + i] / double(columns);
    for (size_t i = 0; i < columns; ++i)
      squares += (x[r * columns + i] - means[r]) * (x[r * columns + i] - means[r]) / double(columns);
    rstds[r] = 1 / std::sqrt(squares + eps);
    for (size_t i = 0; i < columns; ++i)
      want[r * columns + i] = (x[r * columns + i] - means[r]) * rstds[r] * weight[i] + bias[i];
  }
  Kernel kernel("triton_layer_norm", "layer_norm");
  kernel.in(x).in(weight).in(bias).out<float>(rows * columns).out<float>(rows).out<float>(rows);
  kernel.i32(columns).f32(float(eps)).grid(rows);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(3), want, 1e-5);
    expectNear(r.get<float>(4), means, 1e-5);
    expectNear(r.get<float>(5), rstds, 1e-5);
  });
}

TEST_F(Triton, Welford) {
  const size_t rows = 4, columns = 500;
  const auto x = reals(rows * columns, 8, 90, 110);
  std::vector<double> means(rows), variances(rows);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < columns; ++i)
      means[r] += x[r * columns + i] / double(columns);
    for (size_t i = 0; i < columns; ++i)
      variances[r] += (x[r * columns + i] - means[r]) * (x[r * columns + i] - means[r]) / double(columns);
  }
  Kernel kernel("triton_welford", "welford");
  kernel.i32(columns).in(x).out<float>(rows).out<float>(rows).grid(rows);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(1), means, 1e-4);
    expectNear(r.get<float>(2), variances, 1e-3);
  });
}

TEST_F(Triton, ColumnExtremes) {
  const size_t rows = 17, columns = 200;
  const auto x = integers(rows * columns, 9, -1000, 1000);
  std::vector<int> low(columns, 1001), high(columns, -1001);
  for (size_t i = 0; i < x.size(); ++i) {
    low[i % columns] = std::min(low[i % columns], x[i]);
    high[i % columns] = std::max(high[i % columns], x[i]);
  }
  Kernel kernel("triton_column_extremes", "column_extremes");
  kernel.i32(rows).i32(columns).in(x).out<int>(columns).out<int>(columns).grid(2);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<int>(1), low);
    EXPECT_EQ(r.get<int>(2), high);
  });
}

TEST_F(Triton, CumulativeSum) {
  const size_t rows = 3, columns = 900;
  const auto x = integers(rows * columns, 10, -100, 100);
  std::vector<int> want(x.size());
  for (size_t r = 0; r < rows; ++r)
    std::partial_sum(x.begin() + long(r * columns), x.begin() + long((r + 1) * columns),
                     want.begin() + long(r * columns));
  Kernel kernel("triton_cumulative_sum", "cumulative_sum");
  kernel.in(x).out<int>(x.size()).i32(columns).grid(rows);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Triton, Recurrence) {
  const size_t rows = 3, columns = 250;
  const auto a = reals(rows * columns, 11, 0.5, 1), b = reals(rows * columns, 12);
  std::vector<double> want(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    want[i] = (i % columns ? want[i - 1] * a[i] : 0) + b[i];
  Kernel kernel("triton_recurrence", "recurrence");
  kernel.i32(columns).in(a).in(b).out<float>(a.size()).grid(rows);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(2), want, 1e-5); });
}

TEST_F(Triton, ArgMax) {
  const size_t rows = 6, columns = 300;
  auto x = reals(rows * columns, 13);
  x[0] = x[299] = 2; // the first of equals
  std::vector<float> values(rows);
  std::vector<int> places(rows);
  for (size_t r = 0; r < rows; ++r) {
    auto at = std::max_element(x.begin() + long(r * columns), x.begin() + long((r + 1) * columns));
    values[r] = *at;
    places[r] = int(at - x.begin()) - int(r * columns);
  }
  Kernel kernel("triton_arg_max", "arg_max");
  kernel.in(x).out<float>(rows).out<int>(rows).i32(columns).grid(rows);
  kernel.run([&](const Results &r) {
    EXPECT_EQ(r.get<float>(1), values);
    EXPECT_EQ(r.get<int>(2), places);
  });
}

TEST_F(Triton, SortRows) {
  const auto x = integers(4 * 128, 14, -50, 50);
  auto want = x;
  for (long r = 0; r < 4; ++r)
    std::sort(want.begin() + 128 * r, want.begin() + 128 * (r + 1));
  Kernel kernel("triton_sort_rows", "sort_rows");
  kernel.in(x).out<int>(x.size()).grid(4);
  kernel.run([&](const Results &r) { EXPECT_EQ(r.get<int>(1), want); });
}

TEST_F(Triton, Gelu) {
  const size_t n = 700;
  const auto x = reals<BFloat>(n, 15, -4, 4);
  std::vector<double> want(n);
  for (size_t i = 0; i < n; ++i)
    want[i] = 0.5 * x[i] * (1 + std::erf(x[i] * std::sqrt(0.5)));
  Kernel kernel("triton_gelu", "gelu");
  kernel.in(x).out<Half>(n).i32(n).grid(3);
  kernel.run([&](const Results &r) { expectNear(r.get<Half>(1), want, 1e-6, 1e-3); });
}

TEST_F(Triton, CrossEntropy) {
  const size_t rows = 5, classes = 200;
  const auto logits = reals(rows * classes, 16, -3, 3);
  const std::vector<int> labels = {3, 199, -100, 0, 77};
  std::vector<double> loss(rows), gradient(rows * classes);
  for (size_t r = 0; r < rows; ++r) {
    if (labels[r] == -100)
      continue;
    double sum = 0;
    for (size_t i = 0; i < classes; ++i)
      sum += std::exp(double(logits[r * classes + i]));
    loss[r] = std::log(sum) - logits[r * classes + size_t(labels[r])];
    for (size_t i = 0; i < classes; ++i)
      gradient[r * classes + i] = std::exp(double(logits[r * classes + i])) / sum - (int(i) == labels[r]);
  }
  Kernel kernel("triton_cross_entropy", "cross_entropy");
  kernel.in(logits).in(labels).out<float>(rows).out<float>(rows * classes).i32(classes).i32(-100).grid(rows);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(2), loss, 1e-5, 1e-5);
    expectNear(r.get<float>(3), gradient, 1e-6, 1e-5);
  });
}

TEST_F(Triton, QuantizeRows) {
  const size_t rows = 4, columns = 208;
  const auto x = reals(rows * columns, 17, -6, 6);
  std::vector<double> scales(rows);
  std::vector<int> want(rows * columns);
  for (size_t i = 0; i < x.size(); ++i)
    scales[i / columns] = std::max(scales[i / columns], std::abs(double(x[i])) / 127);
  for (size_t i = 0; i < x.size(); ++i)
    want[i] = int(std::nearbyint(x[i] / scales[i / columns]));
  Kernel kernel("triton_quantize_rows", "quantize_rows");
  kernel.in(x).out<float>(rows).out<int8_t>(x.size()).i32(columns).grid(rows);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(1), scales, 0, 1e-6);
    expectNear(r.get<int8_t>(2), want, 1); // a division may round the other way
  });
}

TEST_F(Triton, Rope) {
  const size_t rows = 3, heads = 2, width = 256, half = 128;
  const auto q = reals(rows * heads * width, 18);
  const auto cosine = reals(8 * half, 19), sine = reals(8 * half, 20);
  std::vector<double> want(q.size());
  for (size_t r = 0; r < rows; ++r)
    for (size_t h = 0; h < heads; ++h)
      for (size_t i = 0; i < half; ++i) {
        const size_t a = (r * heads + h) * width + i, t = (5 + r) * half + i;
        want[a] = q[a] * cosine[t] - q[a + half] * sine[t];
        want[a + half] = q[a + half] * cosine[t] + q[a] * sine[t];
      }
  Kernel kernel("triton_rope", "rope");
  kernel.i32(5).inout(q).in(cosine).in(sine).i32(heads).i32(width).grid(rows);
  kernel.run([&](const Results &r) { expectNear(r.get<float>(0), want, 1e-6); });
}

TEST_F(Triton, Adam) {
  const size_t n = 400;
  const double rate = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, step = 3;
  const auto weights = reals(n, 21), gradient = reals(n, 22), m = reals(n, 23), v = reals(n, 24, 0.1, 1);
  std::vector<double> wantW(n), wantM(n), wantV(n);
  for (size_t i = 0; i < n; ++i) {
    wantM[i] = beta1 * m[i] + (1 - beta1) * gradient[i];
    wantV[i] = beta2 * v[i] + (1 - beta2) * gradient[i] * gradient[i];
    wantW[i] = weights[i] - rate * (wantM[i] / (1 - std::pow(beta1, step))) /
                                (std::sqrt(wantV[i] / (1 - std::pow(beta2, step))) + eps);
  }
  Kernel kernel("triton_adam", "adam");
  kernel.f32(float(rate)).f32(float(beta1)).f32(float(beta2)).f32(float(eps)).i32(int(step));
  kernel.inout(weights).in(gradient).inout(m).inout(v).i32(n).grid(2);
  kernel.run([&](const Results &r) {
    expectNear(r.get<float>(0), wantW, 1e-6, 1e-5);
    expectNear(r.get<float>(2), wantM, 1e-6);
    expectNear(r.get<float>(3), wantV, 1e-6);
  });
}

TEST_F(Triton, EscapeTime) {
  const size_t width = 64, n = 1024;
  std::vector<int> want(n);
  for (size_t i = 0; i < n; ++i) {
    const float cx = -2 + 0.04f * float(i % width), cy = -0.5f + 0.04f * float(i / width);
    float x = 0, y = 0;
    while (want[i] < 40 && x * x + y * y <= 4) {
      const float now = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = now;
      ++want[i];
    }
  }
  Kernel kernel("triton_escape_time", "escape_time");
  kernel.f32(-2).f32(-0.5f).f32(0.04f).out<int>(n).i32(width).i32(40).grid(4);
  kernel.run([&](const Results &r) {
    const auto got = r.get<int>(0);
    size_t different = 0; // fused multiply-adds decide at the very edge
    for (size_t i = 0; i < n; ++i)
      different += got[i] != want[i];
    EXPECT_LE(different, n / 50);
  });
}

} // namespace
} // namespace tenon::corpus
