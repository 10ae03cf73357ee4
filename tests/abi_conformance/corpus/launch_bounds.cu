// What a kernel says of its own launch: bounds, registers, blocks per multiprocessor.
extern "C" __global__ void __launch_bounds__(256, 2) bounded(float *data) {
  data[blockIdx.x * 256 + threadIdx.x] += 1;
}
extern "C" __global__ void __maxnreg__(32) few_registers(float *data) {
  data[threadIdx.x] *= 2;
}
