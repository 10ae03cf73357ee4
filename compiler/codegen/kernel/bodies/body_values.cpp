// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/body_values.h"

#include "compiler/codegen/kernel/narrow/narrow_pairs.h"
#include "compiler/codegen/kernel/reciprocal.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// One side of a boundary is written twice, once for vectors that straddle it: of boundaries inside of boundaries, this
// many deep.
constexpr unsigned kMaxCopies = 2;

} // namespace

Lanes BodyValues::value(Value value) {
  if (auto found = known_.find(value); found != known_.end())
    return found->second;
  if (value.getParentBlock() != op_.getBody())
    return Lanes::same(arguments_.scalars.lookup(value));
  // What it needs, in the order of the body.
  llvm::SmallDenseSet<Operation *> needed;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *inner = next.getDefiningOp();
    if (known_.contains(next) || !inner || inner->getBlock() != op_.getBody() || !needed.insert(inner).second)
      continue;
    if (isBranch(inner))
      open.push_back(cast<arith::SelectOp>(inner).getCondition());
    else
      llvm::append_range(open, inner->getOperands());
  }
  for (Operation &inner : *op_.getBody())
    if (needed.contains(&inner))
      compute(inner);
  return known_.find(value)->second;
}

void BodyValues::compute(Operation &inner) {
  if (inner.getNumResults() == 1 && inner.getNumRegions() == 0) {
    Lanes lanes = computeLanes(inner);
    known_[inner.getResult(0)] = std::move(lanes);
    return;
  }
  // Several results: a product in two halves, or a loop, which may use what the whole kernel has.
  SmallVector<Lanes> results(inner.getNumResults());
  SmallVector<Lanes> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(value(operand));
  const Order order = orderOf(inner, operands);
  for (unsigned lane = 0, count = order == Order::Same ? 1 : width_; lane < count; ++lane) {
    IRMapping mapping = arguments_.scalars;
    for (auto [operand, lanes] : llvm::zip_equal(inner.getOperands(), operands))
      mapping.map(operand, lanes[lane]);
    copyScalarOp(k_.b, inner, mapping);
    if (inner.getNumRegions() != 0)
      loadInLoop(k_, kernel_, arguments_, mapping.lookup(inner.getResult(0)).getDefiningOp());
    for (auto [result, lanes] : llvm::zip_equal(inner.getResults(), results))
      lanes.values.push_back(mapping.lookup(result));
  }
  for (auto [result, lanes] : llvm::zip_equal(inner.getResults(), results)) {
    lanes.order = order == Order::Same ? Order::Same : Order::Any;
    known_[result] = std::move(lanes);
  }
}

Lanes BodyValues::computeLanes(Operation &inner) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    Lanes positions = space_.loopLanes(op_, index.getDim(), point_, width_);
    for (Value &position : positions.values)
      position = arith::IndexCastOp::create(k_.b, k_.loc, k_.b.getIndexType(), position);
    return positions;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
    return read(extract);
  if (isBranch(&inner))
    return choose(cast<arith::SelectOp>(inner));
  if (Value same = withoutClamp(inner))
    return value(same);
  if (std::optional<Lanes> places = placesInVector(inner))
    return *places;
  SmallVector<Lanes> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(value(operand));
  Lanes result;
  result.order = orderOf(inner, operands);
  if (isPaired_ && !result.isSame() && width_ % 2 == 0)
    if (SmallVector<Value> lanes = computePairs(k_, inner, operands, width_); !lanes.empty())
      return {std::move(lanes), Order::Any};
  for (unsigned lane = 0, count = result.isSame() ? 1 : width_; lane < count; ++lane) {
    IRMapping mapping;
    for (auto [operand, lanes] : llvm::zip_equal(inner.getOperands(), operands))
      mapping.map(operand, lanes[lane]);
    copyScalarOp(k_.b, inner, mapping);
    result.values.push_back(folded(mapping.lookup(inner.getResult(0))));
  }
  return result;
}

