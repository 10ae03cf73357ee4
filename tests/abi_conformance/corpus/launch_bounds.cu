// What a kernel says of its own launch: exact blocks, bounds, registers, blocks per multiprocessor.
extern "C" __global__ void __launch_bounds__(256, 2) bounded(float *data) { data[blockIdx.x * 256 + threadIdx.x] += 1; }
extern "C" __global__ void __maxnreg__(32) few_registers(float *data) { data[threadIdx.x] *= 2; }
#ifdef TWIN_BLOCK
#define BLOCK 32, 8, 1
#else
#define BLOCK 16, 8, 1
#endif
extern "C" __global__ void __block_size__((BLOCK)) exact(float *data) {
  data[(blockIdx.x * 8 + threadIdx.y) * 16 + threadIdx.x] -= 1;
}
