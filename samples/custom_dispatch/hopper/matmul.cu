// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// result = left * right^T in bf16 on Hopper's tensor cores, written by hand: tensor maps, mbarriers, wgmma.
//
//   tenon-link matmul.cu --target=sm_90a --strict -o matmul.tnx
//
// left is [m, k], right is [n, k], both with k contiguous; result is [m, n]. Sums are f32, rounded to bf16 once.
//
// A block has three warpgroups of 128 threads, and they have roles:
//
//     producer     one thread asks the tensor memory accelerator (TMA) for boxes of left and right; they come into a
//                  ring of stages in shared memory
//     consumer 0   multiplies rows  0 to  63 of the tile by what is in a stage, and writes them
//     consumer 1   multiplies rows 64 to 127
//
// Each stage has two barriers in shared memory: `full` tells consumers that its bytes are there, `empty` tells the
// producer that both consumers have read them. So nobody meets at __syncthreads(): while two stages are multiplied, the
// others are on their way, and while a result is written, the next tile's operands come in.
//
// Blocks are persistent: each computes tile after tile, `gridDim.x` apart, so any grid is right.
#include "hopper.cuh"

#include <tenon/kernel.cuh>

namespace {

constexpr int kConsumers = 2, kThreads = 128 * (1 + kConsumers);
// A tile of the result, and how much of k a step multiplies: 64 bf16 are the 128 bytes that a swizzled row may have.
constexpr int kRows = 64 * kConsumers, kColumns = 256, kDepth = 64;
constexpr int kStages = 4;
// Tiles of so many rows are computed before the next column of them, so that what they read stays in the second-level
// cache.
constexpr int kTilesDown = 8;
// A warp stores its rows of the result as boxes, and has two of them so that one is on its way.
constexpr int kBoxRows = 16, kBoxColumns = 64, kBoxes = 2;
constexpr int kWarps = 4 * kConsumers;

// Registers of a thread. A block of 384 threads is given 168 each; consumers hold 128 sums and need more, the producer
// hardly any. Together they may not have more than before.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;
static_assert(kProducerRegisters + kConsumers * kConsumerRegisters <= 3 * 168);

// Operands are swizzled within 1024 bytes, so everything that a box goes to begins at a multiple of that.
struct Stage {
  bf16 left[kRows][kDepth];
  bf16 right[kColumns][kDepth];
};
struct Shared {
  Stage stages[kStages];
  bf16 results[kWarps][kBoxes][kBoxRows][kBoxColumns];
  Barrier full[kStages], empty[kStages];
};

// Which stage is next, and the parity of the round that it is in: barriers count rounds by one bit.
struct Position {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Tiles of the result, numbered down kTilesDown rows of them, then to the next column.
struct Tiles {
  int down, across;
  __device__ Tiles(int m, int n) : down((m + kRows - 1) / kRows), across((n + kColumns - 1) / kColumns) {}
  __device__ int count() const { return down * across; }
  __device__ void find(int number, int &row, int &column) const {
    int group = number / (kTilesDown * across), inGroup = number % (kTilesDown * across);
    int high = min(kTilesDown, down - group * kTilesDown); // of the last group fewer
    row = (group * kTilesDown + inGroup % high) * kRows;
    column = inGroup / high * kColumns;
  }
};

// One thread: fills stage after stage. What lies outside of a tensor comes as zeros, so k, m and n may be anything.
__device__ void produce(Shared &shared, const CUtensorMap &left, const CUtensorMap &right, Tiles tiles, int steps) {
  Position at;
  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
    int row, column;
    tiles.find(tile, row, column);
    for (int step = 0; step < steps; ++step) {
      Stage &stage = shared.stages[at.stage];
      Barrier &full = shared.full[at.stage];
      // Of a barrier that nobody has arrived at, the round "before" the first is over: the first wait passes.
      shared.empty[at.stage].wait(at.parity ^ 1);
      full.arriveAndExpect(sizeof(Stage));
      copyBox(stage.left, left, step * kDepth, row, full);
      copyBox(stage.right, right, step * kDepth, column, full);
      at.advance();
    }
  }
}

// A step for 64 rows: four products of 64 x 256 x 16. They are asynchronous, and run on until they are waited for.
__device__ void multiply(float (&sums)[128], const Stage &stage, int consumer, bool addsToSums) {
  uint64_t left = describe(stage.left[64 * consumer]), right = describe(stage.right[0]);
  beginProducts();
  for (int k = 0; k < kDepth / 16; ++k) {
    // The next 16 elements of k are 32 bytes behind; descriptors count in 16.
    wgmma64x256x16(sums, left + 2 * k, right + 2 * k, addsToSums || k > 0);
  }
  endProducts();
}

// A warp: 16 rows of sums, by boxes of 64 columns. stmatrix puts the fragments of wgmma into rows, and swizzles them
// as the result's tensor map says; the box is stored by TMA, which leaves out what lies outside of the result.
__device__ void store(bf16 (&boxes)[kBoxes][kBoxRows][kBoxColumns], const float (&sums)[128], const CUtensorMap &result,
                      int row, int column, int n) {
  const int lane = threadIdx.x % 32;
  // A lane holds columns 2 (lane % 4) and the next of each eight, of row lane / 4 and of the eighth behind it.
  for (int box = 0; box < kColumns / kBoxColumns; ++box) {
    bf16(&to)[kBoxRows][kBoxColumns] = boxes[box % kBoxes];
    if (lane == 0)
      waitForStores<kBoxes - 1>();
    __syncwarp();
    for (int pair = 0; pair < kBoxColumns / 16; ++pair) {
      const float *four = &sums[box * (kBoxColumns / 2) + pair * 8];
      // Lane l says where row l % 16 of the left or, from lane 16 on, of the right eight columns lies.
      const int inBox = lane % 16, chunk = 2 * pair + lane / 16;
      storeFragments(&to[inBox][8 * (chunk ^ inBox % 8)], pack(four[0], four[1]), pack(four[2], four[3]),
                     pack(four[4], four[5]), pack(four[6], four[7]));
    }
    // What threads wrote must be seen by the copy, which looks at memory in another way.
    fenceForCopies();
    __syncwarp();
    if (lane == 0 && column + box * kBoxColumns < n)
      storeBox(to, result, column + box * kBoxColumns, row);
    if (lane == 0)
      closeStores();
  }
}

__device__ void consume(Shared &shared, const CUtensorMap &result, Tiles tiles, int n, int steps, int consumer) {
  const int thread = threadIdx.x % 128, warp = thread / 32;
  Position at;
  float sums[128];
  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
    int row, column;
    tiles.find(tile, row, column);
    int before = 0;
    for (int step = 0; step < steps; ++step) {
      shared.full[at.stage].wait(at.parity);
      multiply(sums, shared.stages[at.stage], consumer, step > 0);
      // All products but those just begun are done, so the stage before may be filled again.
      waitForProducts<1>();
      if (thread == 0 && step > 0)
        shared.empty[before].arrive();
      before = at.stage;
      at.advance();
    }
    waitForProducts<0>();
    if (thread == 0)
      shared.empty[before].arrive();
    store(shared.results[4 * consumer + warp], sums, result, row + 64 * consumer + 16 * warp, column, n);
  }
  // Shared memory has to stay until it was read.
  if (thread % 32 == 0)
    waitForStores<0>();
}

} // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    matmul(const bf16 *left, const bf16 *right, bf16 *result, const __grid_constant__ CUtensorMap leftMap,
           const __grid_constant__ CUtensorMap rightMap, const __grid_constant__ CUtensorMap resultMap, int m, int n,
           int k) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  Shared &shared = *reinterpret_cast<Shared *>(bytes);
  const Tiles tiles(m, n);
  const int steps = (k + kDepth - 1) / kDepth;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      shared.full[stage].create(1);
      shared.empty[stage].create(kConsumers);
    }
    fenceForBarriers();
  }
  __syncthreads();
  // The same for all threads of a warp; shuffled, so that the compiler knows it.
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (group == kConsumers) {
    leaveRegisters<kProducerRegisters>();
    if (threadIdx.x == 128 * kConsumers)
      produce(shared, leftMap, rightMap, tiles, steps);
  } else {
    takeRegisters<kConsumerRegisters>();
    consume(shared, resultMap, tiles, n, steps, group);
  }
}
// The runtime encodes the maps from the bindings of each call. Boxes are those of the copies above: half a stage each,
// of a result what a warp stores.
TENON_KERNEL(matmul, TENON_WORKGROUP(kThreads), TENON_DYNAMIC_SHARED(sizeof(Shared)),
             TENON_READ(const bf16 *, left).aligned(16), TENON_READ(const bf16 *, right).aligned(16),
             TENON_WRITE(bf16 *, result).aligned(16),
             TENON_CONSTANT(CUtensorMap, leftMap).encoded<bf16>(0, {kRows, kDepth}).swizzled(128).promoted(128),
             TENON_CONSTANT(CUtensorMap, rightMap).encoded<bf16>(1, {kColumns, kDepth}).swizzled(128).promoted(128),
             TENON_CONSTANT(CUtensorMap, resultMap).encoded<bf16>(2, {kBoxRows, kBoxColumns}).swizzled(128),
             TENON_CONSTANT(int, m), TENON_CONSTANT(int, n), TENON_CONSTANT(int, k));