/// What is left of positions divided by a number that divides the vector's length: vectors of operands begin at
/// multiples of it.
std::optional<Lanes> BodyValues::placesInVector(Operation &inner) {
  if (!isPaired_ || width_ == 1 || !isa<arith::RemUIOp, arith::AndIOp>(inner))
    return std::nullopt;
  Value of = inner.getOperand(0);
  if (auto cast = of.getDefiningOp<arith::IndexCastOp>())
    of = cast.getIn();
  auto index = of.getDefiningOp<linalg::IndexOp>();
  APInt number;
  if (!index || !space_.isVectorLoop(op_, index.getDim()) ||
      !matchPattern(inner.getOperand(1), m_ConstantInt(&number)) || number.ugt(width_))
    return std::nullopt;
  uint64_t divisor = number.getZExtValue();
  if (isa<arith::AndIOp>(inner) && !llvm::isPowerOf2_64(++divisor)) // all bits below one
    return std::nullopt;
  if (divisor == 0 || width_ % divisor != 0)
    return std::nullopt;
  Lanes places;
  Type type = inner.getResult(0).getType();
  for (unsigned lane = 0; lane < width_; ++lane)
    places.values.push_back(
        arith::ConstantOp::create(k_.b, k_.loc, k_.b.getIntegerAttr(type, int64_t(lane % divisor))).getResult());
  return places;
}

/// Of an operation on numbers that are known, or a choice by one, the result itself: which half of a byte a lane has.
Value BodyValues::folded(Value computed) {
  Operation *op = computed.getDefiningOp();
  const bool isChosen = isa<arith::SelectOp>(op) && matchPattern(op->getOperand(0), m_Constant());
  SmallVector<Value> results;
  if (!isPaired_ ||
      (!isChosen && !llvm::all_of(op->getOperands(), [](Value x) { return matchPattern(x, m_Constant()); })))
    return computed;
  return succeeded(k_.b.tryFold(op, results)) ? results.front() : computed;
}

Lanes BodyValues::read(tensor::ExtractOp extract) {
  const KernelTensor &tensor = kernel_.gathered.find(extract.getTensor())->second;
  SmallVector<Lanes> indices;
  const ValueRange positions = extract.getIndices();
  while (indices.size() < positions.size()) {
    // Dimensions that are one axis of the kernel: the place along all of them counts along the last.
    if (auto [axis, count] = axisAt(extract, indices.size()); count > 1) {
      indices.append(count - 1, Lanes::same(k_.number(0)));
      indices.push_back(space_.axisLanes(axis, point_, width_));
      continue;
    }
    Lanes index = value(positions[indices.size()]);
    for (Value &each : index.values)
      each = arith::IndexCastOp::create(k_.b, k_.loc, k_.b.getI64Type(), each);
    indices.push_back(std::move(index));
  }
  const bool isAligned = areReadsAligned_ || (isAligned_ && readsWholeVectors(kernel_, space_, op_, extract, width_));
  return loadGathered(k_, arguments_, tensor, indices, width_, isStreamed_(tensor.binding), isAligned, doubts_,
                      hasElements(extract));
}

/// The axis of the kernel that several dimensions are together, from one on, and how many; 0: they are none.
std::pair<unsigned, unsigned> BodyValues::axisAt(tensor::ExtractOp extract, unsigned first) const {
  SmallVector<unsigned> loops;
  for (Value index : extract.getIndices().drop_front(first)) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (!loop)
      break;
    loops.push_back(loop.getDim());
  }
  const KernelTensor &tensor = kernel_.gathered.find(extract.getTensor())->second;
  for (; loops.size() > 1; loops.pop_back())
    if (const std::optional<unsigned> axis = space_.shape().axisOf(op_, loops);
        axis && space_.shape().hasWhole(tensor, *axis, first))
      return {*axis, loops.size()};
  return {0, 0};
}

/// Whether the tensor is known to have elements: a dimension whose size is unknown is indexed by a loop as it stands,
/// so that whoever is in the loop is in the tensor.
bool BodyValues::hasElements(tensor::ExtractOp extract) const {
  const KernelTensor &tensor = kernel_.gathered.find(extract.getTensor())->second;
  return llvm::all_of(llvm::zip_equal(extract.getIndices(), tensor.shape), [](auto each) {
    const Extent &extent = std::get<1>(each);
    return extent.value ? bool(std::get<0>(each).template getDefiningOp<linalg::IndexOp>()) : extent.size != 0;
  });
}

/// Whether memory would be read to compute it that has not been read yet.
bool BodyValues::readsMemory(Value value) {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *inner = next.getDefiningOp();
    if (known_.contains(next) || !inner || inner->getBlock() != op_.getBody() || !seen.insert(inner).second)
      continue;
    if (isa<tensor::ExtractOp>(inner))
      return true;
    llvm::append_range(open, inner->getOperands());
  }
  return false;
}

/// Whether there is an element at every place that the body names: places are clamped, and no tensor is empty.
bool BodyValues::readsElementsOnly() {
  return llvm::all_of(op_.getBody()->getOps<tensor::ExtractOp>(),
                      [&](tensor::ExtractOp extract) { return hasElements(extract); });
}

