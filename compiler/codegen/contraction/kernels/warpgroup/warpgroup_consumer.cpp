// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"

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

TensorCore::Step WarpgroupProduct::operandsOf(const Tile &tile, Value step, uint32_t part) {
  constexpr uint32_t kAlong = 16 * 2, kAcross = 16 * 128;
  Value arena = k_.add(LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arena_), stageBytes(step));
  // So many positions are as many bytes, whichever way they lie.
  auto ofConsumer = [&](uint32_t positions) { return k_.mul(group_, k_.number(positions * kStepBytes)); };
  Value left = arena, right = k_.add(arena, k_.number(tile.left.bytes()));
  if (!isInTurn())
    (areRowsDivided() ? left : right) =
        areRowsDivided() ? k_.add(left, ofConsumer(kGroupRows)) : k_.add(right, ofConsumer(groupColumns()));
  if (part != 0)
    left = k_.add(left, k_.number(int64_t(part) * rowsToNextPart() * kStepBytes));
  const bool leftAlong = tile.left.liesAlongReduced(), rightAlong = tile.right.liesAlongReduced();
  return {.left = descriptor(tile.left, left),
          .right = descriptor(tile.right, right),
          .leftBytes = leftAlong ? kAlong : kAcross,
          .rightBytes = rightAlong ? kAlong : kAcross,
          .leftIsAcross = !leftAlong,
          .rightIsAcross = !rightAlong};
}

/// By one thread of a consumer, or of each of its warps, for each block that fills the stage. Of copied elements every
/// block fills its own.
void WarpgroupProduct::tellEmpty(Value step, Value condition) {
  auto onlyIf = [&](Value isTeller) { return condition ? k_.both(isTeller, condition) : isTeller; };
  Value thread = k_.rem(thread_, k_.number(kGroupThreads / tellers()));
  if (!isInCluster())
    return k_.when(onlyIf(k_.equal(thread, k_.number(0))), [&] { ring_->empty(step); });
  Value fillers = k_.select(isFast_, k_.number(kernel_.cluster), k_.number(1));
  k_.when(onlyIf(k_.less(thread, fillers)), [&] { ring_->emptyFor(step, k_.select(isFast_, thread, rank_)); });
}

/// Of f8: what a step comes to is added to the sums of all steps (product.h). Wide tiles take two turns, so that sums
/// of steps need fewer registers. While one consumer adds, the other one's products run.
WarpgroupProduct::Values WarpgroupProduct::multiplyAndAdd(const Tile &tile, const Part &part, uint32_t parts) {
  static_assert(kStepBytes <= kMostNarrowlySummed);
  const uint32_t columns = groupColumns(), atOnce = columns <= kMostColumnsAtOnce ? columns : kColumnsAtOnce;
  const Values none(parts * kGroupRows * columns / kGroupThreads, neutral(k_, kernel_.product.sum.sum));
  const Values all = k_.loop(k_.number(0), part.count, k_.number(1), none, [&](Value inPart, ValueRange carried) {
    Value step = k_.add(part.first, inPart);
    waitUntilFull(tile, step);
    Values sums = llvm::to_vector(carried);
    Value *sum = sums.begin();
    for (uint32_t turn = 0; turn < parts * columns / atOnce; ++turn) {
      TensorCore::Step operands = operandsOf(tile, step, turn * atOnce / columns);
      operands.right = k_.add(operands.right, k_.number(turn * atOnce % columns * kStepBytes / 16));
      const Values products = core_.waitForProducts(0, core_.multiplyGroup(operands, atOnce));
      if ((turn + 1) * atOnce == parts * columns)
        tellEmpty(step);
      for (Value product : products) {
        *sum = arith::AddFOp::create(k_.b, k_.loc, *sum, product);
        ++sum;
      }
    }
    return sums;
  });
  endSteps();
  return all;
}

/// The products of a step run on while the next one's begin; then its stage is empty.
/// @return sums of each of the first `parts`, one behind the other
WarpgroupProduct::Values WarpgroupProduct::multiply(const Tile &tile, const Part &part, uint32_t parts) {
  if (kernel_.product.addsSteps())
    return multiplyAndAdd(tile, part, parts);
  if (isFromRegisters())
    return multiplyFromRegisters(tile, part, parts);
  const uint32_t ofPart = kGroupRows * groupColumns() / kGroupThreads;
  Values sums(parts * ofPart, neutral(k_, kernel_.product.sum.sum));
  // Zeros that are copied to the second part's sums behind the first one's products would wait for these.
  if (parts > 1 && isa<IntegerType>(sums.front().getType()))
    for (Value &sum : sums)
      sum = k_.opaque(sum);
  sums = k_.loop(k_.number(0), part.count, k_.number(1), sums, [&](Value inPart, ValueRange carried) {
    Value step = k_.add(part.first, inPart), isLater = k_.less(k_.number(0), inPart);
    waitUntilFull(tile, step);
    Value keeps = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI32Type(), isLater);
    Values next;
    for (uint32_t number = 0; number < parts; ++number)
      llvm::append_range(next, core_.multiplyGroup(operandsOf(tile, step, number), groupColumns(), keeps,
                                                   carried.slice(number * ofPart, ofPart)));
    next = core_.waitForProducts(parts, next);
    tellEmpty(k_.sub(step, k_.number(1)), isLater);
    return next;
  });
  endSteps();
  sums = core_.waitForProducts(0, sums);
  tellEmpty(k_.sub(k_.add(part.first, part.count), k_.number(1)), k_.less(k_.number(0), part.count));
  return sums;
}

