// libdevice: what nvcc links in, to the last function.
extern "C" __global__ void functions_of(const double *x, double *y, const float *u, float *v, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size)
    return;
  y[i] = erf(x[i]) + tgamma(x[i]) + pow(x[i], 1.5) + sin(1e9 * x[i]);
  v[i] = j0f(u[i]) + powf(u[i], 0.3f) + normcdff(u[i]);
}
