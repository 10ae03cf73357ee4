// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/warpgroup_product.h"

#include "compiler/codegen/contraction/operand_tile.h"
#include "compiler/codegen/contraction/result_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kDepth = 64; // a row of 128 bytes
// Of a multiprocessor, for the operands of steps to come. More of them hide more of the second-level cache's latency.
constexpr uint32_t kOperandBytes = 192 << 10;
constexpr uint32_t kGroupRows = 64, kGroupThreads = 128;

uint32_t stageBytesOf(uint32_t rows, uint32_t columns) {
  return (rows + columns) * kDepth * 2;
}
uint32_t stagesOf(uint32_t rows, uint32_t columns) {
  return kOperandBytes / stageBytesOf(rows, columns);
}

class WarpgroupProduct {
public:
  explicit WarpgroupProduct(const ProductKernel &kernel)
      : kernel_(kernel), k_(kernel.k), space_(kernel_), core_(k_, kernel.product.tensorCoreElement()),
        left_(kernel_, space_, core_, kernel_.product.left), right_(kernel_, space_, core_, kernel_.product.right),
        stages_(stagesOf(kernel.rows, kernel.columns)) {}

  void run();

private:
  void runTile();
  using Values = SmallVector<Value>;

  Value stageBytes(Value step) {
    return k_.mul(k_.rem(step, k_.number(stages_)), k_.number(left_.bytes() + right_.bytes()));
  }
  void bring(Value step, Value steps, bool isFast);
  Value descriptor(const OperandTile &tile, Value address);
  TensorCore::Step operandsOf(Value step);
  Values steps(bool isFast);

  ProductKernel kernel_;
  KernelBuilder &k_;
  TileSpace space_;
  TensorCore core_;
  OperandTile left_, right_;
  const uint32_t stages_; // steps whose operands shared memory holds
  Value arena_;
  Value group_; // number of the warpgroup
};

void WarpgroupProduct::bring(Value step, Value steps, bool isFast) {
  k_.when(k_.less(step, steps), [&] {
    Value arena = k_.at(arena_, k_.b.getI8Type(), stageBytes(step));
    left_.bring(arena, step, isFast);
    right_.bring(k_.at(arena, k_.b.getI8Type(), k_.number(left_.bytes())), step, isFast);
  });
  core_.closeGroup();
}

/// Where a tile begins, in 16 bytes, how far eight rows are from the next eight, blocks of 64 positions from each
/// other, and that rows of 128 bytes are swizzled.
Value WarpgroupProduct::descriptor(const OperandTile &tile, Value address) {
  constexpr uint64_t kEightRows = 8 * 128 / 16, kSwizzle128 = uint64_t(1) << 62;
  const uint64_t block = tile.operand().isAlongReduced ? 1 : kDepth * 128 / 16;
  Value start = k_.rem(k_.div(address, k_.number(16)), k_.number(1 << 14));
  return arith::OrIOp::create(k_.b, k_.loc, start, k_.number(int64_t(block << 16 | kEightRows << 32 | kSwizzle128)));
}

TensorCore::Step WarpgroupProduct::operandsOf(Value step) {
  constexpr uint32_t kAlong = 16 * 2, kAcross = 16 * 128;
  Value arena = k_.add(LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arena_), stageBytes(step));
  // 64 rows along the reduced elements, or a block of 64 across: as many bytes.
  Value left = k_.add(arena, k_.mul(group_, k_.number(kGroupRows * kDepth * 2)));
  Value right = k_.add(arena, k_.number(left_.bytes()));
  const bool leftAlong = left_.operand().isAlongReduced, rightAlong = right_.operand().isAlongReduced;
  return {.left = descriptor(left_, left),
          .right = descriptor(right_, right),
          .leftBytes = leftAlong ? kAlong : kAcross,
          .rightBytes = rightAlong ? kAlong : kAcross,
          .leftIsAcross = !leftAlong,
          .rightIsAcross = !rightAlong};
}

/// Operands are copied several steps ahead; the product of the step before runs on while the next one begins.
WarpgroupProduct::Values WarpgroupProduct::steps(bool isFast) {
  Value count = k_.div(k_.add(space_.reduced(), k_.number(kDepth - 1)), k_.number(kDepth));
  // One stage is multiplied, one may still be from the step before.
  const uint32_t ahead = stages_ - 2;
  for (uint32_t step = 0; step < ahead; ++step)
    bring(k_.number(step), count, isFast);
  Values sums(kGroupRows * kernel_.columns / kGroupThreads, neutral(k_, kernel_.product.sum.sum));
  sums = k_.loop(k_.number(0), count, k_.number(1), sums, [&](Value step, ValueRange carried) {
    core_.waitForGroups(ahead - 1);
    core_.publish();
    k_.barrier(); // nobody multiplies any more what the stage holds that is filled now
    bring(k_.add(step, k_.number(ahead)), count, isFast);
    Value keeps = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI32Type(), k_.less(k_.number(0), step));
    return core_.waitForProducts(1, core_.multiplyGroup(operandsOf(step), kernel_.columns, keeps, carried));
  });
  return core_.waitForProducts(0, sums);
}

void WarpgroupProduct::run() {
  // The launch has a block for each of the smaller tiles that other targets compute.
  k_.when(k_.less(k_.block(), space_.tiles()), [&] { runTile(); });
}

void WarpgroupProduct::runTile() {
  arena_ = k_.dynamicShared();
  // The same for all threads of a warp, and the compiler shall know it.
  group_ = k_.shuffleFrom(k_.div(k_.thread(), k_.number(kGroupThreads)), k_.number(0));
  Value aligned = k_.both(left_.isAligned(), right_.isAligned());
  const Values sums = k_.choose(
      aligned, SmallVector<Type>(kGroupRows * kernel_.columns / kGroupThreads, k_.b.getF32Type()),
      [&] { return steps(true); }, [&] { return steps(false); });
  core_.waitForGroups(0);

  ResultPart part;
  part.rows = kernel_.rows;
  part.rowOf = [](Value row) { return row; };
  Value lane = k_.rem(k_.thread(), k_.number(32)), warp = k_.div(k_.thread(), k_.number(32));
  Value row = k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4)));
  Value pair = k_.mul(k_.rem(lane, k_.number(4)), k_.number(2));
  for (uint32_t column = 0; column < kernel_.columns / 8; ++column)
    for (uint32_t half = 0; half < 2; ++half) {
      const Value *values = sums.begin() + 4 * column + 2 * half;
      part.runs.push_back(
          {k_.add(row, k_.number(8 * half)), k_.add(pair, k_.number(8 * column)), Values(values, values + 2)});
    }
  writeResult(kernel_, space_, arena_, part);
}

} // namespace

uint32_t warpgroupSharedBytes(uint32_t rows, uint32_t columns) {
  return std::max(stagesOf(rows, columns) * stageBytesOf(rows, columns), stagedBytes(rows, columns, sizeof(float)));
}

void writeWarpgroupProduct(ProductKernel kernel) {
  kernel.depth = kDepth;
  WarpgroupProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
