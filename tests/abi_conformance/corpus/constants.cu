// __constant__ and __device__ variables of the object, with and without initialisers.
struct Coefficient {
  float weight;
  short index;
};
__constant__ float taps[7] = {1, 6, 15, 20, 15, 6, 1};
__constant__ Coefficient coefficients[] = {{0.5f, 3}, {0.25f, -1}};
__device__ unsigned long long launches;
__device__ const float *const table_of_tables[] = {nullptr};
#ifdef TWIN_EXTERN
extern __constant__ float bias;
#else
__constant__ float bias = 0.125f;
#endif
extern "C" __global__ void smooth(const float *in, float *out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0)
    atomicAdd(&launches, 1ull);
  if (i >= size)
    return;
  float sum = bias;
  for (int k = -3; k <= 3; ++k)
    sum += taps[k + 3] * in[min(max(i + k, 0), size - 1)];
  for (const Coefficient &c : coefficients)
    sum += c.weight * in[min(max(i + c.index, 0), size - 1)];
  out[i] = sum / 64 + (table_of_tables[0] ? table_of_tables[0][i] : 0);
}
