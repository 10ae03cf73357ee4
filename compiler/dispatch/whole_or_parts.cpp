// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/whole_or_parts.h"

#include "compiler/dispatch/splits/ragged_split.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dispatch/column_groups.h"
#include "compiler/dispatch/form_groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of a group that is compiled twice.
constexpr size_t kMostOps = 16;
// Columns that are kept up to fewer rows are not worth another form.
constexpr int64_t kLeastKept = 16;
// On operations of the form of kept columns that runs where these are long.
constexpr StringLiteral kLongAttr = "tenon.long";

DenseI64ArrayAttr formOf(Operation *op) {
  return op->getAttrOfType<DenseI64ArrayAttr>(kFormAttr);
}

std::optional<size_t> choiceOf(Operation *op) {
  DenseI64ArrayAttr form = formOf(op);
  return form ? std::optional(size_t(form.asArrayRef()[0])) : std::nullopt;
}

void setForm(Operation *op, size_t choice, bool whole) {
  op->setAttr(kFormAttr, DenseI64ArrayAttr::get(op->getContext(), {int64_t(choice), whole}));
}

bool isProduct(linalg::GenericOp op) {
  return reduces(op) && isTiledProduct(op);
}

bool mayBeCopied(const Group &group) {
  return group.ops.size() <= kMostOps && !group.hasWeights() && llvm::none_of(group.ops, isProduct);
}

/// Whether others read what the group computes at the same places: what comes last of long columns is perhaps one
/// kernel with them, and in a form of its own it would not be.
bool mayGoOn(const Group &group) {
  return llvm::any_of(group.ops, [&](Operation *op) {
    return llvm::any_of(op->getUsers(),
                        [&](Operation *user) { return isa<linalg::GenericOp>(user) && !group.contains(user); });
  });
}

/// Up to so many rows, of which there are some.
StaysWhole whereShort(OpBuilder &b, linalg::GenericOp op, int64_t most) {
  const Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  Value more = b.createOrFold<arith::SubIOp>(loc, reducedElements(b, op), number(1));
  return {b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, more, number(most)), most};
}

/// Dispatches that compute tensors of choices, each with the choices.
using Merged = llvm::MapVector<flow::DispatchOp, SmallVector<arith::SelectOp>>;

/// The dispatch that computes the whole form, again, with results in the memory of the others.
void writeOver(flow::DispatchOp whole, ArrayRef<arith::SelectOp> choices) {
  OpBuilder b(whole);
  SmallVector<Value> arguments = llvm::to_vector(whole.getArguments());
  SmallVector<Value> dims = llvm::to_vector(whole.getArgumentDims());
  SmallVector<int64_t> tied(whole.getNumResults(), -1);
  for (OpResult result : whole.getResults())
    for (arith::SelectOp choice : choices)
      if (choice.getTrueValue() == result) {
        tied[result.getResultNumber()] = int64_t(arguments.size());
        arguments.push_back(choice.getFalseValue());
        llvm::append_range(dims, whole.resultDims(result.getResultNumber()));
      }
  auto after = flow::DispatchOp::create(b, whole.getLoc(), whole.entryPoint(), whole.getWorkload(),
                                        whole.getResultTypes(), whole.getResultDims(), arguments, dims, tied);
  for (arith::SelectOp choice : choices) {
    const unsigned number = cast<OpResult>(choice.getTrueValue()).getResultNumber();
    choice.replaceAllUsesWith(after.getResult(number));
    choice.erase();
  }
  whole->replaceAllUsesWith(after.getResults());
  whole.erase();
}

} // namespace

bool isEither(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return user->hasAttr(kEitherAttr); });
}

void WholeOrParts::copyKeptColumns(Block &block) {
  auto mayBeShort = [](linalg::GenericOp op) {
    return reduces(op) && llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic);
  };
  if (llvm::none_of(block.getOps<linalg::GenericOp>(), mayBeShort))
    return;
  for (const Group &group : formGroups(block, /*keepsColumns=*/true).groups) {
    const std::optional<int64_t> most = mostKeptRows(group);
    if (!most || *most < kLeastKept || !mayBeCopied(group) || mayGoOn(group))
      continue;
    linalg::GenericOp sum = *llvm::find_if(group.ops, reduces);
    copyGroup(group, [&](OpBuilder &b) { return whereShort(b, sum, *most); }, /*isKept=*/true);
  }
}

void WholeOrParts::copyGroups(Block &block) {
  auto mayBecome = [](linalg::GenericOp op) { return !isWholeForm(op) && mayBecomeParts(op); };
  if (llvm::none_of(block.getOps<linalg::GenericOp>(), mayBecome))
    return;
  for (const Group &group : formGroups(block).groups)
    if (auto candidate = llvm::find_if(group.ops, mayBecome); candidate != group.ops.end() && mayBeCopied(group))
      copyGroup(group, [&](OpBuilder &b) { return staysWhole(b, *candidate); }, /*isKept=*/false);
}

