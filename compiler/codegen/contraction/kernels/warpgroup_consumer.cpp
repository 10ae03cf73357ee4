// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/warpgroup_roles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

/// Where a tile begins, in 16 bytes, how far eight rows are from the next eight, blocks of 64 positions from each
/// other, and that rows of 128 bytes are swizzled.
Value WarpgroupProduct::descriptor(const OperandTile &tile, Value address) {
  constexpr uint64_t kEightRows = 8 * 128 / 16, kSwizzle128 = uint64_t(1) << 62;
  const uint64_t block = tile.liesAlongReduced() ? 1 : kernel_.depth * 128 / 16;
  Value start = k_.rem(k_.div(address, k_.number(16)), k_.number(1 << 14));
  return arith::OrIOp::create(k_.b, k_.loc, start, k_.number(int64_t(block << 16 | kEightRows << 32 | kSwizzle128)));
}

TensorCore::Step WarpgroupProduct::operandsOf(const Tile &tile, Value step) {
  constexpr uint32_t kAlong = 16 * 2, kAcross = 16 * 128;
  Value arena = k_.add(LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arena_), stageBytes(step));
  // So many positions are as many bytes, whichever way they lie.
  auto ofConsumer = [&](uint32_t positions) { return k_.mul(group_, k_.number(positions * kStepBytes)); };
  Value left = arena, right = k_.add(arena, k_.number(tile.left.bytes()));
  (areRowsDivided() ? left : right) =
      areRowsDivided() ? k_.add(left, ofConsumer(kGroupRows)) : k_.add(right, ofConsumer(groupColumns()));
  const bool leftAlong = tile.left.liesAlongReduced(), rightAlong = tile.right.liesAlongReduced();
  return {.left = descriptor(tile.left, left),
          .right = descriptor(tile.right, right),
          .leftBytes = leftAlong ? kAlong : kAcross,
          .rightBytes = rightAlong ? kAlong : kAcross,
          .leftIsAcross = !leftAlong,
          .rightIsAcross = !rightAlong};
}

/// By one thread of a consumer for each block that fills the stage. Of copied elements every block fills its own.
void WarpgroupProduct::tellEmpty(Value step, Value condition) {
  auto onlyIf = [&](Value isTeller) { return condition ? k_.both(isTeller, condition) : isTeller; };
  if (!isInCluster())
    return k_.when(onlyIf(k_.equal(thread_, k_.number(0))), [&] { ring_->empty(step); });
  Value fillers = k_.select(isFast_, k_.number(kernel_.cluster), k_.number(1));
  k_.when(onlyIf(k_.less(thread_, fillers)), [&] { ring_->emptyFor(step, k_.select(isFast_, thread_, rank_)); });
}

/// Of f8: what a step comes to is added to the sums of all steps (product.h). Wide tiles take two turns, so that sums
/// of steps need fewer registers. While one consumer adds, the other one's products run.
WarpgroupProduct::Values WarpgroupProduct::multiplyAndAdd(const Tile &tile, Value first) {
  static_assert(kStepBytes <= kMostNarrowlySummed);
  const uint32_t columns = groupColumns(), atOnce = columns <= kMostColumnsAtOnce ? columns : kColumnsAtOnce;
  const Values none(kGroupRows * columns / kGroupThreads, neutral(k_, kernel_.product.sum.sum));
  return k_.loop(k_.number(0), count_, k_.number(1), none, [&](Value inTile, ValueRange carried) {
    Value step = k_.add(first, inTile);
    waitUntilFull(tile, step);
    Values sums = llvm::to_vector(carried);
    Value *sum = sums.begin();
    for (uint32_t begin = 0; begin < columns; begin += atOnce) {
      TensorCore::Step operands = operandsOf(tile, step);
      operands.right = k_.add(operands.right, k_.number(begin * kStepBytes / 16));
      const Values products = core_.waitForProducts(0, core_.multiplyGroup(operands, atOnce));
      if (begin + atOnce == columns)
        tellEmpty(step);
      for (Value product : products) {
        *sum = arith::AddFOp::create(k_.b, k_.loc, *sum, product);
        ++sum;
      }
    }
    return sums;
  });
}

