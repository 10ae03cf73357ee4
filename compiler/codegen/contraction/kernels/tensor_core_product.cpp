// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/tensor_core_product.h"

#include "compiler/codegen/contraction/operand_tile.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kDepthBytes = 64; // of a row of a tile along the reduced elements
// Steps whose operands are in shared memory: what a kernel gets without asking for more holds three.
constexpr uint32_t kStages = 3;
constexpr uint32_t kWarpsDown = 2, kWarpsAcross = 4;
// Of the reduced elements a fragment has 32 bytes, whatever their type: two chunks of a tile.
constexpr uint32_t kFragmentRows = 16, kFragmentColumns = 8, kFragmentDepthBytes = 32;
constexpr uint32_t kFragmentDepth = kFragmentDepthBytes / 2; // of those that lie across: 16-bit ones

class TensorCoreProduct {
public:
  explicit TensorCoreProduct(const ProductKernel &kernel)
      : kernel_(kernel), k_(kernel.k), space_(kernel_),
        core_(k_, kernel.product.warpElement(), kernel.product.rightWarpElement(), kernel.target),
        left_(kernel_, space_, core_, kernel_.product.left), right_(kernel_, space_, core_, kernel_.product.right),
        warpRows_(kernel.rows / kWarpsDown), warpColumns_(kernel.columns / kWarpsAcross) {}

  void run();

private:
  using Values = SmallVector<Value>;

  Value stage(Value step) {
    return k_.at(arena_, k_.b.getI8Type(),
                 k_.mul(k_.rem(step, k_.number(kStages)), k_.number(left_.bytes() + right_.bytes())));
  }
  void bring(Value step, Value steps, bool isFast);
  Values steps(bool isFast);
  Values multiply(Value stage, Values sums);
  Values multiplyAndAdd(Value stage, Values sums);
  Values leftFragment(Value stage, uint32_t number, uint32_t part);
  Values rightFragments(Value stage, uint32_t pair, uint32_t part);

  ProductKernel kernel_;
  KernelBuilder &k_;
  TileSpace space_;
  TensorCore core_;
  OperandTile left_, right_;
  const uint32_t warpRows_, warpColumns_;
  Value arena_;
  Value lane_, firstRow_, firstColumn_; // of the warp, in the tile
};

void TensorCoreProduct::bring(Value step, Value steps, bool isFast) {
  k_.when(k_.less(step, steps), [&] {
    Value arena = stage(step);
    left_.bring(arena, step, isFast);
    right_.bring(k_.at(arena, k_.b.getI8Type(), k_.number(left_.bytes())), step, isFast);
  });
  core_.closeGroup();
}

/// 16 x 16 elements of the left operand: four registers.
TensorCoreProduct::Values TensorCoreProduct::leftFragment(Value stage, uint32_t number, uint32_t part) {
  Value eight = k_.number(8), row, chunk;
  if (left_.liesAlongReduced()) {
    row = k_.add(k_.add(firstRow_, k_.number(number * kFragmentRows)), k_.rem(lane_, k_.number(16)));
    chunk = k_.add(k_.number(part * 2), k_.div(lane_, k_.number(16)));
  } else {
    row = k_.add(k_.number(part * kFragmentDepth),
                 k_.add(k_.mul(k_.div(lane_, k_.number(16)), eight), k_.rem(lane_, eight)));
    chunk = k_.add(k_.add(k_.div(firstRow_, eight), k_.number(number * 2)), k_.rem(k_.div(lane_, eight), k_.number(2)));
  }
  return core_.loadMatrices(k_.at(stage, k_.b.getI8Type(), left_.offsetOf(row, chunk)), !left_.liesAlongReduced());
}

/// Twice 16 x 8 elements of the right operand, side by side: two registers each.
TensorCoreProduct::Values TensorCoreProduct::rightFragments(Value stage, uint32_t pair, uint32_t part) {
  Value eight = k_.number(8), row, chunk;
  Value inDepth = k_.rem(k_.div(lane_, eight), k_.number(2)), inPair = k_.div(lane_, k_.number(16));
  if (right_.liesAlongReduced()) {
    row = k_.add(k_.add(firstColumn_, k_.number(pair * 2 * kFragmentColumns)),
                 k_.add(k_.mul(inPair, eight), k_.rem(lane_, eight)));
    chunk = k_.add(k_.number(part * 2), inDepth);
  } else {
    row = k_.add(k_.number(part * kFragmentDepth), k_.add(k_.mul(inDepth, eight), k_.rem(lane_, eight)));
    chunk = k_.add(k_.add(k_.div(firstColumn_, eight), k_.number(pair * 2)), inPair);
  }
  Value tile = k_.at(stage, k_.b.getI8Type(), k_.number(left_.bytes()));
  return core_.loadMatrices(k_.at(tile, k_.b.getI8Type(), right_.offsetOf(row, chunk)), !right_.liesAlongReduced());
}

