// Warp shuffles, votes, matches, and atomics of every width.
extern "C" __global__ void warp_work(const int *in, int *out, unsigned long long *masks, double *total, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < size ? in[i] : 0;
  for (int offset = 16; offset > 0; offset /= 2)
    v += __shfl_xor_sync(~0u, v, offset);
  unsigned equal = __match_any_sync(~0u, v & 3), ballot = __ballot_sync(~0u, v > 7);
  out[i] = __vadd4(v, __brev(v));
  atomicMax(&masks[0], (unsigned long long)equal << 32 | ballot);
  atomicAdd(total, double(v));
  atomicCAS(&out[0], 0, __popc(__activemask()));
}
