// A good kernel, and ones with a defect each that no declaration shows.
#include <tenon/kernel.cuh>

#define INDEX (int(blockIdx.x * blockDim.x + threadIdx.x))

extern "C" __global__ void good(const float *in, float *out, float factor, int n) {
  if (INDEX < n)
    out[INDEX] = factor * in[INDEX];
}
TENON_KERNEL(good, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// One element too many.
extern "C" __global__ void past_the_end(const float *in, float *out, float factor, int n) {
  if (INDEX <= n)
    out[INDEX] = factor * in[INDEX < n ? INDEX : 0];
}
TENON_KERNEL(past_the_end, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Reads one element too many, and it shows.
extern "C" __global__ void reads_past(const float *in, float *out, float factor, int n) {
  if (INDEX < n)
    out[INDEX] = factor * in[INDEX + 1];
}
TENON_KERNEL(reads_past, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Writes its input where a value says so: the linker cannot tell and warns, and running shows it.
extern "C" __global__ void writes_input(const float *in, float *out, float factor, int n) {
  if (INDEX < n) {
    const float value = factor * in[INDEX];
    out[INDEX] = value;
    float *to = factor > 1000 ? out : const_cast<float *>(in);
    to[INDEX] = 0;
  }
}
TENON_KERNEL(writes_input, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Loads 16 bytes at once where 4 are promised.
extern "C" __global__ void wide_loads(const float *in, float *out, float factor, int n) {
  if (4 * INDEX < n) {
    const float4 value = reinterpret_cast<const float4 *>(in)[INDEX];
    out[4 * INDEX] = factor * value.x;
    out[4 * INDEX + 1] = factor * value.y;
    out[4 * INDEX + 2] = factor * value.z;
    out[4 * INDEX + 3] = factor * value.w;
  }
}
TENON_KERNEL(wide_loads, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Adds to what nobody wrote.
extern "C" __global__ void adds_to_output(const float *in, float *out, float factor, int n) {
  if (INDEX < n)
    out[INDEX] += factor * in[INDEX];
}
TENON_KERNEL(adds_to_output, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Works on pairs, and forgets the last element of an odd number.
extern "C" __global__ void pairs(const float *in, float *out, float factor, int n) {
  if (2 * INDEX + 1 < n) {
    out[2 * INDEX] = factor * in[2 * INDEX];
    out[2 * INDEX + 1] = factor * in[2 * INDEX + 1];
  }
}
TENON_KERNEL(pairs, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Rounds the size to a multiple of the warp, and computes the rest from something else.
extern "C" __global__ void wrong_tail(const float *in, float *out, float factor, int n) {
  if (INDEX < n)
    out[INDEX] = factor * in[INDEX] + (INDEX >= n / 32 * 32 && n > 32 ? 1 : 0);
}
TENON_KERNEL(wrong_tail, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// Threads of two warps write the same element.
extern "C" __global__ void races(const float *in, float *out, float factor, int n) {
  if (INDEX < n) {
    out[INDEX] = factor * in[INDEX];
    out[0] = factor * in[INDEX];
  }
}
TENON_KERNEL(races, TENON_WORKGROUP(64), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// What comes out depends on where the output lies.
extern "C" __global__ void shows_address(const float *in, float *out, float factor, int n) {
  if (INDEX < n)
    out[INDEX] = factor * in[INDEX] + float((unsigned long long)out >> 8 & 0xffff);
}
TENON_KERNEL(shows_address, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(float, factor), TENON_CONSTANT(int, n));

// A struct by value, and dynamic shared memory at its declared size.
struct Scale {
  long long offset;
  float factor;
};
extern "C" __global__ void with_struct(const float *in, float *out, Scale scale) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = in[INDEX];
  __syncthreads();
  out[INDEX] = scale.factor * tile[31 - threadIdx.x] + float(scale.offset);
}
TENON_KERNEL(with_struct, TENON_WORKGROUP(32), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(Scale, scale), TENON_DYNAMIC_SHARED(128));