/// Of f8: what a step comes to is added to the sums of all steps (product.h).
TensorCoreProduct::Values TensorCoreProduct::multiplyAndAdd(Value stage, Values sums) {
  static_assert(kDepthBytes <= kMostNarrowlySummed);
  const uint32_t rows = warpRows_ / kFragmentRows, pairs = warpColumns_ / (2 * kFragmentColumns);
  constexpr uint32_t kParts = kDepthBytes / kFragmentDepthBytes;
  SmallVector<SmallVector<Values>> right(kParts);
  for (uint32_t part = 0; part < kParts; ++part)
    for (uint32_t pair = 0; pair < pairs; ++pair)
      right[part].push_back(rightFragments(stage, pair, part));
  const Values none(4, neutral(k_, kernel_.product.sum.sum));
  Value *sum = sums.begin();
  for (uint32_t row = 0; row < rows; ++row) {
    SmallVector<Values> left;
    for (uint32_t part = 0; part < kParts; ++part)
      left.push_back(leftFragment(stage, row, part));
    for (uint32_t column = 0; column < 2 * pairs; ++column) {
      Values products = none;
      for (uint32_t part = 0; part < kParts; ++part)
        products = core_.multiply(left[part], ArrayRef(right[part][column / 2]).slice(2 * (column % 2), 2), products);
      for (Value product : products) {
        *sum = arith::AddFOp::create(k_.b, k_.loc, *sum, product);
        ++sum;
      }
    }
  }
  return sums;
}

/// Sums: [16 rows][8 columns][4].
TensorCoreProduct::Values TensorCoreProduct::multiply(Value stage, Values sums) {
  if (kernel_.product.addsSteps())
    return multiplyAndAdd(stage, std::move(sums));
  const uint32_t rows = warpRows_ / kFragmentRows, pairs = warpColumns_ / (2 * kFragmentColumns);
  for (uint32_t part = 0; part < kDepthBytes / kFragmentDepthBytes; ++part) {
    SmallVector<Values> right;
    for (uint32_t pair = 0; pair < pairs; ++pair)
      right.push_back(rightFragments(stage, pair, part));
    for (uint32_t row = 0; row < rows; ++row) {
      const Values left = leftFragment(stage, row, part);
      for (uint32_t column = 0; column < 2 * pairs; ++column) {
        Value *first = sums.begin() + 4 * (row * 2 * pairs + column);
        const Values products =
            core_.multiply(left, ArrayRef(right[column / 2]).slice(2 * (column % 2), 2), ArrayRef<Value>(first, 4));
        llvm::copy(products, first);
      }
    }
  }
  return sums;
}

TensorCoreProduct::Values TensorCoreProduct::steps(bool isFast) {
  Value count = k_.div(k_.add(space_.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
  for (uint32_t step = 0; step + 1 < kStages; ++step)
    bring(k_.number(step), count, isFast);
  const Values sums(warpRows_ * warpColumns_ / 32, neutral(k_, kernel_.product.sum.sum));
  return k_.loop(k_.number(0), count, k_.number(1), sums, [&](Value step, ValueRange carried) {
    core_.waitForGroups(kStages - 2);
    k_.barrier(); // everybody has read the stage that is filled now
    bring(k_.add(step, k_.number(kStages - 1)), count, isFast);
    return multiply(stage(step), llvm::to_vector(carried));
  });
}

void TensorCoreProduct::run() {
  constexpr uint32_t kPartFragments = 2;
  const uint32_t partRows = kWarpsDown * kPartFragments * kFragmentRows;
  arena_ = k_.shared(
      k_.b.getI8Type(),
      std::max(kStages * (left_.bytes() + right_.bytes()), stagedBytes(partRows, kernel_.columns, sizeof(float))), 128);
  lane_ = k_.rem(k_.thread(), k_.number(32));
  Value warp = k_.div(k_.thread(), k_.number(32)), down = k_.div(warp, k_.number(kWarpsAcross));
  firstRow_ = k_.mul(down, k_.number(warpRows_));
  firstColumn_ = k_.mul(k_.rem(warp, k_.number(kWarpsAcross)), k_.number(warpColumns_));
  Value aligned = k_.both(left_.isAligned(), right_.isAligned());
  const Values sums = k_.choose(
      aligned, SmallVector<Type>(warpRows_ * warpColumns_ / 32, kernel_.product.sum.sum.type),
      [&] { return steps(true); }, [&] { return steps(false); });
  core_.waitForGroups(0);

  SmallVector<ResultPart> parts;
  constexpr uint32_t ofWarp = kPartFragments * kFragmentRows;
  const uint32_t columns = warpColumns_ / kFragmentColumns;
  for (uint32_t first = 0; first < warpRows_ / kFragmentRows; first += kPartFragments) {
    ResultPart &part = parts.emplace_back();
    part.rows = partRows;
    part.rowOf = [this, first](Value row) {
      Value warp = k_.mul(k_.div(row, k_.number(ofWarp)), k_.number(warpRows_));
      return k_.add(k_.add(warp, k_.number(first * kFragmentRows)), k_.rem(row, k_.number(ofWarp)));
    };
    Value pair = k_.mul(k_.rem(lane_, k_.number(4)), k_.number(2));
    for (uint32_t fragment = 0; fragment < kPartFragments; ++fragment)
      for (uint32_t column = 0; column < columns; ++column)
        for (uint32_t half = 0; half < 2; ++half) {
          const Value *values = sums.begin() + 4 * ((first + fragment) * columns + column) + 2 * half;
          Value row = k_.add(k_.mul(down, k_.number(ofWarp)), k_.number(fragment * kFragmentRows + half * 8));
          part.runs.push_back({k_.add(row, k_.div(lane_, k_.number(4))),
                               k_.add(k_.add(firstColumn_, k_.number(column * kFragmentColumns)), pair),
                               Values(values, values + 2)});
        }
  }
  writeResult(kernel_, space_, arena_, parts);
}

} // namespace

void writeTensorCoreProduct(ProductKernel kernel) {
  kernel.depth = kDepthBytes / dispatch::elementBytes(kernel.product.left.value.getType());
  TensorCoreProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