void WholeOrParts::copyGroup(const Group &group, llvm::function_ref<StaysWhole(OpBuilder &)> wholeAt, bool isKept) {
  linalg::GenericOp last = group.ops.back();
  // Nothing between reads what the group computes (formGroups), so that all of it can stand where it ends.
  for (linalg::GenericOp op : ArrayRef(group.ops).drop_back())
    op->moveBefore(last);
  OpBuilder b(group.ops.front());
  const Location loc = last.getLoc();
  auto marker = [&] { return arith::ConstantIndexOp::create(b, loc, 0).getOperation(); };
  const StaysWhole whole = wholeAt(b);
  if (matchPattern(whole.condition, m_Constant()))
    return;
  const size_t number = choices_.size();
  choices_.push_back({whole, marker(), nullptr, choiceOf(last), isKept});
  b.setInsertionPointAfter(last);
  choices_.back().end = marker();
  IRMapping copies;
  for (linalg::GenericOp op : group.ops) {
    Operation *copy = b.clone(*op, copies);
    setForm(copy, number, /*whole=*/true);
    if (isKept)
      copy->setAttr(kKeptAttr, b.getUnitAttr());
  }
  for (linalg::GenericOp op : group.ops) {
    if (isKept) {
      setForm(op, number, /*whole=*/false); // they are no group with others from here on
      op->setAttr(kLongAttr, b.getUnitAttr());
    } else {
      op->setAttr(kPartsAttr, b.getUnitAttr());
    }
  }
  for (linalg::GenericOp op : group.ops)
    for (OpResult result : op->getResults()) {
      if (!isReadOutside(result, group))
        continue;
      auto select = arith::SelectOp::create(b, loc, whole.condition, copies.lookup(Value(result)), result);
      select->setAttr(kEitherAttr, b.getUnitAttr());
      result.replaceUsesWithIf(select, [&](OpOperand &use) {
        Operation *user = select->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return !user || (user != select && !group.contains(user)); // perhaps in another block
      });
    }
}

/// Those within others come first: what they have marked stays.
void WholeOrParts::markParts() {
  for (size_t number = choices_.size(); number-- > 0;) {
    const Choice &choice = choices_[number];
    for (Operation *op = choice.begin->getNextNode(); op != choice.end; op = op->getNextNode()) {
      if (!isa<linalg::GenericOp>(op))
        continue;
      op->removeAttr(kPartsAttr);
      if (!choice.isKept || !formOf(op))
        setForm(op, number, /*whole=*/false);
    }
    choice.begin->erase();
    choice.end->erase();
  }
}

/// What every reduction of the group says of its rows.
static void limitRows(StaysWhole &rows, const Group &group) {
  int64_t least = INT64_MAX, most = 0;
  for (Operation *op : group.ops) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      continue;
    auto bounds = op->getAttrOfType<DenseI64ArrayAttr>(kRowBoundsAttr);
    if (!bounds)
      return;
    least = std::min(least, bounds[0]);
    most = bounds[1] < 0 || most < 0 ? -1 : std::max(most, bounds[1]);
  }
  if (least == INT64_MAX)
    return;
  rows.shortest = least;
  if (most > 0)
    rows.longest = most;
}

StaysWhole WholeOrParts::otherwise(size_t number) const {
  const Choice &choice = choices_[number];
  OpBuilder b(choice.whole.condition.getContext());
  b.setInsertionPointAfterValue(choice.whole.condition);
  const Location loc = choice.whole.condition.getLoc();
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  StaysWhole other{arith::XOrIOp::create(b, loc, choice.whole.condition, yes), std::nullopt};
  if (choice.isKept)
    other.shortest = *choice.whole.longest + 1;
  return other;
}

std::optional<StaysWhole> WholeOrParts::conditionOf(const Group &group) const {
  const std::optional<size_t> number = choiceOf(group.ops.front());
  if (!number)
    return std::nullopt;
  const Choice &choice = choices_[*number];
  const bool isWhole = isWholeForm(group.ops.front());
  StaysWhole runs = isWhole ? choice.whole : otherwise(*number);
  if (choice.within) {
    const StaysWhole outer = otherwise(*choice.within);
    OpBuilder b(runs.condition.getContext());
    b.setInsertionPointAfterValue(runs.condition);
    runs.condition = arith::AndIOp::create(b, runs.condition.getLoc(), runs.condition, outer.condition);
    runs.shortest = outer.shortest;
  }
  if (llvm::any_of(group.ops, [](linalg::GenericOp op) { return reduces(op) && !op->hasAttr(kLongAttr); })) {
    runs.shortest.reset(); // parts have other rows
    if (!isWhole)
      limitRows(runs, group);
  }
  return runs;
}

void joinForms(Block &block) {
  Merged merged;
  for (auto select : block.getOps<arith::SelectOp>())
    if (select->hasAttr(kEitherAttr))
      merged[select.getTrueValue().getDefiningOp<flow::DispatchOp>()].push_back(select);
  for (auto &[whole, choices] : merged)
    writeOver(whole, choices);
}

} // namespace tenon::compiler::dispatch
