// Instructions of one architecture alone (sm_90a, sm_100a) beside a road for all others.
extern "C" __global__ void __launch_bounds__(128) specialised(unsigned *out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("wgmma.commit_group.sync.aligned;");
  asm volatile("wgmma.wait_group.sync.aligned 0;");
#endif
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
  __shared__ unsigned address;
  if (threadIdx.x < 32) {
    unsigned slot = __cvta_generic_to_shared(&address);
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(slot) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(address));
  }
#endif
  out[threadIdx.x] = threadIdx.x;
}
