// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/row_sums.h"

#include "compiler/dispatch/attention/scores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// What distinguishes sums whose readers are a gradient's products: the operation between them, and these.
constexpr unsigned kReaders = 3;

class RowSum {
public:
  RowSum(const AttentionMatch &match, linalg::GenericOp sum)
      : match_(match), sum_(sum), place_(sum.getNumLoops()),
        terms_([this](linalg::GenericOp op) { return !llvm::is_contained(match_.weightTensors, op->getResult(0)); }) {}

  /// Whether it is one.
  bool run();
  /// Whether the attention's result is computed from narrower weights than it, or is narrower than what it multiplies.
  bool isRoundedByExchange() const { return isRounded_; }
  /// The same from the attention's result.
  void exchange();

private:
  bool isWeight(const Term &term);
  bool isByWeights(const Term &term);

  const AttentionMatch &match_;
  linalg::GenericOp sum_;
  SmallVector<AffineExpr> place_; // loops of the sum, as those of the attention's last product
  Terms terms_;
  Value given_;
  SmallVector<AffineExpr> givenAt_; // by loops of the last product
  bool isRounded_ = false;
};

bool isNarrower(Type type, Type other) {
  return type.getIntOrFloatBitWidth() < other.getIntOrFloatBitWidth();
}

bool RowSum::isWeight(const Term &term) {
  const Term weight = terms_.withoutCasts(term);
  if (weight.kind != Term::Kind::Element || !llvm::is_contained(match_.weightTensors, weight.value))
    return false;
  linalg::GenericOp output = match_.output;
  AffineMap read = output.getMatchingIndexingMap(output.getDpsInputOperand(match_.weights));
  for (auto [here, there] : llvm::zip_equal(weight.place, read.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(here);
    if (!loop || place_[loop.getPosition()])
      return false;
    place_[loop.getPosition()] = there;
  }
  const std::optional<Contraction> last = contractionOf(output);
  if (!last)
    return false;
  const ContractionSide &weights = llvm::is_contained(last->left.inputs, match_.weights) ? last->left : last->right;
  isRounded_ |= isNarrower(factorTypeOf(weights.value), getElementTypeOrSelf(weight.value));
  return !llvm::is_contained(place_, AffineExpr());
}

/// The product of what is given and the values, at the place of the weight.
bool RowSum::isByWeights(const Term &term) {
  const Term element = terms_.withoutCasts(term);
  auto op =
      element.kind == Term::Kind::Element ? element.value.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  const std::optional<Contraction> product = op ? contractionOf(op) : std::nullopt;
  linalg::GenericOp output = match_.output;
  const std::optional<Contraction> last = contractionOf(output);
  if (!product || product->combiner != Combiner::AddF || product->reduced.size() != 1 || !last || !startsFromZero(op) ||
      !startsFromZero(output))
    return false;
  // Its loops, as those of the last product; the one that it sums over is a column there.
  SmallVector<AffineExpr> loops(op.getNumLoops());
  for (auto [expr, index] :
       llvm::zip_equal(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults(), element.place)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return false;
    loops[loop.getPosition()] = index.replaceDims(place_);
  }
  const ContractionSide &values = llvm::is_contained(last->left.inputs, match_.weights) ? last->right : last->left;
  if (values.inputs.size() != 1 || !isa<BlockArgument>(beforeExtension(values.value)))
    return false;
  OpOperand *read = output.getDpsInputOperand(values.inputs.front());
  for (const ContractionSide *side : {&product->left, &product->right}) {
    const ContractionSide &other = side == &product->left ? product->right : product->left;
    if (side->inputs.size() != 1 || other.inputs.size() != 1 || !isa<BlockArgument>(beforeExtension(side->value)) ||
        !isa<BlockArgument>(beforeExtension(other.value)))
      return false;
    OpOperand *here = op.getDpsInputOperand(side->inputs.front());
    if (here->get() != read->get())
      continue;
    SmallVector<AffineExpr> all(loops);
    bool isSame = true;
    for (auto [inProduct, inLast] : llvm::zip_equal(op.getMatchingIndexingMap(here).getResults(),
                                                    output.getMatchingIndexingMap(read).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(inProduct);
      if (loop && loop.getPosition() == product->reduced.front() && !all[loop.getPosition()])
        all[loop.getPosition()] = inLast;
      else
        isSame &= loop && all[loop.getPosition()] == inLast;
    }
    if (!isSame || llvm::is_contained(all, AffineExpr()) || !isa<AffineDimExpr>(all[product->reduced.front()]))
      continue;
    isRounded_ |= isNarrower(getElementTypeOrSelf(output->getResult(0)), getElementTypeOrSelf(element.value));
    OpOperand *given = op.getDpsInputOperand(other.inputs.front());
    given_ = given->get();
    for (AffineExpr expr : op.getMatchingIndexingMap(given).getResults())
      givenAt_.push_back(expr.replaceDims(all));
    return true;
  }
  return false;
}

bool RowSum::run() {
  if (sum_->getNumResults() != 1 || sum_.getNumReductionLoops() != 1 || !sum_.hasPureTensorSemantics() ||
      match_.division || !linalg::GenericOp(match_.output)->isBeforeInBlock(sum_))
    return false;
  const auto accumulators = reductionBodyOf(sum_);
  if (!accumulators || accumulators->front().combiner != Combiner::AddF)
    return false;
  const Term product = terms_.withoutCasts(terms_.of(accumulators->front().contributed, sum_, loopsOf(sum_)));
  if (!product.is<arith::MulFOp>())
    return false;
  SmallVector<unsigned> reduced;
  sum_.getReductionDims(reduced);
  for (unsigned side : {0, 1}) {
    place_.assign(place_.size(), AffineExpr());
    isRounded_ = false;
    if (!isWeight(terms_.operand(product, side)))
      continue;
    auto keys = dyn_cast<AffineDimExpr>(place_[reduced.front()]);
    return keys && keys.getPosition() == match_.keys && isByWeights(terms_.operand(product, 1 - side));
  }
  return false;
}

/// Types of an operation, and those of its readers, so many behind each other.
void describe(Operation *op, unsigned readers, llvm::raw_ostream &text) {
  text << op->getName() << '(' << op->getOperandTypes() << " -> " << op->getResultTypes();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    text << ' ' << generic.getNumReductionLoops();
  if (readers > 0)
    for (Operation *user : op->getUsers())
      describe(user, readers - 1, text);
  text << ')';
}

void RowSum::exchange() {
  linalg::GenericOp output = match_.output;
  OpBuilder b(sum_);
  // Loops of the last product without its keys.
  SmallVector<AffineExpr> number(output.getNumLoops(), b.getAffineConstantExpr(0));
  SmallVector<utils::IteratorType> types;
  for (unsigned loop = 0; loop < output.getNumLoops(); ++loop)
    if (loop != match_.keys) {
      number[loop] = b.getAffineDimExpr(types.size());
      types.push_back(llvm::is_contained(match_.parallel, loop) ? utils::IteratorType::parallel
                                                                : utils::IteratorType::reduction);
    }
  auto mapOf = [&](ArrayRef<AffineExpr> at) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : at)
      results.push_back(expr.replaceDims(number));
    return AffineMap::get(types.size(), 0, results, b.getContext());
  };
  SmallVector<AffineExpr> written;
  for (AffineExpr expr : sum_.getMatchingIndexingMap(sum_.getDpsInitOperand(0)).getResults())
    written.push_back(expr.replaceDims(place_));
  Type type = getElementTypeOrSelf(sum_->getResult(0).getType());
  const Location loc = sum_.getLoc();
  auto exchanged = linalg::GenericOp::create(
      b, loc, sum_->getResultTypes(), ValueRange{output->getResult(0), given_}, sum_.getDpsInits(),
      {mapOf(output.getMatchingIndexingMap(output.getDpsInitOperand(0)).getResults()), mapOf(givenAt_), mapOf(written)},
      types, [&](OpBuilder &inside, Location, ValueRange arguments) {
        auto as = [&](Value value) -> Value {
          if (value.getType() == type)
            return value;
          if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
            return arith::ExtFOp::create(inside, loc, type, value);
          return arith::TruncFOp::create(inside, loc, type, value);
        };
        Value product = arith::MulFOp::create(inside, loc, as(arguments[0]), as(arguments[1]));
        linalg::YieldOp::create(inside, loc, arith::AddFOp::create(inside, loc, arguments[2], product).getResult());
      });
  sum_->replaceAllUsesWith(exchanged);
}

} // namespace

bool exchangeRowSums(const AttentionMatch &match, std::string *left) {
  SmallVector<linalg::GenericOp> sums;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> open;
  for (Value weights : match.weightTensors)
    open.push_back(weights.getDefiningOp());
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      auto reader = dyn_cast<linalg::GenericOp>(user);
      if (!reader || reader->getBlock() != linalg::GenericOp(match.output)->getBlock() || !seen.insert(user).second)
        continue;
      if (reader.getNumReductionLoops() == 0)
        open.push_back(user);
      else
        sums.push_back(reader);
    }
  bool any = false;
  for (linalg::GenericOp op : sums) {
    RowSum sum(match, op);
    if (!sum.run())
      continue;
    if (left && sum.isRoundedByExchange()) {
      llvm::raw_string_ostream text(*left);
      describe(op, kReaders, text);
      continue;
    }
    sum.exchange();
    any = true;
  }
  return any;
}

} // namespace tenon::compiler::dispatch
