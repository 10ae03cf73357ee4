// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of the conformance suite: each does one thing that a test can count.
#include <cstdint>

static __device__ unsigned globalIndex() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void add(const float *a, const float *b, float *c, unsigned n) {
  unsigned i = globalIndex();
  if (i < n)
    c[i] = a[i] + b[i];
}

extern "C" __global__ void scale(unsigned *x, unsigned n, unsigned factor) {
  unsigned i = globalIndex();
  if (i < n)
    x[i] *= factor;
}

extern "C" __global__ void iota(unsigned *out, unsigned n) {
  unsigned i = globalIndex();
  if (i < n)
    out[i] = i;
}

extern "C" __global__ void store_constants(unsigned *out, unsigned a, unsigned b, unsigned c, unsigned d) {
  if (globalIndex() == 0) {
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
  }
}

// Typed constants: each at its natural alignment.
extern "C" __global__ void store_typed(uint64_t *out, int8_t a, int64_t b, float c, int16_t d) {
  if (globalIndex() == 0) {
    out[0] = static_cast<uint64_t>(static_cast<int64_t>(a));
    out[1] = static_cast<uint64_t>(b);
    out[2] = static_cast<uint64_t>(static_cast<int64_t>(c));
    out[3] = static_cast<uint64_t>(static_cast<int64_t>(d));
  }
}

// Parameters in an order of their own: a scalar first, pointers in a struct, one that is not used.
struct Places {
  unsigned *out;
  unsigned offset;
  const unsigned *more;
};
extern "C" __global__ void scale_and_offset_ordered(unsigned n, const unsigned *in, Places places, bool unused,
                                                    unsigned factor) {
  unsigned i = globalIndex();
  if (i < n && !unused)
    places.out[i] = in[i] * factor + places.more[i] + places.offset;
}

// Found by its name from the host.
extern "C" __device__ unsigned conformance_table[4] = {1, 20, 300, 4000};

extern "C" __global__ void count_workgroups(unsigned *out) {
  if (threadIdx.x == 0)
    atomicAdd(out, conformance_table[0]);
}

// [z][y][x] = 1 + the workgroup's linear number.
extern "C" __global__ void mark_workgroups(unsigned *out) {
  unsigned number = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0)
    out[number] = number + 1;
}

extern "C" __global__ void write_grid(unsigned *grid, unsigned x, unsigned y, unsigned z) {
  if (globalIndex() == 0) {
    grid[0] = x;
    grid[1] = y;
    grid[2] = z;
  }
}

// Dynamic shared memory: the sum of a workgroup's inputs, reversed through shared memory.
extern "C" __global__ void reverse_shared(unsigned *x) {
  extern __shared__ unsigned staged[];
  staged[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void write_to_null(unsigned *out) {
  unsigned *target = reinterpret_cast<unsigned *>(out[0] ? 0x10 : 0);
  *target = 1;
}

// Structs by value, one of them aligned to more than 16 bytes.
struct Three {
  int x[3];
};
struct alignas(64) Line {
  int x[16];
};
struct alignas(16) Four {
  int x[4];
};
extern "C" __global__ void store_structs(int *out, int first, Three three, Line line, Four four, int8_t last) {
  if (globalIndex() == 0) {
    int at = 0;
    out[at++] = first;
    for (int x : three.x)
      out[at++] = x;
    for (int x : line.x)
      out[at++] = x;
    for (int x : four.x)
      out[at++] = x;
    out[at] = last;
  }
}

// One input that is only read, one output: what pipelines are made of.
extern "C" __global__ void scale_and_offset(const unsigned *in, unsigned *out, unsigned n, unsigned factor,
                                            unsigned offset) {
  unsigned i = globalIndex();
  if (i < n)
    out[i] = in[i] * factor + offset;
}
