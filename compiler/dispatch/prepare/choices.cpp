// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/choices.h"

#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

namespace {

/// How an element x relates to the accumulator m.
enum class Relation : uint8_t { Less, Equal, Greater, OnlyXIsNaN, OnlyMIsNaN, BothAreNaN };

/// The condition of a choice, as a table over relations.
class Condition {
public:
  Condition(Value x, Value m) : x_(stripped(x)), m_(m) {}

  /// Nothing where `condition` is more than comparisons of the two.
  std::optional<bool> holds(Value condition, Relation relation);
  bool comparesUnsigned() const { return unsigned_; }
  /// Integers were compared in both ways.
  bool isMixed() const { return signed_ && unsigned_; }

private:
  /// Behind a widening, which changes no order.
  static Value stripped(Value value) {
    while (auto wide = value.getDefiningOp<arith::ExtFOp>())
      value = wide.getIn();
    return value;
  }
  std::optional<Relation> relationOf(Value left, Value right, Relation relation) const;
  static bool compares(arith::CmpFPredicate predicate, Relation relation);
  bool compares(arith::CmpIPredicate predicate, Relation relation);

  Value x_, m_;
  bool signed_ = false, unsigned_ = false;
};

/// Of two operands, each x or m.
std::optional<Relation> Condition::relationOf(Value left, Value right, Relation relation) const {
  left = stripped(left);
  right = stripped(right);
  if ((left != x_ && left != m_) || (right != x_ && right != m_))
    return std::nullopt;
  if (left == right) {
    const bool isNaN =
        relation == Relation::BothAreNaN || relation == (left == x_ ? Relation::OnlyXIsNaN : Relation::OnlyMIsNaN);
    return isNaN ? Relation::BothAreNaN : Relation::Equal;
  }
  if (left == x_)
    return relation;
  switch (relation) {
  case Relation::Less:
    return Relation::Greater;
  case Relation::Greater:
    return Relation::Less;
  default:
    return relation;
  }
}

bool Condition::compares(arith::CmpFPredicate predicate, Relation relation) {
  // A predicate's bits: equal, greater, less, unordered.
  const auto bits = [&]() -> unsigned {
    using P = arith::CmpFPredicate;
    switch (predicate) {
    case P::AlwaysFalse:
      return 0;
    case P::OEQ:
      return 1;
    case P::OGT:
      return 2;
    case P::OGE:
      return 3;
    case P::OLT:
      return 4;
    case P::OLE:
      return 5;
    case P::ONE:
      return 6;
    case P::ORD:
      return 7;
    case P::UNO:
      return 8;
    case P::UEQ:
      return 9;
    case P::UGT:
      return 10;
    case P::UGE:
      return 11;
    case P::ULT:
      return 12;
    case P::ULE:
      return 13;
    case P::UNE:
      return 14;
    case P::AlwaysTrue:
      return 15;
    }
    llvm_unreachable("every predicate");
  }();
  switch (relation) {
  case Relation::Equal:
    return bits & 1;
  case Relation::Greater:
    return bits & 2;
  case Relation::Less:
    return bits & 4;
  default:
    return bits & 8;
  }
}

bool Condition::compares(arith::CmpIPredicate predicate, Relation relation) {
  using P = arith::CmpIPredicate;
  const bool isEquality = predicate == P::eq || predicate == P::ne;
  const bool isUnsigned = predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  unsigned_ |= isUnsigned;
  signed_ |= !isUnsigned && !isEquality;
  switch (relation) {
  case Relation::Equal:
    return predicate == P::eq || predicate == P::sle || predicate == P::sge || predicate == P::ule ||
           predicate == P::uge;
  case Relation::Greater:
    return predicate == P::ne || predicate == P::sgt || predicate == P::sge || predicate == P::ugt ||
           predicate == P::uge;
  default:
    return predicate == P::ne || predicate == P::slt || predicate == P::sle || predicate == P::ult ||
           predicate == P::ule;
  }
}

std::optional<bool> Condition::holds(Value condition, Relation relation) {
  APInt known;
  if (matchPattern(condition, m_ConstantInt(&known)))
    return !known.isZero();
  Operation *op = condition.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    auto between = relationOf(compare.getLhs(), compare.getRhs(), relation);
    return between ? std::optional(compares(compare.getPredicate(), *between)) : std::nullopt;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto between = relationOf(compare.getLhs(), compare.getRhs(), relation);
    return between ? std::optional(compares(compare.getPredicate(), *between)) : std::nullopt;
  }
  SmallVector<bool> operands;
  for (Value operand : op->getOperands()) {
    std::optional<bool> value = operand.getType().isInteger(1) ? holds(operand, relation) : std::nullopt;
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  if (isa<arith::AndIOp>(op))
    return operands[0] && operands[1];
  if (isa<arith::OrIOp>(op))
    return operands[0] || operands[1];
  if (isa<arith::XOrIOp>(op))
    return operands[0] != operands[1];
  if (isa<arith::SelectOp>(op))
    return operands[0] ? operands[1] : operands[2];
  return std::nullopt;
}

bool isKeyElement(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  return type.isInteger(8) || type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
}

/// Loops and constants index every operand, and all results by the same loops: the parallel ones, each once.
bool hasPlainMaps(linalg::GenericOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isProjectedPermutation() || result.getNumResults() + op.getNumReductionLoops() != op.getNumLoops())
    return false;
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  for (AffineExpr expr : result.getResults())
    if (types[cast<AffineDimExpr>(expr).getPosition()] != utils::IteratorType::parallel)
      return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init) != result)
      return false;
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::all_of(map.getResults(), [](AffineExpr expr) { return isa<AffineDimExpr, AffineConstantExpr>(expr); });
  });
}

