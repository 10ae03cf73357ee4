// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/log_sum_exp.h"

#include "compiler/dispatch/attention/scores.h"
#include "compiler/dispatch/log_sum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Factors of the program are rounded to its type.
constexpr double kTolerance = 1e-6;

/// What computes the logarithm of the sum of exponentials of rows.
class Reader {
public:
  Reader(linalg::GenericOp op, const AttentionMatch &match) : op_(op), match_(match) {
    row.resize(match.parallel.size());
  }

  bool run();

  double factor = 1;
  double hidden = 0;
  SmallVector<AffineExpr> row;

private:
  bool isAt(const Term &here, const Term &there);

  linalg::GenericOp op_;
  const AttentionMatch &match_;
};

/// Whether `here`, of the reader, is the number `there` of a row; notes which row.
bool Reader::isAt(const Term &here, const Term &there) {
  if (here.kind != Term::Kind::Element || here.value != there.value)
    return false;
  for (auto [index, anchor] : llvm::zip_equal(here.place, there.place)) {
    auto loop = dyn_cast<AffineDimExpr>(anchor);
    if (!loop)
      continue; // of a dimension of 1
    const auto *position = llvm::find(match_.parallel, loop.getPosition());
    if (position == match_.parallel.end() || !isa<AffineDimExpr, AffineConstantExpr>(index))
      return false;
    AffineExpr &known = row[position - match_.parallel.begin()];
    if (known && known != index)
      return false;
    known = index;
  }
  return true;
}

bool Reader::run() {
  if (op_.getNumReductionLoops() != 0 || op_->getNumResults() != 1 || !op_.hasPureTensorSemantics())
    return false;
  Terms terms;
  double ofAll = 1;
  const Term sum =
      terms.withoutFactor(terms.of(op_.getBody()->getTerminator()->getOperand(0), op_, loopsOf(op_)), ofAll);
  if (!sum.is<arith::AddFOp>())
    return false;
  for (unsigned side : {0, 1}) {
    double ofLargest = 1, ofLogarithm = 1;
    bool isLargestGuarded = false, isSumGuarded = false;
    const Term logarithm = terms.withoutFactor(terms.operand(sum, side), ofLogarithm);
    if (!logarithm.is<math::LogOp>() && !logarithm.is<math::Log2Op>())
      continue;
    if (logarithm.is<math::Log2Op>())
      ofLogarithm /= M_LN2;
    const Term largest = terms.withoutGuard(terms.withoutFactor(terms.operand(sum, 1 - side), ofLargest), -INFINITY, 0,
                                            isLargestGuarded);
    row.assign(row.size(), AffineExpr());
    if (!isAt(largest, match_.largest) ||
        !isAt(terms.withoutGuard(terms.operand(logarithm, 0), 0, 1, isSumGuarded), match_.sum) ||
        std::abs(ofLargest - ofLogarithm * match_.factor) > kTolerance * ofLargest)
      return false;
    factor = ofAll * ofLogarithm;
    // Where -inf is subtracted from -inf, exponentials are NaN.
    if (!match_.isMaximumGuarded && !match_.startsFinite)
      hidden = NAN;
    else if (!isSumGuarded || !isLargestGuarded)
      hidden = -INFINITY;
    if (isSumGuarded && match_.startsFinite)
      return false; // the least number there is, times a factor
    const SmallVector<int64_t> ranges = linalg::GenericOp(match_.output).getStaticLoopRanges();
    for (auto [index, loop] : llvm::zip_equal(row, match_.parallel))
      if (!index && ranges[loop] == 1)
        index = getAffineConstantExpr(0, op_.getContext());
    return !llvm::is_contained(row, AffineExpr());
  }
  return false;
}

/// What reads `op`, directly or not, and stands before `end`, in the order of the block.
SmallVector<Operation *> readersBefore(Operation *end, Operation *op) {
  llvm::SmallPtrSet<Operation *, 8> reads = {op};
  SmallVector<Operation *> readers;
  for (Operation *next = op; next != end && next; next = next->getNextNode()) {
    bool doesRead = false;
    next->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        doesRead |= reads.contains(operand.getDefiningOp());
    });
    if (doesRead) {
      reads.insert(next);
      readers.push_back(next);
    }
  }
  return readers;
}

Operation *ancestorIn(Block *block, Operation *op) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  return op;
}

/// Whether all that reads it is inside.
bool isCovered(Operation *op, llvm::SmallPtrSetImpl<Operation *> &inside) {
  if (inside.contains(op))
    return true;
  if (!isa<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op) || op->use_empty())
    return false;
  for (Operation *user : op->getUsers()) {
    Operation *top = ancestorIn(op->getBlock(), user);
    if (top != user || !isCovered(user, inside))
      return false;
  }
  inside.insert(op);
  return true;
}

} // namespace

