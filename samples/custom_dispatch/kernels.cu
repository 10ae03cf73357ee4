// Two hand-written kernels and the ABI that Tenon calls them with.
//
// Parameters come in the order of the export's layout in example.mlir: first one pointer per binding, then the
// constants. `extern "C"` keeps the names unmangled, so that the declaration can name them. Compile once per
// architecture:
//
//   nvcc -ptx -arch=compute_80 kernels.cu -o kernels_sm_80.ptx

// result[i] = lhs[i] * rhs[i]
//   layout(constants = 1, bindings = [ReadOnly, ReadOnly, read-write]); one thread per element, 64 per block
extern "C" __global__ void simple_mul(const float *__restrict__ lhs, const float *__restrict__ rhs,
                                      float *__restrict__ result, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    result[i] = lhs[i] * rhs[i];
}

// inout[i] *= factor[i]
//   layout(constants = 1, bindings = [ReadOnly, read-write]); the dispatch ties its result to the second operand
extern "C" __global__ void simple_mul_inplace(const float *__restrict__ factor, float *__restrict__ inout, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    inout[i] *= factor[i];
}