/// What an accumulator becomes: `contributed` where the condition holds (or does not: isInverted), else it stays.
struct Step {
  Value condition; // null: the operation is the larger or the smaller of two
  Value contributed;
  bool isInverted = false;
  Operation *extreme = nullptr;
};

std::optional<Step> stepOf(Value yielded, BlockArgument accumulator) {
  Operation *op = yielded.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (select.getFalseValue() == accumulator)
      return Step{select.getCondition(), select.getTrueValue()};
    if (select.getTrueValue() == accumulator)
      return Step{select.getCondition(), select.getFalseValue(), /*isInverted=*/true};
  }
  if (isa_and_nonnull<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaximumFOp,
                      arith::MinimumFOp>(op))
    for (unsigned side : {0u, 1u})
      if (op->getOperand(side) == accumulator)
        return Step{{}, op->getOperand(1 - side), false, op};
  return std::nullopt;
}

} // namespace

std::optional<Choice> choiceOf(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || op.getNumDpsInits() < 2 || !hasPlainMaps(op) ||
      llvm::any_of(*op.getBody(), [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return std::nullopt;
  SmallVector<Step> steps;
  Value condition;
  bool isInverted = false;
  llvm::SmallDenseMap<Value, bool> known;
  for (auto [init, yielded] : llvm::zip_equal(op.getDpsInitsMutable(), op.getBody()->getTerminator()->getOperands())) {
    std::optional<Step> step = stepOf(yielded, op.getMatchingBlockArgument(&init));
    if (!step || knowsAccumulator(step->contributed, op, known))
      return std::nullopt;
    if (step->condition && condition && (step->condition != condition || step->isInverted != isInverted))
      return std::nullopt;
    if (step->condition) {
      condition = step->condition;
      isInverted = step->isInverted;
    }
    steps.push_back(*step);
  }
  if (!condition)
    return std::nullopt;
  for (auto [number, step] : llvm::enumerate(steps)) {
    if (!isKeyElement(step.contributed.getType()))
      continue;
    Condition table(step.contributed, op.getMatchingBlockArgument(op.getDpsInitOperand(number)));
    auto holds = [&](Relation relation) -> std::optional<bool> {
      std::optional<bool> value = table.holds(condition, relation);
      return value ? std::optional(*value != isInverted) : std::nullopt;
    };
    const auto less = holds(Relation::Less), equal = holds(Relation::Equal), greater = holds(Relation::Greater),
               onlyX = holds(Relation::OnlyXIsNaN), onlyM = holds(Relation::OnlyMIsNaN),
               both = holds(Relation::BothAreNaN);
    if (!less)
      continue; // it is another accumulator that is compared
    if (*less == *greater || table.isMixed())
      return std::nullopt;
    Choice choice{unsigned(number), step.contributed, *greater, *equal, table.comparesUnsigned(), false, false};
    if (isa<FloatType>(step.contributed.getType())) {
      choice.takesNaN = *onlyX;
      if (*both != (choice.takesNaN && choice.isLast) || (choice.takesNaN && *onlyM))
        return std::nullopt; // a NaN is replaced by what a number does not replace
    }
    // Others follow the condition, or are the same choice in one operation.
    for (auto [other, each] : llvm::enumerate(steps)) {
      if (each.condition)
        continue;
      const bool isMax = isa<arith::MaxSIOp, arith::MaxUIOp, arith::MaximumFOp>(each.extreme);
      choice.endsAtNaN = isa<arith::MaximumFOp, arith::MinimumFOp>(each.extreme);
      if (choice.endsAtNaN && (choice.takesNaN || choice.isLast || *onlyM))
        return std::nullopt;
      const bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(each.extreme);
      if (other != number || isMax != choice.isLargest || isUnsigned != choice.isUnsigned)
        return std::nullopt;
    }
    return choice;
  }
  return std::nullopt;
}

} // namespace tenon::compiler::dispatch
