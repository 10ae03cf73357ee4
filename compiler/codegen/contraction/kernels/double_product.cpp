// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/double_product.h"

#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/kernels/tile_of_warps.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Reduced elements of a step: one product of fragments. Four stages of the largest tile are what a kernel gets without
// asking for more.
constexpr uint32_t kDepth = 8, kStages = 4;

/// A step is two products of each fragment, of its first and its last four reduced elements. While one is made, the
/// operands of the next come from shared memory; between the two the block meets, and goes on with products whose
/// operands it has already.
class DoubleProduct {
public:
  explicit DoubleProduct(const ProductKernel &kernel)
      : kernel_(kernel), k_(kernel.k), type_(kernel.product.sum.sum.type), tiles_(kernel_, type_, {}, kStages),
        down_(tiles_.rows() / TileOfWarps::kFragmentRows), across_(tiles_.columns() / TileOfWarps::kFragmentColumns) {}

  void run();

private:
  using Values = SmallVector<Value>;

  Value elementAt(OperandTile &tile, Value stage, Value across, uint32_t half);
  Values operandsOf(Value step, uint32_t half);
  void multiply(ArrayRef<Value> operands, MutableArrayRef<Value> sums);
  Values steps(bool isFast);

  ProductKernel kernel_;
  KernelBuilder &k_;
  const Type type_;
  TileOfWarps tiles_;
  const uint32_t down_, across_; // fragments of the warp
};

/// The lane's reduced element of a half of a step.
Value DoubleProduct::elementAt(OperandTile &tile, Value stage, Value across, uint32_t half) {
  Value row = across, inRow = k_.add(k_.rem(tiles_.lane(), k_.number(4)), k_.number(half * kDepth / 2));
  if (!tile.liesAlongReduced())
    std::swap(row, inRow);
  Value offset = k_.add(tile.offsetOf(row, k_.div(inRow, k_.number(2))),
                        k_.mul(k_.rem(inRow, k_.number(2)), k_.number(sizeof(double))));
  return k_.load(type_, k_.at(stage, k_.b.getI8Type(), offset), sizeof(double));
}

/// Of the left side for each fragment rows l / 4 and the eighth behind it, then of the right side columns l / 4.
DoubleProduct::Values DoubleProduct::operandsOf(Value step, uint32_t half) {
  Values operands;
  Value inEight = k_.div(tiles_.lane(), k_.number(4)), left = tiles_.leftAt(step), right = tiles_.rightAt(step);
  for (uint32_t row = 0; row < down_ * TileOfWarps::kFragmentRows; row += 8)
    operands.push_back(elementAt(tiles_.left, left, k_.add(k_.add(tiles_.firstRow(), inEight), k_.number(row)), half));
  for (uint32_t column = 0; column < across_ * TileOfWarps::kFragmentColumns; column += 8)
    operands.push_back(
        elementAt(tiles_.right, right, k_.add(k_.add(tiles_.firstColumn(), inEight), k_.number(column)), half));
  return operands;
}

void DoubleProduct::multiply(ArrayRef<Value> operands, MutableArrayRef<Value> sums) {
  const ArrayRef<Value> left = operands.take_front(size_t(2) * down_), right = operands.drop_front(left.size());
  Value *sum = sums.begin();
  for (uint32_t row = 0; row < down_; ++row)
    for (uint32_t column = 0; column < across_; ++column, sum += 4)
      llvm::copy(tiles_.core.multiply(left.slice(2 * row, 2), right.slice(column, 1), ArrayRef<Value>(sum, 4)), sum);
}

DoubleProduct::Values DoubleProduct::steps(bool isFast) {
  const StepRange range = stepsOfBlock(kernel_, tiles_.steps(), rankInDepth(kernel_));
  Value begin = range.begin, end = range.end, zero = neutral(k_, kernel_.product.sum.sum);
  for (uint32_t step = 0; step < kStages; ++step)
    tiles_.bring(k_.add(begin, k_.number(step)), end, isFast);
  tiles_.core.waitForGroups(kStages - 1);
  k_.barrier();
  // Carried: the operands of a step's first half, sums.
  const size_t operands = size_t(2) * down_ + across_;
  Values carried = k_.choose(
      k_.less(begin, end), SmallVector<Type>(operands, type_), [&] { return operandsOf(begin, 0); },
      [&] { return Values(operands, zero); });
  carried.append(tiles_.sumCount(), zero);
  auto loop = [&](Value first, Value last, bool isWhole) {
    carried = k_.loop(first, last, k_.number(1), carried, [&](Value step, ValueRange previous) {
      const Values all = llvm::to_vector(previous), second = operandsOf(step, 1);
      Values sums = llvm::to_vector(ArrayRef(all).drop_front(operands));
      multiply(ArrayRef(all).take_front(operands), sums);
      // The next step is there, and nobody reads this one any more. The last step is its own next one.
      tiles_.core.waitForGroups(kStages - 2);
      k_.barrier();
      Value next = k_.add(step, k_.number(1)), behind = k_.add(step, k_.number(kStages));
      Values following;
      if (isWhole) {
        following = operandsOf(next, 0);
        tiles_.bringWhole(behind, isFast);
      } else {
        following = operandsOf(k_.min(next, k_.sub(end, k_.number(1))), 0);
        tiles_.bring(behind, end, isFast);
      }
      multiply(second, sums);
      llvm::append_range(following, sums);
      return following;
    });
  };
  // Steps behind which another whole one is brought do not ask: products and copies are one run of instructions.
  Value asked = k_.add(begin, k_.number(kStages + 1));
  Value wholes = k_.select(k_.less(asked, end), k_.sub(end, k_.number(kStages + 1)), begin);
  loop(begin, wholes, /*isWhole=*/true);
  loop(wholes, end, /*isWhole=*/false);
  return Values(ArrayRef<Value>(carried).drop_front(operands));
}

void DoubleProduct::run() {
  // One multiplies while another begins or ends; sums take 32 registers of a thread, 64 or 128. Where an element lies
  // takes more where several axes say it, as of a window, and nothing may come to lie on the stack: ptxas (CUDA 13.0)
  // then puts a product at the end of a turn right before one at the beginning of the next that adds to its sums, and
  // does not wait for them.
  const Product &product = kernel_.product;
  const bool isMatrix = product.rows.size() + product.columns.size() + product.reduced.size() == 3;
  k_.wantResident(kernel_.rows <= 32 ? (isMatrix ? 5 : 3) : kernel_.rows <= 64 && isMatrix ? 3 : 2);
  if (kernel_.deep > 1)
    k_.requireClusters(kernel_.deep);
  tiles_.begin();
  const Values sums = k_.choose(
      tiles_.isAligned(), SmallVector<Type>(tiles_.sumCount(), type_), [&] { return steps(true); },
      [&] { return steps(false); });
  tiles_.core.waitForGroups(0);
  kernel_.deep > 1 ? tiles_.addAndWrite(sums) : tiles_.writeSums(sums);
}

} // namespace

void writeDoubleProduct(ProductKernel kernel) {
  kernel.depth = kDepth;
  // Tiles lie inside, so that no position of an element that is copied for itself is clamped.
  if (!kernel.product.routes)
    kernel.pulledBack = {1, 1};
  DoubleProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