bool BodyValues::isBranch(Operation *inner) {
  auto select = dyn_cast<arith::SelectOp>(inner);
  if (!select)
    return false;
  // The elements of a window, or of a tile, are on their way together; behind a branch each would wait for the one
  // before.
  if (isBranchless_)
    return false;
  if ((dispatch::isWindow(op_) || dispatch::contractionOf(op_)) && readsElementsOnly())
    return false;
  return copies_ < kMaxCopies && (readsMemory(select.getTrueValue()) || readsMemory(select.getFalseValue()));
}

SmallVector<Value> BodyValues::spread(const Lanes &lanes) const {
  return lanes.isSame() ? SmallVector<Value>(width_, lanes[0]) : lanes.values;
}

/// What is computed inside of a branch is not known behind it.
SmallVector<Value> BodyValues::valueInBranch(Value inside) {
  Known before = known_;
  SmallVector<Value> values = spread(value(inside));
  known_ = std::move(before);
  return values;
}

/// The same where the condition holds for all lanes.
SmallVector<Value> BodyValues::valueWhere(Value condition, Value inside) {
  const size_t before = bounds_.size();
  collectBounds(condition);
  SmallVector<Value> values = valueInBranch(inside);
  bounds_.truncate(before);
  return values;
}

void BodyValues::collectBounds(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectBounds(both.getLhs());
    collectBounds(both.getRhs());
  } else if (auto compare = condition.getDefiningOp<arith::CmpIOp>();
             compare && compare.getPredicate() == arith::CmpIPredicate::ult && isSize(compare.getRhs())) {
    bounds_.push_back({compare.getLhs(), compare.getRhs()});
  }
}

/// Whether an index is for certain the size of some dimension, and so is not below zero.
bool BodyValues::isSize(Value value) const {
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return !number.isNegative();
  const std::optional<unsigned> argument = value.getType().isIndex() ? argumentOf(value) : std::nullopt;
  auto isOf = [&](const KernelTensor &tensor) {
    return llvm::any_of(tensor.shape,
                        [&](const Extent &extent) { return extent.value && argumentOf(extent.value) == argument; });
  };
  return argument && (llvm::any_of(kernel_.gathered, [&](const auto &each) { return isOf(each.second); }) ||
                      llvm::any_of(kernel_.tensors(), [&](const KernelTensor *tensor) { return isOf(*tensor); }));
}

/// What a clamp to the places of a tensor leaves as it is, where the place is known to be one; null: nothing such.
Value BodyValues::withoutClamp(Operation &inner) const {
  if (bounds_.empty() || !isa<arith::MinSIOp, arith::MaxSIOp>(inner))
    return {};
  auto isLast = [](Value value, Value size) {
    APInt last, all;
    if (matchPattern(size, m_ConstantInt(&all)))
      return matchPattern(value, m_ConstantInt(&last)) && last == all - 1;
    auto before = value.getDefiningOp<arith::SubIOp>();
    return before && before.getLhs() == size && matchPattern(before.getRhs(), m_One());
  };
  Value place = inner.getOperand(0), limit = inner.getOperand(1);
  const bool isLower = isa<arith::MaxSIOp>(inner);
  if (isLower && !matchPattern(limit, m_Zero()))
    return {};
  Value clamped = place; // by the other one, perhaps
  if (auto upper = place.getDefiningOp<arith::MinSIOp>(); isLower && upper)
    clamped = upper.getLhs();
  for (auto [inside, size] : bounds_) {
    if (inside == place && (isLower || isLast(limit, size)))
      return place;
    if (isLower && inside == clamped && isLast(place.getDefiningOp<arith::MinSIOp>().getRhs(), size))
      return clamped;
  }
  return {};
}