/// Lane l of a warp has row l / 4 of its 16, and the eighth behind it.
Value WarpgroupProduct::rowOfSums(uint32_t half) {
  Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
  if (!isFromRegisters())
    return k_.add(k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4))), k_.number(8 * half));
  constexpr uint32_t kInChunk = 4, kInBlock = 32;
  Value block = k_.mul(k_.div(warp, k_.number(2)), k_.number(kInBlock));
  Value pair = k_.mul(k_.rem(k_.div(lane, k_.number(4)), k_.number(2)), k_.number(2));
  return k_.add(k_.add(block, k_.mul(chunkOfRegisters(), k_.number(kInChunk))), k_.add(pair, k_.number(half)));
}

/// Lane l of a warp holds columns 2 (l % 4) and the next of each eight, of two rows.
void WarpgroupProduct::write(Tile &tile, const Values &sums, uint32_t columns, Value firstColumn) {
  Value lane = k_.rem(thread_, k_.number(32));
  const Value rows[] = {rowOfSums(0), rowOfSums(1)};
  Value pair = k_.mul(k_.rem(lane, k_.number(4)), k_.number(2));
  SmallVector<ResultPart> parts;
  const uint32_t ofPart = kGroupRows * columns / kGroupThreads;
  auto writePart = [&](uint32_t number, uint32_t first) {
    ResultPart &part = parts.emplace_back();
    part.rows = kGroupRows;
    part.columns = std::min(kPartColumns, columns - first);
    part.rowOf = [this, number](Value inPart) { return k_.add(inPart, firstRow(number)); };
    part.columnOf = [this, first, firstColumn](Value inPart) {
      return k_.add(k_.add(inPart, k_.number(first)), firstColumn);
    };
    for (uint32_t column = 0; column < part.columns / 8; ++column)
      for (uint32_t half = 0; half < 2; ++half) {
        const Value *values = sums.begin() + number * ofPart + 4 * (first / 8 + column) + 2 * half;
        part.runs.push_back({rows[half], k_.add(pair, k_.number(8 * column)), Values(values, values + 2)});
      }
  };
  for (uint32_t number = 0; number < sums.size() / ofPart; ++number)
    for (uint32_t first = 0; first < columns; first += kPartColumns)
      writePart(number, first);
  writeResult(kernel_, tile.space, resultArena(), parts);
}

Value WarpgroupProduct::resultArena() {
  Value parts = k_.number(partsAt(kernel_.rows, stageColumns()));
  return inArena(k_.add(parts, k_.mul(group_, k_.number(partBytes()))));
}

void WarpgroupProduct::consume() {
  k_.takeRegisters(consumerRegisters());
  k_.asTeam(thread_, kGroupThreads, k_.add(group_, k_.number(kFirstBarrier)), [&] {
    // Of a cluster's sums each block has some columns, which are no boxes.
    std::optional<NarrowResult> narrow = isDeep() ? std::nullopt : NarrowResult::of(kernel_);
    Value isNarrow = narrow ? narrow->isAligned() : Value();
    Value map = narrow && kernel_.tensorMaps.size() > 2 ? kernel_.tensorMaps[2] : Value();
    auto writeAll = [&](Tile &tile, const Values &sums) { write(tile, sums, groupColumns(), firstColumn()); };
    auto finish = [&](Tile &tile, const Values &sums, const Values &loaded, uint32_t parts) {
      if (!narrow)
        return writeAll(tile, sums);
      const size_t ofPart = sums.size() / parts;
      k_.branch(
          isNarrow,
          [&] {
            for (uint32_t part = 0; part < parts; ++part)
              narrow->write(tile.space, firstRow(part), firstColumn(), resultArena(),
                            ArrayRef(sums).slice(part * ofPart, ofPart), loaded, map);
          },
          [&] { writeAll(tile, sums); });
    };
    auto compute = [&](Tile &tile, const Part &part, uint32_t parts) {
      // Sums of steps for themselves, and of many columns, have the registers.
      const Values loaded = narrow && !kernel_.product.addsSteps() && producers_ == 1 && !hasManyColumns()
                                ? narrow->load(tile.space, firstColumn(), groupColumns(), isNarrow)
                                : Values();
      Values sums = multiply(tile, part, parts);
      if (isDeep()) { // sums of a part that is not there have places of the others'
        sums.append(sums.size() / parts * (this->parts() - parts), neutral(k_, kernel_.product.sum.sum));
        return writeWithCluster(tile, sums);
      }
      if (!isShared())
        return finish(tile, sums, loaded, parts);
      k_.branch(
          part.item->isLeft, [&] { leaveSums(part, sums); },
          [&] { finish(tile, withSharesOfOthers(part, sums), loaded, parts); });
    };
    if (isInTurn())
      forEachTileInTurn([&](Tile &tile, const Part &part) { compute(tile, part, parts()); });
    else
      forEachTile([&](Tile &tile, const Part &part) {
        if (!mayEndEarly())
          return compute(tile, part, parts());
        // Rows that are not there need not be multiplied.
        Value last = k_.add(tile.space.firstRow(), firstRow(parts() - 1));
        k_.branch(tile.space.isRow(last), [&] { compute(tile, part, parts()); }, [&] { compute(tile, part, 1); });
      });
    if (map)
      k_.when(isNarrow, [&] { narrow->finish(); });
  });
}

} // namespace tenon::compiler::codegen
