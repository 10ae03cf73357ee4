// Scalars of every width and structs by value, at the offsets of a C struct.
#include <cstdint>
struct Strides {
  int64_t rows, columns;
  int32_t batch;
};
struct alignas(16) Color {
  float r, g, b, a;
};
struct Bytes {
  uint8_t v[5];
};
extern "C" __global__ void gather(const float *in, float *out, int8_t shift, Strides strides, Bytes mask, int16_t rows,
                                  Color tint, bool negate) {
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < rows) {
    float v = in[i * strides.rows + strides.columns * strides.batch + shift] * tint.g + mask.v[i % 5];
    out[i] = negate ? -v : v;
  }
}
extern "C" __global__ void
#ifdef TWIN_ORDER
odd_scalars(float *out, int64_t c, int8_t a, double e, int16_t b, uint8_t d)
#else
odd_scalars(float *out, int8_t a, int16_t b, int64_t c, uint8_t d, double e)
#endif
{
  out[threadIdx.x] = a + b + c + d + e;
}

struct Large {
  float weights[1200]; // 4800 bytes: PTX ISA 8.1 and sm_70 or later
};
extern "C" __global__ void large_block(float *out, const __grid_constant__ Large large) {
  out[threadIdx.x] = large.weights[threadIdx.x];
}
