// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/tensor_core_product.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/tile_of_warps.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of the reduced elements a fragment has 32 bytes, whatever their type: two chunks of a tile.
constexpr uint32_t kFragmentRows = TileOfWarps::kFragmentRows, kFragmentColumns = TileOfWarps::kFragmentColumns,
                   kFragmentDepthBytes = 32;
constexpr uint32_t kFragmentDepth = kFragmentDepthBytes / 2; // of those that lie across: 16-bit ones

/// A step is several products of each fragment, of 32 bytes of its reduced elements each. While one is made, the
/// fragments of the next come from shared memory; ahead of the last the block meets, and goes on with products whose
/// fragments it has already.
class TensorCoreProduct {
public:
  TensorCoreProduct(const ProductKernel &kernel, uint32_t depthBytes, uint32_t stages)
      : kernel_(kernel), k_(kernel.k), depthBytes_(depthBytes), stages_(stages),
        tiles_(kernel_, kernel.product.warpElement(), kernel.product.rightWarpElement(), stages),
        down_(tiles_.rows() / kFragmentRows), pairs_(tiles_.columns() / (2 * kFragmentColumns)) {}

  void run();

private:
  using Values = SmallVector<Value>;

  Values steps(bool isFast);
  Values inOrder(bool isFast);
  void multiply(ArrayRef<Value> fragments, MutableArrayRef<Value> sums);
  Values multiplyAndAdd(Value step, Values sums);
  Values fragmentsOf(Value step, uint32_t part);
  Values leftFragment(Value step, uint32_t number, uint32_t part);
  Values rightFragments(Value step, uint32_t pair, uint32_t part);
  bool isReadSingly(const OperandTile &tile) const {
    return kernel_.product.warpElement().isTF32() && !tile.liesAlongReduced();
  }
  Values elementsOf(OperandTile &tile, Value arena, Value first, uint32_t part);
  uint32_t parts() const { return depthBytes_ / kFragmentDepthBytes; }

  ProductKernel kernel_;
  KernelBuilder &k_;
  const uint32_t depthBytes_, stages_;
  TileOfWarps tiles_;
  const uint32_t down_, pairs_; // fragments of the warp, those beside each other two by two
};

/// Of tf32 that lie across, 16 positions from `first` on and the part's eight reduced elements, one by one: of those
/// eight positions from each other, at two reduced elements each. Which reduced elements a lane has is free where both
/// sides lie so: neighbours, so that four lanes read four lines whose chunks are no neighbours, which are all banks
/// once.
TensorCoreProduct::Values TensorCoreProduct::elementsOf(OperandTile &tile, Value arena, Value first, uint32_t part) {
  constexpr uint32_t kLines = 8, kChunk = 4;
  const bool areBoth = !tiles_.left.liesAlongReduced() && !tiles_.right.liesAlongReduced();
  Value lane = tiles_.lane(), line = k_.mul(k_.rem(lane, k_.number(4)), k_.number(areBoth ? 2 : 1));
  Values elements;
  for (uint32_t next = 0; next < 2; ++next)
    for (uint32_t half = 0; half < 2; ++half) {
      Value row = k_.add(line, k_.number(part * kLines + next * (areBoth ? 1 : kLines / 2)));
      Value position = k_.add(k_.add(first, k_.div(lane, k_.number(4))), k_.number(half * 8));
      Value chunk = k_.at(arena, k_.b.getI8Type(), tile.offsetOf(row, k_.div(position, k_.number(kChunk))));
      Value at = k_.at(chunk, k_.b.getI32Type(), k_.rem(position, k_.number(kChunk)));
      elements.push_back(k_.load(k_.b.getI32Type(), at, sizeof(float)));
    }
  return elements;
}

/// 16 x 16 elements of the left operand: four registers.
TensorCoreProduct::Values TensorCoreProduct::leftFragment(Value step, uint32_t number, uint32_t part) {
  Value lane = tiles_.lane(), eight = k_.number(8), row, chunk;
  if (isReadSingly(tiles_.left))
    return elementsOf(tiles_.left, tiles_.leftAt(step), k_.add(tiles_.firstRow(), k_.number(number * kFragmentRows)),
                      part);
  if (tiles_.left.liesAlongReduced()) {
    row = k_.add(k_.add(tiles_.firstRow(), k_.number(number * kFragmentRows)), k_.rem(lane, k_.number(16)));
    chunk = k_.add(k_.number(part * 2), k_.div(lane, k_.number(16)));
  } else {
    row = k_.add(k_.number(part * kFragmentDepth),
                 k_.add(k_.mul(k_.div(lane, k_.number(16)), eight), k_.rem(lane, eight)));
    chunk = k_.add(k_.add(k_.div(tiles_.firstRow(), eight), k_.number(number * 2)),
                   k_.rem(k_.div(lane, eight), k_.number(2)));
  }
  return tiles_.core.loadMatrices(k_.at(tiles_.leftAt(step), k_.b.getI8Type(), tiles_.left.offsetOf(row, chunk)),
                                  !tiles_.left.liesAlongReduced());
}

