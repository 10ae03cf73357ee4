// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One body, y = a * x + y, under every order of parameters: the results are the same.
#include <tenon/kernel.cuh>

#include <cstdint>

static __device__ void body(const float *x, float *y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

extern "C" __global__ void usual(const float *x, float *y, float a, int n) {
  body(x, y, a, n);
}
TENON_KERNEL(usual, TENON_WORKGROUP(64), TENON_READ(const float *, x), TENON_WRITE(float *, y),
             TENON_CONSTANT(float, a), TENON_CONSTANT(int, n));

extern "C" __global__ void scalars_first(int n, float a, const float *x, float *y) {
  body(x, y, a, n);
}
TENON_KERNEL(scalars_first, TENON_WORKGROUP(64), TENON_CONSTANT(int, n), TENON_CONSTANT(float, a),
             TENON_READ(const float *, x), TENON_WRITE(float *, y));

// The constant stands at byte 8, behind it 4 bytes that C++ fills up.
extern "C" __global__ void between(float *y, float a, const float *x, int n) {
  body(x, y, a, n);
}

struct Pair {
  const float *x;
  float a;
  float *y;
  int n;
};
extern "C" __global__ void members(Pair p) {
  body(p.x, p.y, p.a, p.n);
}
TENON_KERNEL(members, TENON_WORKGROUP(64),
             TENON_STRUCT(Pair, p)
                 .read(TENON_MEMBER(Pair, x))
                 .write(TENON_MEMBER(Pair, y))
                 .constant(TENON_MEMBER(Pair, a))
                 .constant(TENON_MEMBER(Pair, n)));

struct Tensor {
  int64_t unused;
  float *data;
};
extern "C" __global__ void nested(bool unused, Tensor out, int n, void *scratch, const float *x, double padding,
                                  float a) {
  if (!scratch && !unused && padding == 0.0 && out.unused == 0) // what no slot names is passed as zeros
    body(x, out.data, a, n);
}
