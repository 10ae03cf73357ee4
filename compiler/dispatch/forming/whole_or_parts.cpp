// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/whole_or_parts.h"

#include "compiler/dispatch/splits/ragged_split.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dispatch/forming/form_groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of a group that is compiled twice.
constexpr size_t kMostOps = 16;

DenseI64ArrayAttr formOf(Operation *op) {
  return op->getAttrOfType<DenseI64ArrayAttr>(kFormAttr);
}

bool isWhole(DenseI64ArrayAttr form) {
  return form.asArrayRef()[1] != 0;
}

void setForm(Operation *op, size_t choice, bool whole) {
  op->setAttr(kFormAttr, DenseI64ArrayAttr::get(op->getContext(), {int64_t(choice), whole}));
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

void WholeOrParts::copyGroups(Block &block) {
  if (llvm::none_of(block.getOps<linalg::GenericOp>(), mayBecomeParts))
    return;
  auto isProduct = [](linalg::GenericOp op) { return reduces(op) && isTiledProduct(op); };
  for (const Group &group : formGroups(block).groups)
    if (auto candidate = llvm::find_if(group.ops, mayBecomeParts);
        candidate != group.ops.end() && group.ops.size() <= kMostOps && !group.hasWeights() &&
        llvm::none_of(group.ops, isProduct))
      copyGroup(group, *candidate);
}

void WholeOrParts::copyGroup(const Group &group, linalg::GenericOp candidate) {
  linalg::GenericOp last = group.ops.back();
  // Nothing between reads what the group computes (formGroups), so that all of it can stand where it ends.
  for (linalg::GenericOp op : ArrayRef(group.ops).drop_back())
    op->moveBefore(last);
  OpBuilder b(group.ops.front());
  const Location loc = candidate.getLoc();
  auto marker = [&] { return arith::ConstantIndexOp::create(b, loc, 0).getOperation(); };
  const StaysWhole whole = staysWhole(b, candidate);
  if (matchPattern(whole.condition, m_Constant()))
    return;
  Operation *begin = marker();
  b.setInsertionPointAfter(last);
  Operation *end = marker();
  IRMapping copies;
  for (linalg::GenericOp op : group.ops)
    setForm(b.clone(*op, copies), choices_.size(), /*whole=*/true);
  for (linalg::GenericOp op : group.ops)
    op->setAttr(kPartsAttr, b.getUnitAttr());
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
  choices_.push_back({whole, begin, end});
}

void WholeOrParts::markParts() {
  for (auto [number, choice] : llvm::enumerate(choices_)) {
    for (Operation *op = choice.begin->getNextNode(); op != choice.end; op = op->getNextNode())
      if (isa<linalg::GenericOp>(op)) {
        op->removeAttr(kPartsAttr);
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

std::optional<StaysWhole> WholeOrParts::conditionOf(const Group &group) const {
  DenseI64ArrayAttr form = formOf(group.ops.front());
  if (!form)
    return std::nullopt;
  const StaysWhole &whole = choices_[size_t(form.asArrayRef()[0])].whole;
  if (isWhole(form))
    return whole;
  OpBuilder b(whole.condition.getContext());
  b.setInsertionPointAfterValue(whole.condition);
  const Location loc = whole.condition.getLoc();
  Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  StaysWhole parts{arith::XOrIOp::create(b, loc, whole.condition, yes), std::nullopt};
  limitRows(parts, group);
  return parts;
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