/// Twice 16 x 8 elements of the right operand, side by side: two registers each.
TensorCoreProduct::Values TensorCoreProduct::rightFragments(Value step, uint32_t pair, uint32_t part) {
  Value lane = tiles_.lane(), eight = k_.number(8), row, chunk;
  if (isReadSingly(tiles_.right)) {
    const Values all = elementsOf(tiles_.right, tiles_.rightAt(step),
                                  k_.add(tiles_.firstColumn(), k_.number(pair * 2 * kFragmentColumns)), part);
    return {all[0], all[2], all[1], all[3]};
  }
  Value inDepth = k_.rem(k_.div(lane, eight), k_.number(2)), inPair = k_.div(lane, k_.number(16));
  if (tiles_.right.liesAlongReduced()) {
    row = k_.add(k_.add(tiles_.firstColumn(), k_.number(pair * 2 * kFragmentColumns)),
                 k_.add(k_.mul(inPair, eight), k_.rem(lane, eight)));
    chunk = k_.add(k_.number(part * 2), inDepth);
  } else {
    row = k_.add(k_.number(part * kFragmentDepth), k_.add(k_.mul(inDepth, eight), k_.rem(lane, eight)));
    chunk = k_.add(k_.add(k_.div(tiles_.firstColumn(), eight), k_.number(pair * 2)), inPair);
  }
  return tiles_.core.loadMatrices(k_.at(tiles_.rightAt(step), k_.b.getI8Type(), tiles_.right.offsetOf(row, chunk)),
                                  !tiles_.right.liesAlongReduced());
}

/// Of the left side [16 rows][4], then of the right side [twice 8 columns][4].
TensorCoreProduct::Values TensorCoreProduct::fragmentsOf(Value step, uint32_t part) {
  Values fragments;
  for (uint32_t row = 0; row < down_; ++row)
    llvm::append_range(fragments, leftFragment(step, row, part));
  for (uint32_t pair = 0; pair < pairs_; ++pair)
    llvm::append_range(fragments, rightFragments(step, pair, part));
  return fragments;
}

/// Of f8: what a step comes to is added to the sums of all steps (product.h).
TensorCoreProduct::Values TensorCoreProduct::multiplyAndAdd(Value step, Values sums) {
  assert(depthBytes_ <= kMostNarrowlySummed);
  SmallVector<SmallVector<Values>> right(parts());
  for (uint32_t part = 0; part < parts(); ++part)
    for (uint32_t pair = 0; pair < pairs_; ++pair)
      right[part].push_back(rightFragments(step, pair, part));
  const Values none(4, neutral(k_, kernel_.product.sum.sum));
  Value *sum = sums.begin();
  for (uint32_t row = 0; row < down_; ++row) {
    SmallVector<Values> left;
    for (uint32_t part = 0; part < parts(); ++part)
      left.push_back(leftFragment(step, row, part));
    for (uint32_t column = 0; column < 2 * pairs_; ++column) {
      Values products = none;
      for (uint32_t part = 0; part < parts(); ++part)
        products =
            tiles_.core.multiply(left[part], ArrayRef(right[part][column / 2]).slice(2 * (column % 2), 2), products);
      for (Value product : products) {
        *sum = arith::AddFOp::create(k_.b, k_.loc, *sum, product);
        ++sum;
      }
    }
  }
  return sums;
}

/// Sums: [16 rows][8 columns][4]. Every other row of fragments is multiplied from its end on, with the right fragment
/// that was multiplied last: that takes less power (an H200, 8192 x 8192 x 8192 of bf16: 2268 -> 2233 us).
void TensorCoreProduct::multiply(ArrayRef<Value> fragments, MutableArrayRef<Value> sums) {
  const ArrayRef<Value> left = fragments.take_front(size_t(4) * down_), right = fragments.drop_front(left.size());
  for (uint32_t row = 0; row < down_; ++row)
    for (uint32_t each = 0; each < 2 * pairs_; ++each) {
      const uint32_t column = row % 2 == 0 ? each : 2 * pairs_ - 1 - each;
      Value *sum = sums.begin() + 4 * (row * 2 * pairs_ + column);
      llvm::copy(tiles_.core.multiply(left.slice(4 * row, 4), right.slice(2 * column, 2), ArrayRef<Value>(sum, 4)),
                 sum);
    }
}