/// Whether the lanes of a condition may differ (i1); nothing where only all of them say it. Of a comparison with what
/// all lanes have, a number that does not fall from lane to lane is on one side or the other where its ends are.
std::optional<Value> BodyValues::doubtOf(Value condition) {
  const Lanes lanes = value(condition);
  Operation *inner = condition.getDefiningOp();
  if (lanes.isSame())
    return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false));
  if (inner && isa<arith::AndIOp, arith::OrIOp>(inner) && inner->getBlock() == op_.getBody()) {
    const std::optional<Value> left = doubtOf(inner->getOperand(0)), right = doubtOf(inner->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    return k_.b.createOrFold<arith::OrIOp>(k_.loc, *left, *right);
  }
  auto compare = dyn_cast_if_present<arith::CmpIOp>(inner);
  if (!compare || compare.getPredicate() == arith::CmpIPredicate::eq ||
      compare.getPredicate() == arith::CmpIPredicate::ne)
    return std::nullopt;
  const Lanes left = value(compare.getLhs()), right = value(compare.getRhs());
  if (!(left.isRun() && right.isSame()) && !(left.isSame() && right.isRun()))
    return std::nullopt;
  // Numbers that fall after all are those that are too large for their type: without a sign, those below 0.
  const Lanes &run = left.isRun() ? left : right;
  const bool hasSign = compare.getPredicate() < arith::CmpIPredicate::ult;
  Value falls = arith::CmpIOp::create(k_.b, k_.loc, hasSign ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult,
                                      run.last(), run[0]);
  Value doubt = arith::OrIOp::create(k_.b, k_.loc, k_.exclusiveOr(lanes[0], lanes.last()), falls);
  return doubt;
}

/// Of lanes that agree, or are doubted: where the first and the last do, all do, or there is a doubt.
Lanes BodyValues::chooseAsOne(const Lanes &condition, arith::SelectOp select) {
  SmallVector<Type> types(width_, select.getType());
  types.push_back(k_.b.getI1Type());
  SmallVector<Value> *outside = doubts_;
  auto side = [&](llvm::function_ref<SmallVector<Value>()> compute) {
    SmallVector<Value> inside;
    doubts_ = &inside;
    SmallVector<Value> values = compute();
    doubts_ = outside;
    Value doubt = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false));
    for (Value each : inside)
      doubt = k_.b.createOrFold<arith::OrIOp>(k_.loc, doubt, each);
    values.push_back(doubt);
    return values;
  };
  SmallVector<Value> values = k_.choose(
      k_.both(condition[0], condition.last()), types,
      [&] { return side([&] { return valueWhere(select.getCondition(), select.getTrueValue()); }); },
      [&] { return side([&] { return valueInBranch(select.getFalseValue()); }); });
  doubts_->push_back(values.pop_back_val());
  return {values, width_ == 1 ? Order::Same : Order::Any};
}

Lanes BodyValues::choose(arith::SelectOp select) {
  const Lanes condition = value(select.getCondition());
  if (doubts_)
    if (std::optional<Value> doubt = doubtOf(select.getCondition())) {
      doubts_->push_back(*doubt);
      return chooseAsOne(condition, select);
    }
  const llvm::scope_exit whole([this, doubts = std::exchange(doubts_, nullptr)] { doubts_ = doubts; });
  const SmallVector<Type> types(width_, select.getType());
  auto sure = [&] { return valueWhere(select.getCondition(), select.getTrueValue()); };
  auto yes = [&] { return valueInBranch(select.getTrueValue()); };
  auto no = [&] { return valueInBranch(select.getFalseValue()); };
  if (condition.isSame())
    return {k_.choose(condition[0], types, sure, no), width_ == 1 ? Order::Same : Order::Any};

  Value all = k_.both(condition[0], condition.last());
  if (!holdsBetween(select.getCondition(), [&](Value inner) { return value(inner); }))
    for (unsigned lane = 1; lane + 1 < width_; ++lane)
      all = k_.both(all, condition[lane]);
  auto others = [&] {
    SmallVector<Value> values = no();
    Value any = condition[0];
    for (unsigned lane = 1; lane < width_; ++lane)
      any = arith::OrIOp::create(k_.b, k_.loc, any, condition[lane]);
    auto mixed = [&] {
      ++copies_;
      SmallVector<Value> inside = yes();
      --copies_;
      for (auto [lane, value] : llvm::enumerate(inside))
        value = k_.select(condition[lane], value, values[lane]);
      return inside;
    };
    return k_.choose(any, types, mixed, [&] { return values; });
  };
  return {k_.choose(all, types, sure, others), Order::Any};
}

bool readsWholeVectors(const KernelFunction &kernel, const GroupSpace &space, linalg::GenericOp op,
                       tensor::ExtractOp extract, unsigned width) {
  const auto *found = kernel.gathered.find(extract.getTensor());
  if (width == 1 || found == kernel.gathered.end() || found->second.shape.empty() || !dispatch::isWindow(op))
    return false;
  const Extent &row = found->second.shape.back();
  auto index = extract.getIndices().back().getDefiningOp<linalg::IndexOp>();
  return !row.value && row.size % width == 0 && index && space.isVectorLoop(op, index.getDim());
}

} // namespace tenon::compiler::codegen
