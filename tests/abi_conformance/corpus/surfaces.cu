// Surfaces, through a function of the object.
static __device__ __noinline__ float read_cell(cudaSurfaceObject_t surface, int x) {
  return surf2Dread<float>(surface, x * 4, 0);
}
extern "C" __global__ void read_surface(float *out, cudaSurfaceObject_t surface, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width)
    out[i] = read_cell(surface, i);
}
