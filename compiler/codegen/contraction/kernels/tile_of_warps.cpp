// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/tile_of_warps.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/result_tile.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Fragments below each other of which a warp stores results at once, where it has so many.
static constexpr uint32_t kPartFragments = 2;

static constexpr uint32_t kAcrossBytes = 128;

/// Tensor cores turn neither those nor f64, so that whoever reads them takes them from where they lie.
static bool isReadSingly(Type element) {
  return element && element.isTF32();
}

/// Eight warps of high tiles are four below each other, so that the part of each is near a square.
static uint32_t warpsDown(uint32_t rows, uint32_t columns, uint32_t warps) {
  return warps == 8 && rows >= 2 * columns ? 4 : 2;
}

TileOfWarps::TileOfWarps(const ProductKernel &kernel, Type element, Type rightElement, uint32_t stages)
    : kernel_(kernel), k_(kernel.k), space(kernel), core(k_, element, rightElement, kernel.target),
      left(kernel, space, core, kernel.product.left, false, kAcrossBytes, isReadSingly(element)),
      right(kernel, space, core, kernel.product.right, false, kAcrossBytes, isReadSingly(element)), stages_(stages),
      warpsDown_(warpsDown(kernel.rows, kernel.columns, k_.threads / 32)), warpsAcross_(k_.threads / 32 / warpsDown_),
      warpRows_(kernel.rows / warpsDown_), warpColumns_(kernel.columns / warpsAcross_) {}

uint32_t TileOfWarps::partRows() const {
  return warpsDown_ * partFragments() * kFragmentRows;
}

uint32_t TileOfWarps::partFragments() const {
  return std::min(kPartFragments, warpRows_ / kFragmentRows);
}

void TileOfWarps::begin() {
  const uint32_t sumBytes = dispatch::elementBytes(storedType(kernel_.product.sum.sum.type));
  const uint32_t ofTile = kernel_.deep > 1 ? kernel_.rows * kernel_.columns * sumBytes : 0;
  const uint32_t bytes = std::max({stages_ * stageBytes(), stagedBytes(partRows(), kernel_.columns, sumBytes), ofTile});
  arena_ = bytes <= abi::kMaxStaticSharedBytes ? k_.shared(k_.b.getI8Type(), bytes, 128) : k_.dynamicShared();
  lane_ = k_.rem(k_.thread(), k_.number(32));
  Value warp = k_.div(k_.thread(), k_.number(32));
  down_ = k_.div(warp, k_.number(warpsAcross_));
  firstRow_ = k_.mul(down_, k_.number(warpRows_));
  firstColumn_ = k_.mul(k_.rem(warp, k_.number(warpsAcross_)), k_.number(warpColumns_));
}

