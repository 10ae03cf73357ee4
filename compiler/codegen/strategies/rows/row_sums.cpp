// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_sums.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {

void RowSums::begin(uint32_t cluster, Value rank) {
  cluster_ = cluster;
  rank_ = rank;
  hasBegun_ = cluster == 1;
  if (!hasBegun_)
    k_.arriveAtCluster();
}

RowSums::Accumulators RowSums::start(ArrayRef<RowSum> phase) const {
  Accumulators accumulators;
  for (const RowSum &sum : phase)
    accumulators.append(width_, neutral(k_, sum.sum));
  return accumulators;
}

RowSums::Accumulators RowSums::accumulate(ArrayRef<RowSum> phase, const RowBatch &batch, Accumulators accumulators) {
  auto withPoint = [&](const Point &point) {
    Accumulators all;
    for (const RowSum &sum : phase)
      for (unsigned lane = 0; lane < width_; ++lane)
        all.push_back(combine(k_, sum.sum, accumulators[all.size()], bodies_.contribution(sum, point, lane)));
    return all;
  };
  for (auto [point, exists] : llvm::zip_equal(batch.points, batch.exists)) {
    if (exists && skipsVectors_) {
      accumulators = k_.choose(
          exists, TypeRange(ValueRange(accumulators)),
          [&, &at = point] {
            Bodies::Scope scope(bodies_);
            return withPoint(at);
          },
          [&] { return accumulators; });
      continue;
    }
    const Accumulators with = reads_.at(point, [&, &at = point] { return withPoint(at); });
    for (auto [accumulator, next] : llvm::zip_equal(accumulators, with))
      accumulator = exists ? k_.select(exists, next, accumulator) : next;
  }
  return accumulators;
}

static SmallVector<Sum> sumsOf(ArrayRef<RowSum> phase) {
  SmallVector<Sum> sums;
  for (const RowSum &sum : phase)
    sums.push_back(sum.sum);
  return sums;
}

void RowSums::setTotals(ArrayRef<RowSum> phase, ArrayRef<Value> ofThread, const Point &row) {
  SmallVector<Value> totals = combineLanes(k_, sumsOf(phase), ofThread, lanes_);
  if (cluster_ > 1) {
    if (!std::exchange(hasBegun_, true))
      k_.waitForCluster();
    totals = combineBlocks(k_, sumsOf(phase), totals, cluster_, rank_);
  }
  for (auto [sum, total] : llvm::zip_equal(phase, totals))
    bodies_.setRow(sum, bodies_.finish(sum, row, 0, total));
}

SmallVector<Value> RowSums::ofThread(ArrayRef<RowSum> phase, ArrayRef<Value> accumulators) {
  SmallVector<Value> values;
  for (const RowSum &sum : phase) {
    values.push_back(combineAll(k_, sum.sum, accumulators.take_front(width_)));
    accumulators = accumulators.drop_front(width_);
  }
  return values;
}

SmallVector<Value> RowSums::ofBlock(ArrayRef<RowSum> phase, ArrayRef<Value> accumulators) {
  return combineLanes(k_, sumsOf(phase), ofThread(phase, accumulators), lanes_);
}

void RowSums::finish(ArrayRef<RowSum> phase, ArrayRef<Value> accumulators, const Point &row) {
  setTotals(phase, ofThread(phase, accumulators), row);
}

} // namespace tenon::compiler::codegen