bool findLogSums(AttentionMatch &match, llvm::SmallPtrSetImpl<Operation *> &inside, std::string &reason) {
  Operation *sum = match.sum.value.getDefiningOp();
  llvm::SmallPtrSet<Operation *, 16> seen = {sum};
  SmallVector<Operation *> open = {sum};
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      if (user->getBlock() != sum->getBlock() || inside.contains(user) || !seen.insert(user).second)
        continue;
      if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
        Reader reader(generic, match);
        if (reader.run()) {
          const bool agrees = match.logSums.empty() || match.hiddenLogSum == reader.hidden ||
                              (std::isnan(match.hiddenLogSum) && std::isnan(reader.hidden));
          if (agrees) {
            match.hiddenLogSum = reader.hidden;
            match.logSums.push_back({generic, reader.factor, reader.row});
          }
          continue;
        }
      }
      if (isa<linalg::GenericOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user))
        open.push_back(user);
    }
  if (match.logSums.empty())
    match.hiddenLogSum = match.isMaximumGuarded || match.startsFinite ? -INFINITY : NAN;
  for (const LogSum &logSum : match.logSums) {
    Operation *op = logSum.op;
    if (!op->isBeforeInBlock(match.output))
      continue;
    for (Operation *reader : readersBefore(match.output, op))
      if (reader->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(reader)) {
        reason = "the logarithm of the sum of its exponentials is read before its result is computed";
        return false;
      }
    if (llvm::is_contained(readersBefore(match.output->getNextNode(), op), match.output.getOperation())) {
      reason = "its result is computed from the logarithm of the sum of its exponentials";
      return false;
    }
  }
  for (const LogSum &logSum : match.logSums)
    inside.insert(logSum.op);
  for (Operation *op : seen)
    isCovered(op, inside);
  if (Operation *largest = match.largest.value.getDefiningOp())
    for (Operation *user : largest->getUsers())
      isCovered(user, inside);
  return true;
}

linalg::GenericOp buildLogSums(const AttentionMatch &match, Value logits, OpBuilder &b) {
  linalg::GenericOp output = match.output;
  const Location loc = output.getLoc();
  Type wide = getElementTypeOrSelf(logits.getType());
  linalg::GenericOp all = createLogSum(b, loc, logits, match.hiddenLogSum);
  Operation *behind = all;
  for (const LogSum &logSum : match.logSums) {
    linalg::GenericOp op = logSum.op;
    // In its place, but behind what it reads now.
    const bool isBefore = op->isBeforeInBlock(output);
    SmallVector<Operation *> readers = isBefore ? readersBefore(output, op) : SmallVector<Operation *>();
    OpBuilder here(op);
    if (isBefore)
      here.setInsertionPointAfter(behind);
    auto written = cast<RankedTensorType>(op->getResult(0).getType());
    auto same = linalg::GenericOp::create(
        here, loc, written, all->getResult(0), op.getDpsInits(),
        {AffineMap::get(op.getNumLoops(), 0, logSum.row, b.getContext()),
         op.getMatchingIndexingMap(op.getDpsInitOperand(0))},
        op.getIteratorTypesArray(), [&](OpBuilder &inside, Location, ValueRange arguments) {
          Value value = arguments[0];
          if (std::abs(logSum.factor - 1) > kTolerance)
            value = arith::MulFOp::create(inside, loc, value,
                                          arith::ConstantOp::create(inside, loc, b.getFloatAttr(wide, logSum.factor)));
          Type type = written.getElementType();
          if (type.getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth())
            value = arith::TruncFOp::create(inside, loc, type, value);
          else if (type != wide)
            value = arith::ExtFOp::create(inside, loc, type, value);
          linalg::YieldOp::create(inside, loc, value);
        });
    const bool isItself = llvm::hasSingleElement(same.getBody()->getOperations()) &&
                          same.getIndexingMapsArray()[0] == same.getIndexingMapsArray()[1] &&
                          same.getIndexingMapsArray()[0].isIdentity();
    op->getResult(0).replaceAllUsesWith(isItself ? all->getResult(0) : same->getResult(0));
    if (isItself)
      same.erase();
    else if (isBefore)
      behind = same;
    for (Operation *reader : readers) {
      reader->moveAfter(behind);
      behind = reader;
    }
  }
  return all;
}

} // namespace tenon::compiler::dispatch
