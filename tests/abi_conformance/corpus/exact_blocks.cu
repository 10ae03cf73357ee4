// A kernel for blocks of one shape (.reqntid), which nvcc takes from sm_90 on.
#ifdef TWIN_BLOCK
#define BLOCK 32, 8, 1
#else
#define BLOCK 16, 8, 1
#endif
extern "C" __global__ void __block_size__((BLOCK)) exact(float *data) {
  data[(blockIdx.x * 8 + threadIdx.y) * 16 + threadIdx.x] -= 1;
}
