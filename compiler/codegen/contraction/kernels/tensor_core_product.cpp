// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/tensor_core_product.h"

#include "compiler/codegen/contraction/kernels/warp_tiles.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kDepthBytes = 64; // of a row of a tile along the reduced elements
// Steps whose operands are in shared memory: what a kernel gets without asking for more holds three.
constexpr uint32_t kStages = 3;
// Of the reduced elements a fragment has 32 bytes, whatever their type: two chunks of a tile.
constexpr uint32_t kFragmentRows = WarpTiles::kFragmentRows, kFragmentColumns = WarpTiles::kFragmentColumns,
                   kFragmentDepthBytes = 32;
constexpr uint32_t kFragmentDepth = kFragmentDepthBytes / 2; // of those that lie across: 16-bit ones

class TensorCoreProduct {
public:
  explicit TensorCoreProduct(const ProductKernel &kernel)
      : kernel_(kernel), k_(kernel.k),
        tiles_(kernel_, kernel.product.warpElement(), kernel.product.rightWarpElement(), kStages) {}

  void run();

private:
  using Values = SmallVector<Value>;

  Values steps(bool isFast);
  Values multiply(Value step, Values sums);
  Values multiplyAndAdd(Value step, Values sums);
  Values leftFragment(Value step, uint32_t number, uint32_t part);
  Values rightFragments(Value step, uint32_t pair, uint32_t part);

  ProductKernel kernel_;
  KernelBuilder &k_;
  WarpTiles tiles_;
};

/// 16 x 16 elements of the left operand: four registers.
TensorCoreProduct::Values TensorCoreProduct::leftFragment(Value step, uint32_t number, uint32_t part) {
  Value lane = tiles_.lane(), eight = k_.number(8), row, chunk;
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

/// Of f8: what a step comes to is added to the sums of all steps (product.h).
TensorCoreProduct::Values TensorCoreProduct::multiplyAndAdd(Value step, Values sums) {
  static_assert(kDepthBytes <= kMostNarrowlySummed);
  const uint32_t rows = tiles_.rows() / kFragmentRows, pairs = tiles_.columns() / (2 * kFragmentColumns);
  constexpr uint32_t kParts = kDepthBytes / kFragmentDepthBytes;
  SmallVector<SmallVector<Values>> right(kParts);
  for (uint32_t part = 0; part < kParts; ++part)
    for (uint32_t pair = 0; pair < pairs; ++pair)
      right[part].push_back(rightFragments(step, pair, part));
  const Values none(4, neutral(k_, kernel_.product.sum.sum));
  Value *sum = sums.begin();
  for (uint32_t row = 0; row < rows; ++row) {
    SmallVector<Values> left;
    for (uint32_t part = 0; part < kParts; ++part)
      left.push_back(leftFragment(step, row, part));
    for (uint32_t column = 0; column < 2 * pairs; ++column) {
      Values products = none;
      for (uint32_t part = 0; part < kParts; ++part)
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

/// Sums: [16 rows][8 columns][4].
TensorCoreProduct::Values TensorCoreProduct::multiply(Value step, Values sums) {
  if (kernel_.product.addsSteps())
    return multiplyAndAdd(step, std::move(sums));
  const uint32_t rows = tiles_.rows() / kFragmentRows, pairs = tiles_.columns() / (2 * kFragmentColumns);
  for (uint32_t part = 0; part < kDepthBytes / kFragmentDepthBytes; ++part) {
    SmallVector<Values> right;
    for (uint32_t pair = 0; pair < pairs; ++pair)
      right.push_back(rightFragments(step, pair, part));
    for (uint32_t row = 0; row < rows; ++row) {
      const Values left = leftFragment(step, row, part);
      for (uint32_t column = 0; column < 2 * pairs; ++column) {
        Value *first = sums.begin() + 4 * (row * 2 * pairs + column);
        const Values products = tiles_.core.multiply(left, ArrayRef(right[column / 2]).slice(2 * (column % 2), 2),
                                                     ArrayRef<Value>(first, 4));
        llvm::copy(products, first);
      }
    }
  }
  return sums;
}

TensorCoreProduct::Values TensorCoreProduct::steps(bool isFast) {
  Value count = tiles_.steps();
  for (uint32_t step = 0; step + 1 < kStages; ++step)
    tiles_.bring(k_.number(step), count, isFast);
  const Values sums(tiles_.sumCount(), neutral(k_, kernel_.product.sum.sum));
  return k_.loop(k_.number(0), count, k_.number(1), sums, [&](Value step, ValueRange carried) {
    tiles_.core.waitForGroups(kStages - 2);
    k_.barrier(); // everybody has read the stage that is filled now
    tiles_.bring(k_.add(step, k_.number(kStages - 1)), count, isFast);
    return multiply(step, llvm::to_vector(carried));
  });
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

void writeTensorCoreProduct(ProductKernel kernel) {
  kernel.depth = kDepthBytes / dispatch::elementBytes(kernel.product.left.value.getType());
  TensorCoreProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
