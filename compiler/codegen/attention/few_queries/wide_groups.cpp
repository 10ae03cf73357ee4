// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/wide_groups.h"

#include "compiler/codegen/attention/few_queries/key_ring.h"
#include "compiler/codegen/attention/hopper/group_tile.h"
#include "compiler/codegen/attention/key_range.h"
#include "compiler/codegen/kernel/combine.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kRowsOfThread = 2;

class WideGroups {
public:
  WideGroups(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts *parts)
      : kernel_(kernel), shape_(shape), parts_(parts), k_(kernel.k), core_(k_, kernel.attention.tensorCoreElement()),
        scores_(kernel.product(kernel.attention.scores, shape.blockRows(), shape.stepKeys(), shape.wholeDepth())),
        output_(kernel.product(kernel.attention.output, shape.blockRows(), shape.wholeColumns(), shape.stepKeys())),
        softmax_(k_, k_.b.getF32Type(), kRowsOfThread, {1, 2}, /*isFast=*/true) {}

  void run();

private:
  using Values = SmallVector<Value>;
  static constexpr uint32_t kStates = 2 * kRowsOfThread; // of softmax
  uint32_t columns() const { return shape_.wholeColumns() / 2; }
  Values step(KeyRing &ring, const KeyRange &range, Value key, Value stage, ValueRange carried);
  void store(const KeyRange &range, ValueRange carried);

  const AttentionKernel &kernel_;
  const FewQueriesShape shape_;
  const KeyParts *parts_;
  KernelBuilder &k_;
  TensorCore core_;
  const ProductKernel scores_, output_;
  OnlineSoftmax softmax_;
  AttentionTile tile_;
  Value number_;         // of the tile and its group of rows
  Value rank_;           // of the block among those of the tile's keys
  Value group_, thread_; // the warpgroup, and of its threads
};

/// Carried: what softmax does; then the sums.
WideGroups::Values WideGroups::step(KeyRing &ring, const KeyRange &range, Value key, Value stage, ValueRange carried) {
  const Values scores = core_.waitForProducts(0, ring.groupScores(stage));
  SmallVector<LogitRun> runs = runsOfGroup(k_, thread_, tile_.firstRow, key, scores);
  TileSpace space(scores_, tile_.inBatch, tile_.firstRow, key);
  range.computeLogits(space, key, runs);
  SmallVector<Values> rows = rowsOfRuns(runs);
  const OnlineSoftmax::Step step = softmax_.step(carried.take_front(kStates), rows);
  const Values sums = softmax_.scaled(step, carried.drop_front(kStates), [](size_t i) { return uint32_t(i % 4 / 2); });
  Values after = step.carried;
  llvm::append_range(after,
                     core_.waitForProducts(0, ring.groupWeighted(factorsOfGroup(core_, rows), stage, group_, sums)));
  return after;
}

void WideGroups::store(const KeyRange &range, ValueRange carried) {
  const RowTotals totals = softmax_.totals(carried.take_front(kStates));
  const Values sums = llvm::to_vector(carried.drop_front(kStates));
  TileSpace result(output_, tile_.inBatch, tile_.firstRow, k_.number(0));
  Value firstColumn = k_.mul(group_, k_.number(columns()));
  // Rows and columns are placed as those of scores and keys are.
  for (const auto &[number, run] : llvm::enumerate(runsOfGroup(k_, thread_, k_.number(0), firstColumn, sums))) {
    const size_t ofThread = number / (sums.size() / 4);
    Value row = run.row, column = run.key;
    auto sumOf = [&](ArrayRef<Value> values) {
      return PartialSum{totals.references[ofThread], totals.sums[ofThread], SmallVector<Value, 4>(values)};
    };
    if (parts_) {
      k_.when(k_.less(row, k_.number(shape_.rowsOfBlock())),
              [&] { parts_->store(k_, number_, rank_, row, column, sumOf(run.scores)); });
      continue;
    }
    Value ofAll = k_.add(tile_.firstRow, row);
    k_.when(k_.both(k_.less(column, k_.number(shape_.columns)), k_.less(ofAll, result.rows())), [&] {
      for (auto [i, value] : llvm::enumerate(run.scores))
        storeResult(kernel_, output_, result, ofAll, k_.add(column, k_.number(int64_t(i))), sumOf(value),
                    [&](Value x) { return range.orNothing(x); });
    });
  }
}

void WideGroups::run() {
  k_.wantResident(shape_.resident());
  Value arena = k_.dynamicShared();
  group_ = k_.div(k_.thread(), k_.number(kGroupThreads));
  thread_ = k_.rem(k_.thread(), k_.number(kGroupThreads));
  const uint32_t blocks = parts_ ? parts_->count : 1;
  const BlockPlace place(k_, shape_, blocks);
  rank_ = place.rank;
  number_ = place.number(k_);
  tile_ = tileOf(kernel_, place.tile);
  tile_.firstRow = k_.mul(place.group, k_.number(shape_.blockRows()));

  const KeyRange range(kernel_, scores_, tile_, shape_.blockRows(), shape_.stepKeys());
  KeyRing ring(kernel_, shape_, core_, tile_, arena, k_.rem(k_.thread(), k_.number(32)));
  Value keys = k_.number(shape_.stepKeys());
  ring.askForQueries();
  ring.begin(k_.add(range.first(), k_.mul(rank_, keys)), range.last(), k_.mul(keys, k_.number(blocks)));
  Values carried = softmax_.start();
  carried.append(shape_.blockRows() * columns() / kGroupThreads, neutral(k_, output_.product.sum.sum));
  carried = ring.forEachStep(carried, [&](Value key, Value stage, ValueRange sums) {
    Bodies::Scope scope(kernel_.bodies);
    return step(ring, range, key, stage, sums);
  });
  store(range, carried);
}

} // namespace

void writeWideGroups(const AttentionKernel &kernel, const FewQueriesShape &shape, const KeyParts *parts) {
  WideGroups(kernel, shape, parts).run();
}

} // namespace tenon::compiler::codegen