/// Fragments are read where they are multiplied.
TensorCoreProduct::Values TensorCoreProduct::inOrder(bool isFast) {
  Value count = tiles_.steps();
  for (uint32_t step = 0; step + 1 < stages_; ++step)
    tiles_.bring(k_.number(step), count, isFast);
  const Values sums(tiles_.sumCount(), neutral(k_, kernel_.product.sum.sum));
  return k_.loop(k_.number(0), count, k_.number(1), sums, [&](Value step, ValueRange carried) {
    tiles_.core.waitForGroups(stages_ - 2);
    k_.barrier(); // everybody has read the stage that is filled now
    tiles_.bring(k_.add(step, k_.number(stages_ - 1)), count, isFast);
    return multiplyAndAdd(step, llvm::to_vector(carried));
  });
}

TensorCoreProduct::Values TensorCoreProduct::steps(bool isFast) {
  if (kernel_.product.addsSteps())
    return inOrder(isFast);
  Value end = tiles_.steps(), zero = neutral(k_, kernel_.product.sum.sum);
  // Products and copies are one run of instructions, where nothing has to be computed that is not there: behind the
  // last step come zeros that nobody multiplies.
  const bool hasNoBranch = isFast && tiles_.mayBringWithout(kernel_.target);
  auto bring = [&](Value step) { hasNoBranch ? tiles_.bringWithout(step, end) : tiles_.bring(step, end, isFast); };
  k_.loop(k_.number(0), k_.number(stages_), k_.number(1), {}, [&](Value step, ValueRange) {
    bring(step);
    return Values();
  });
  tiles_.core.waitForGroups(stages_ - 1);
  k_.barrier();
  // Carried: the fragments of a step's first part, sums. Of no step they are never multiplied.
  const size_t fragments = size_t(4) * (down_ + pairs_);
  const Value none = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0));
  Values carried = k_.choose(
      k_.less(k_.number(0), end), SmallVector<Type>(fragments, k_.b.getI32Type()),
      [&] { return fragmentsOf(k_.number(0), 0); }, [&] { return Values(fragments, none); });
  carried.append(tiles_.sumCount(), zero);
  carried = k_.loop(k_.number(0), end, k_.number(1), carried, [&](Value step, ValueRange previous) {
    const Values all = llvm::to_vector(previous);
    Values part = llvm::to_vector(ArrayRef(all).take_front(fragments));
    Values sums = llvm::to_vector(ArrayRef(all).drop_front(fragments));
    for (uint32_t next = 1; next < parts(); ++next) {
      Values following = fragmentsOf(step, next);
      multiply(part, sums);
      part = std::move(following);
    }
    // The next step is there, and nobody reads this one any more, but where the last step is its own next one.
    tiles_.core.waitForGroups(stages_ - 2);
    k_.barrier();
    Value next = k_.add(step, k_.number(1));
    Values following = fragmentsOf(hasNoBranch ? next : k_.min(next, k_.sub(end, k_.number(1))), 0);
    bring(k_.add(step, k_.number(stages_)));
    multiply(part, sums);
    llvm::append_range(following, sums);
    return following;
  });
  return Values(ArrayRef<Value>(carried).drop_front(fragments));
}

void TensorCoreProduct::run() {
  tiles_.begin();
  const Values sums = k_.choose(
      tiles_.isAligned(), SmallVector<Type>(tiles_.sumCount(), kernel_.product.sum.sum.type),
      [&] { return steps(true); }, [&] { return steps(false); });
  tiles_.core.waitForGroups(0);
  tiles_.writeSums(sums);
}

} // namespace

uint32_t tensorCoreThreads(const Product &product, uint32_t rows, uint32_t columns, uint16_t target) {
  constexpr uint32_t kAll = 256, kFew = 128, kLarge = 128 * 128, kFirstWithCopies = 80;
  const bool isWindow = product.rows.size() != 1 || product.columns.size() != 1 || product.reduced.size() != 1 ||
                        product.left.border || product.right.border;
  const bool isWide = rows * columns > kLarge || (rows * columns == kLarge && isWindow);
  return target < kFirstWithCopies || isWide ? kAll : kFew;
}

TensorCoreStages TensorCoreStages::ofStatic(uint32_t rows, uint32_t columns) {
  constexpr uint32_t kMost = 4;
  TensorCoreStages stages;
  stages.count = std::min(kMost, abi::kMaxStaticSharedBytes / ((rows + columns) * stages.depthBytes));
  return stages;
}

void writeTensorCoreProduct(ProductKernel kernel, const TensorCoreStages &stages) {
  kernel.depth = stages.depthBytes / dispatch::elementBytes(kernel.product.left.value.getType());
  TensorCoreProduct(kernel, stages.depthBytes, stages.count).run();
}

} // namespace tenon::compiler::codegen
