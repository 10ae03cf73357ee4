// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of sm_90a that CUDA C++ has no word for, each as a small function. PTX ISA, "mbarrier",
// "cp.async.bulk.tensor", "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

using bf16 = __nv_bfloat16;

/// Instructions name shared memory by 32 bits.
__device__ inline unsigned inShared(const void *pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

// ---- Barriers ----

/// Counts arrivals, and bytes that copies bring. A round is over when as many have arrived as it was created for and no
/// byte is missing; then the next one begins.
struct Barrier {
  uint64_t state;

  __device__ void create(unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(inShared(&state)), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(inShared(&state)) : "memory");
  }
  /// Arrives, and so many more bytes are on their way.
  __device__ void arriveAndExpect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(inShared(&state)), "r"(bytes)
                 : "memory");
  }
  /// Until the round with this parity is over. The instruction gives up from time to time.
  __device__ void wait(unsigned parity) {
    unsigned isOver;
    do
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                   : "=r"(isOver)
                   : "r"(inShared(&state)), "r"(parity)
                   : "memory");
    while (!isOver);
  }
};

/// Behind create(): copies that count at a barrier look at it in another way than threads.
__device__ inline void fenceForBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// ---- Copies of boxes ----

/// Asks for the box of the tensor that begins at (row, column); its bytes are counted at `counter`. One thread.
__device__ inline void copyBox(void *to, const CUtensorMap &from, int column, int row, Barrier &counter) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          inShared(to)),
      "l"(&from), "r"(column), "r"(row), "r"(inShared(&counter.state))
      : "memory");
}

/// Asks for a box in shared memory to be stored.
__device__ inline void storeBox(const void *from, const CUtensorMap &to, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(column),
               "r"(row), "r"(inShared(from))
               : "memory");
}
/// What this thread asked for since the last time is a group of stores.
__device__ inline void closeStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Until all groups of this thread but the last `Pending` have read their shared memory.
template <int Pending> __device__ void waitForStores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Copies that are asked for behind this see what this thread wrote to shared memory.
__device__ inline void fenceForCopies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- Products ----

/// An operand in shared memory, rows of 128 bytes, swizzled: eight rows are 1024 bytes from the next eight.
__device__ inline uint64_t describe(const void *operand) {
  constexpr uint64_t kEightRows = 1024 / 16, kSwizzle128 = 1;
  return (inShared(operand) / 16 & 0x3fff) | uint64_t(1) << 16 | kEightRows << 32 | kSwizzle128 << 62;
}

/// Before the first product of a step: registers and shared memory are as they shall be read.
__device__ inline void beginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// The products since the last time are a group.
__device__ inline void endProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until all groups but the last `Pending` are done.
template <int Pending> __device__ void waitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Operands %10 to %19, and so on; registers i to i + 7, and so on.
#define TEN(t) "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define SUMS_8(i)                                                                                                      \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]),        \
      "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)

/// sums (+)= left * right^T: 64 rows and 256 columns, 16 elements of each. All threads of a warpgroup.
__device__ inline void wgmma64x256x16(float (&sums)[128], uint64_t left, uint64_t right, bool addsToSums) {
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %130, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " //
               TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
                   TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, adds, 1, 1, 0, 0;\n}"
               : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
               : "l"(left), "l"(right), "r"(int(addsToSums))
               : "memory");
}
#undef TEN
#undef SUMS_8
#undef SUMS_32

/// Two elements of a row, rounded.
__device__ inline unsigned pack(float first, float second) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}
/// Four fragments of 8 x 8 of a warp into shared memory: lane l says where row l % 8 of fragment l / 8 begins.
__device__ inline void storeFragments(void *row, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(inShared(row)), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

// ---- Registers ----

/// Registers of each thread of this warpgroup from here on.
template <int Count> __device__ void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count> __device__ void leaveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