Value TileOfWarps::steps() {
  return k_.div(k_.add(space.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
}

Value TileOfWarps::leftAt(Value step) {
  return k_.at(arena_, k_.b.getI8Type(), k_.mul(k_.rem(step, k_.number(stages_)), k_.number(stageBytes())));
}

Value TileOfWarps::rightAt(Value step) {
  return k_.at(leftAt(step), k_.b.getI8Type(), k_.number(left.bytes()));
}

void TileOfWarps::bring(Value step, Value steps, bool isFast) {
  k_.when(k_.less(step, steps), [&] {
    left.bring(leftAt(step), step, isFast);
    right.bring(rightAt(step), step, isFast);
  });
  core.closeGroup();
}

void TileOfWarps::bringWhole(Value step, bool isFast) {
  left.bringWhole(leftAt(step), step, isFast);
  right.bringWhole(rightAt(step), step, isFast);
  core.closeGroup();
}

bool TileOfWarps::mayBringWithout(uint16_t target) const {
  constexpr uint16_t kFirstWithCopies = 80; // before, threads read from any address that they are given
  return target >= kFirstWithCopies && left.isCopied() && right.isCopied() && kernel_.product.places.empty() &&
         !kernel_.reducedPatches;
}

void TileOfWarps::bringWithout(Value step, Value steps) {
  Value isThere = k_.less(step, steps);
  left.bringWhere(isThere, leftAt(step), step);
  right.bringWhere(isThere, rightAt(step), step);
  core.closeGroup();
}

Value TileOfWarps::isAligned() {
  return k_.both(left.isAligned(), right.isAligned());
}

void TileOfWarps::writeSums(ArrayRef<Value> sums) {
  SmallVector<ResultPart> parts;
  const uint32_t ofWarp = partFragments() * kFragmentRows;
  const uint32_t columns = warpColumns_ / kFragmentColumns;
  Value pair = k_.mul(k_.rem(lane_, k_.number(4)), k_.number(2));
  for (uint32_t first = 0; first < warpRows_ / kFragmentRows; first += partFragments()) {
    ResultPart &part = parts.emplace_back();
    part.rows = partRows();
    part.rowOf = [this, first, ofWarp](Value row) {
      Value warp = k_.mul(k_.div(row, k_.number(ofWarp)), k_.number(warpRows_));
      return k_.add(k_.add(warp, k_.number(first * kFragmentRows)), k_.rem(row, k_.number(ofWarp)));
    };
    for (uint32_t fragment = 0; fragment < partFragments(); ++fragment)
      for (uint32_t column = 0; column < columns; ++column)
        for (uint32_t half = 0; half < 2; ++half) {
          const Value *values = sums.begin() + 4 * ((first + fragment) * columns + column) + 2 * half;
          Value row = k_.add(k_.mul(down_, k_.number(ofWarp)), k_.number(fragment * kFragmentRows + half * 8));
          part.runs.push_back({k_.add(row, k_.div(lane_, k_.number(4))),
                               k_.add(k_.add(firstColumn_, k_.number(column * kFragmentColumns)), pair),
                               SmallVector<Value>(values, values + 2)});
        }
  }
  writeResult(kernel_, space, arena_, parts);
}

/// A unit is the upper or the lower half of the fragments beside each other.
void TileOfWarps::addAndWrite(ArrayRef<Value> sums) {
  constexpr uint32_t kHalfRows = kFragmentRows / 2;
  const uint32_t across = warpColumns_ / kFragmentColumns;
  SmallVector<SmallVector<Value>> units(size_t(2) * warpRows_ / kFragmentRows);
  for (auto [number, unit] : llvm::enumerate(units))
    for (uint32_t column = 0; column < across; ++column)
      llvm::append_range(unit, sums.slice(4 * (number / 2 * across + column) + 2 * (number % 2), 2));
  k_.barrier(); // nobody reads operands any more
  DividedSums(kernel_, arena_, rankInDepth(kernel_), k_.thread(), k_.threads)
      .add(units, [&](Value first, ArrayRef<SmallVector<Value>> added) {
        SmallVector<ResultPart> parts;
        Value pair = k_.mul(k_.rem(lane_, k_.number(4)), k_.number(2));
        for (auto [number, values] : llvm::enumerate(added)) {
          Value ofUnit = k_.mul(k_.add(first, k_.number(int64_t(number))), k_.number(kHalfRows));
          ResultPart &part = parts.emplace_back();
          part.rows = warpsDown_ * kHalfRows;
          part.rowOf = [this, ofUnit](Value row) {
            Value warp = k_.mul(k_.div(row, k_.number(kHalfRows)), k_.number(warpRows_));
            return k_.add(k_.add(warp, ofUnit), k_.rem(row, k_.number(kHalfRows)));
          };
          for (uint32_t column = 0; column < across; ++column)
            part.runs.push_back({k_.add(k_.mul(down_, k_.number(kHalfRows)), k_.div(lane_, k_.number(4))),
                                 k_.add(k_.add(firstColumn_, k_.number(column * kFragmentColumns)), pair),
                                 SmallVector<Value>(ArrayRef(values).slice(size_t(2) * column, 2))});
        }
        writeResult(kernel_, space, arena_, parts);
      });
}

} // namespace tenon::compiler::codegen
