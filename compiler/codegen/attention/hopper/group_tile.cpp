// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/group_tile.h"

#include "compiler/codegen/contraction/narrow_result.h"
#include "compiler/codegen/contraction/result_tile.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// Columns of a result that are in shared memory at once: half of few, a multiple of eight.
uint32_t partColumns(uint32_t columns) {
  return columns > 64 ? 64 : uint32_t(llvm::alignTo(columns / 2, 8));
}

/// Row and first column of a thread.
std::pair<Value, Value> placeOf(KernelBuilder &k, Value thread) {
  Value lane = k.rem(thread, k.number(32)), warp = k.div(thread, k.number(32));
  return {k.add(k.mul(warp, k.number(16)), k.div(lane, k.number(4))), k.mul(k.rem(lane, k.number(4)), k.number(2))};
}

} // namespace

Value tileDescriptor(KernelBuilder &k, Value arena, Value bytes, uint32_t blockBytes) {
  constexpr uint64_t kEightRows = 8 * 128 / 16, kSwizzle128 = uint64_t(1) << 62;
  Value address = k.add(LLVM::PtrToIntOp::create(k.b, k.loc, k.b.getI64Type(), arena), bytes);
  Value start = k.rem(k.div(address, k.number(16)), k.number(1 << 14)); // in 16 bytes
  return arith::OrIOp::create(k.b, k.loc, start,
                              k.number(int64_t(uint64_t(blockBytes / 16) << 16 | kEightRows << 32 | kSwizzle128)));
}

SmallVector<LogitRun> runsOfGroup(KernelBuilder &k, Value thread, Value firstRow, Value firstKey,
                                  ArrayRef<Value> scores, ArrayRef<Value> seconds) {
  const auto [inRows, inKeys] = placeOf(k, thread);
  Value row = k.add(firstRow, inRows), key = k.add(firstKey, inKeys);
  SmallVector<LogitRun> runs;
  for (uint32_t half = 0; half < 2; ++half)
    for (uint32_t column = 0; column < scores.size() / 4; ++column) {
      const uint32_t first = 4 * column + 2 * half;
      runs.push_back({k.add(row, k.number(8 * half)), k.add(key, k.number(8 * column)),
                      llvm::to_vector(scores.slice(first, 2)),
                      seconds.empty() ? SmallVector<Value>() : llvm::to_vector(seconds.slice(first, 2))});
    }
  return runs;
}

SmallVector<SmallVector<Value>> rowsOfRuns(ArrayRef<LogitRun> runs) {
  SmallVector<SmallVector<Value>> rows(2);
  for (auto [number, run] : llvm::enumerate(runs))
    llvm::append_range(rows[number / (runs.size() / 2)], run.scores);
  return rows;
}

SmallVector<Value> factorsOfGroup(TensorCore &core, ArrayRef<SmallVector<Value>> weights) {
  SmallVector<Value> factors;
  for (size_t first = 0; first < weights.front().size(); first += 2)
    for (const SmallVector<Value> &row : weights)
      factors.push_back(core.pair(row[first], row[first + 1]));
  return factors;
}

void hideFactors(KernelBuilder &k, Value thread, Value keys, bool areEven, MutableArrayRef<Value> factors) {
  Value own = k.sub(keys, placeOf(k, thread).second); // from the thread's first key on
  const int64_t most = int64_t(factors.size()) * 4;
  own = k.word(arith::MinSIOp::create(k.b, k.loc, own, k.number(most)));
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(k.b, k.loc, k.b.getI32IntegerAttr(int32_t(value)));
  };
  auto isMore = [&](uint32_t than) -> Value {
    return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::sgt, own, word(than));
  };
  for (uint32_t column = 0; column < factors.size() / 2; ++column)
    for (uint32_t row = 0; row < 2; ++row) {
      Value &factor = factors[2 * column + row];
      Value shown = factor;
      if (!areEven) // the second of two keys may be the one that is not there
        shown = k.select(isMore(8 * column + 1), factor, arith::AndIOp::create(k.b, k.loc, factor, word(0xffff)));
      factor = k.select(isMore(8 * column), shown, word(0));
    }
}

uint32_t groupResultBytes(uint32_t columns) {
  // Of results that are no wider than one of its halves, the other is not touched.
  const uint32_t narrow = columns > NarrowResult::kColumns ? NarrowResult::bytes() : NarrowResult::bytes() / 2;
  // Boxes and rows of 128 bytes begin at multiples of 1024.
  return llvm::alignTo(std::max(stagedBytes(kGroupRows, partColumns(columns), sizeof(float)), narrow), 1024);
}

void writeGroupResult(const ProductKernel &output, TileSpace &space, Value thread, Value arena, uint32_t columns,
                      ArrayRef<Value> values) {
  KernelBuilder &k = output.k;
  auto byParts = [&] {
    const auto [row, pair] = placeOf(k, thread);
    const uint32_t most = partColumns(columns);
    SmallVector<ResultPart> parts;
    for (uint32_t first = 0; first < columns; first += most) {
      const uint32_t width = std::min(most, columns - first);
      ResultPart &part = parts.emplace_back();
      part.rows = kGroupRows;
      part.columns = width;
      part.rowOf = [](Value inPart) { return inPart; };
      part.columnOf = [&k, first](Value inPart) { return k.add(inPart, k.number(first)); };
      for (uint32_t column = 0; column < width / 8; ++column)
        for (uint32_t half = 0; half < 2; ++half)
          part.runs.push_back({k.add(row, k.number(8 * half)), k.add(pair, k.number(8 * column)),
                               llvm::to_vector(values.slice(4 * (first / 8 + column) + 2 * half, 2))});
    }
    writeResult(output, space, arena, parts);
  };
  std::optional<NarrowResult> narrow = NarrowResult::of(output);
  if (!narrow)
    return byParts();
  const SmallVector<Value> all(values);
  k.branch(narrow->isAligned(), [&] { narrow->write(space, k.number(0), k.number(0), arena, all, {}); }, byParts);
}

void writeGroupLogSums(const AttentionKernel &kernel, TileSpace &space, Value thread, const RowTotals &totals) {
  KernelBuilder &k = kernel.k;
  k.when(k.equal(k.rem(thread, k.number(4)), k.number(0)), [&] {
    Value row = k.add(space.firstRow(), placeOf(k, thread).first);
    for (auto [half, sum] : llvm::enumerate(totals.sums))
      storeLogSum(kernel, space, k.add(row, k.number(8 * half)), totals.references[half], sum);
  });
}

} // namespace tenon::compiler::codegen