/// The product of a step runs on while the next one begins; then its stage is empty.
WarpgroupProduct::Values WarpgroupProduct::multiply(const Tile &tile, Value first) {
  if (kernel_.product.addsSteps())
    return multiplyAndAdd(tile, first);
  Values sums(kGroupRows * groupColumns() / kGroupThreads, neutral(k_, kernel_.product.sum.sum));
  sums = k_.loop(k_.number(0), count_, k_.number(1), sums, [&](Value inTile, ValueRange carried) {
    Value step = k_.add(first, inTile), isLater = k_.less(k_.number(0), inTile);
    waitUntilFull(tile, step);
    Value keeps = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI32Type(), isLater);
    Values next = core_.waitForProducts(1, core_.multiplyGroup(operandsOf(tile, step), groupColumns(), keeps, carried));
    tellEmpty(k_.sub(step, k_.number(1)), isLater);
    return next;
  });
  sums = core_.waitForProducts(0, sums);
  tellEmpty(k_.sub(k_.add(first, count_), k_.number(1)), k_.less(k_.number(0), count_));
  return sums;
}

/// Lane l of a warp holds columns 2 (l % 4) and the next of each eight, of row l / 4 and of the eighth behind it.
void WarpgroupProduct::write(Tile &tile, const Values &sums) {
  Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
  Value row = k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4)));
  Value pair = k_.mul(k_.rem(lane, k_.number(4)), k_.number(2));
  SmallVector<ResultPart> parts;
  for (uint32_t first = 0; first < groupColumns(); first += kPartColumns) {
    ResultPart &part = parts.emplace_back();
    part.rows = kGroupRows;
    part.columns = std::min(kPartColumns, groupColumns() - first);
    part.rowOf = [this](Value inPart) { return k_.add(inPart, firstRow()); };
    part.columnOf = [this, first](Value inPart) { return k_.add(k_.add(inPart, k_.number(first)), firstColumn()); };
    for (uint32_t column = 0; column < part.columns / 8; ++column)
      for (uint32_t half = 0; half < 2; ++half) {
        const Value *values = sums.begin() + 4 * (first / 8 + column) + 2 * half;
        part.runs.push_back(
            {k_.add(row, k_.number(8 * half)), k_.add(pair, k_.number(8 * column)), Values(values, values + 2)});
      }
  }
  writeResult(kernel_, tile.space, resultArena(), parts);
}

Value WarpgroupProduct::resultArena() {
  Value behindStages = k_.number(int64_t(stages_) * stageBytesOf(kernel_.rows, kernel_.columns));
  return inArena(k_.add(behindStages, k_.mul(group_, k_.number(partBytes()))));
}

void WarpgroupProduct::consume() {
  k_.takeRegisters(producers_ > 1 ? kFedRegisters : hasManySums() ? kManyConsumerRegisters : kConsumerRegisters);
  k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)), [&] {
    std::optional<NarrowResult> narrow = NarrowResult::of(kernel_);
    Value isNarrow = narrow ? narrow->isAligned() : Value();
    Value map = kernel_.tensorMaps.size() > 2 ? kernel_.tensorMaps[2] : Value();
    forEachTile([&](Tile &tile, Value first) {
      const Values sums = multiply(tile, first);
      if (!narrow)
        return write(tile, sums);
      k_.branch(
          isNarrow, [&] { narrow->write(tile.space, firstRow(), firstColumn(), resultArena(), sums, map); },
          [&] { write(tile, sums); });
    });
    if (map)
      k_.when(isNarrow, [&] { narrow->finish(); });
  });
}

} // namespace tenon::compiler::codegen
