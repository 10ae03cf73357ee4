// Plain kernels of C linkage: pointers, then scalars.
extern "C" __global__ void multiply(const float *__restrict__ lhs, const float *__restrict__ rhs, float *result,
#ifdef TWIN_WIDE
                                    long long size
#elif defined(TWIN_EXTRA)
                                    int size, int stride
#else
                                    int size
#endif
) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < size)
    result[i] = lhs[i] * rhs[i];
}

extern "C" __global__ void axpy4(const float4 *x, float4 *y, float a, unsigned vectors) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
    float4 v = x[i], w = y[i];
    y[i] = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
  }
}

extern "C" __global__ void fill(double *out, double value, long long count) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * (long long)blockDim.x)
    out[i] = value;
}
