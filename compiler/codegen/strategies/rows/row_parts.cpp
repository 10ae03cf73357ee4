// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_parts.h"

#include "compiler/codegen/strategies/rows/row_sums.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Parts of all rows: so many that those which begin last take little of the whole; those of one.
constexpr int64_t kWantedParts = 4096, kMostParts = 1024;
// Vectors of a thread, at least: two steps of the loop that reads them.
constexpr int64_t kLeastVectors = 8;

Value inScratch(Writer &w, ArrayRef<RowSum> sums, size_t sum, Value part) {
  Value blocks = w.k.number(w.choiceOr("total", 0) != 0 ? 1 : w.choice("parts")), row = w.k.div(w.k.block(), blocks);
  return w.k.at(w.arguments.pointers[w.kernel.scratch[sum].binding], storedType(sums[sum].sum.type),
                w.k.add(w.k.mul(row, w.k.number(w.choice("parts"))), part));
}

/// Whether each element of a row is seen once, and that is all.
bool isSeenOnce(const KernelFunction &kernel, const GroupShape &shape, const RowDemand &demand) {
  return !demand.again && phasesOf(kernel, shape.group).size() == 1 && !storesElements(kernel, shape);
}

} // namespace

std::optional<uint32_t> partsOfRow(const KernelFunction &kernel, const GroupShape &shape, const RowDemand &demand,
                                   const RowPath &path) {
  const std::optional<int64_t> columns = GroupShape::sizeOf(shape.reducedAxes()),
                               rows = GroupShape::sizeOf(shape.parallelAxes());
  if (path.blocks < 2 || path.chunks != 0 || !columns || !rows || *rows < 1 || !isSeenOnce(kernel, shape, demand))
    return std::nullopt;
  const int64_t least = kLeastVectors * kRowThreads * demand.width;
  const uint32_t parts = llvm::bit_floor(uint32_t(std::min({kMostParts, kWantedParts / *rows, *columns / least})));
  return parts * kRowThreads < 2 * path.blocks * path.threads ? std::nullopt : std::optional(parts);
}

/// Places of the largest are kernels of their own for rows that are short enough (../../decisions/short_keys.h), which
/// share no memory.
bool mayBeParts(const KernelFunction &kernel, const GroupShape &shape, const RowDemand &demand) {
  const std::optional<int64_t> rows = GroupShape::sizeOf(shape.parallelAxes());
  if (shape.parallel == 0 || (rows && *rows > kMostOfUnknown) || !isSeenOnce(kernel, shape, demand))
    return false;
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  return llvm::none_of(phases.front(), [](const RowSum &sum) { return sum.sum.combiner == dispatch::Combiner::MaxU; });
}

SmallVector<Scratch> scratchOfParts(const KernelFunction &kernel, const GroupShape &shape, uint32_t parts) {
  SmallVector<Scratch> all;
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  for (const RowSum &sum : phases.front()) {
    all.push_back({storedType(sum.sum.type), extentsOf(shape.parallelAxes())});
    all.back().extents.push_back(Extent{.size = parts, .value = {}});
    if (!GroupShape::sizeOf(shape.reducedAxes()))
      all.back().most = kMostOfUnknown * parts;
  }
  return all;
}

void leavePart(Writer &w, ArrayRef<RowSum> sums, ArrayRef<Value> totals) {
  Value part = w.k.rem(w.k.block(), w.k.number(w.choice("parts")));
  w.k.when(w.k.equal(w.k.thread(), w.k.number(0)), [&] {
    for (auto [sum, total] : llvm::enumerate(totals))
      storeShared(w.k, total, inScratch(w, sums, sum, part));
  });
}

void writeTotals(Writer &w) {
  KernelBuilder &k = w.k;
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(w.kernel, w.shape.group);
  const SmallVector<RowSum> &phase = phases.front();
  RowVectors vectors(w, k.threads, /*blocks=*/1, /*rows=*/1);
  EarlyReads reads(w.bodies, w.kernel, w.shape);
  RowSums sums(k, w.bodies, reads, k.threads, /*skipsVectors=*/false);
  Bodies::Scope scope(w.bodies);
  w.bodies.setWidth(1);
  vectors.setCluster(1, {});
  vectors.setRow(vectors.rowOf(0));
  sums.begin(1, {});
  SmallVector<Value> totals = k.loop(k.thread(), k.number(w.choice("parts")), k.number(k.threads), sums.start(phase),
                                     [&](Value part, ValueRange now) {
                                       SmallVector<Value> next;
                                       for (auto [number, sum] : llvm::enumerate(phase)) {
                                         Value left = loadShared(k, sum.sum.type, inScratch(w, phase, number, part));
                                         next.push_back(combine(k, sum.sum, now[number], left));
                                       }
                                       return next;
                                     });
  const Row &row = vectors.row();
  sums.finish(phase, totals, row.point);
  k.when(k.equal(k.thread(), k.number(0)), [&] {
    Bodies::Scope once(w.bodies);
    for (const KernelOp &op : w.kernel.ops)
      if (w.shape.group.isPerRow(op.op))
        w.bodies.storeRow(op, row.point);
  });
}

} // namespace tenon::compiler::codegen
