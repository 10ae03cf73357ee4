// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/summed_places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

using Places = llvm::SmallMapVector<unsigned, int64_t, 2>; // of loops

/// Loops that arithmetic on indices depends on; false where it is anything else, such as arithmetic on single bits, of
/// which two make none.
bool collectLoops(Value value, Places &loops) {
  if (matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op)) {
    loops.insert({unsigned(index.getDim()), 0});
    return true;
  }
  return isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::ShRUIOp, arith::AndIOp, arith::CmpIOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return operand.getType().isIndex() && collectLoops(operand, loops); });
}

/// Of what collectLoops() takes. @param places of the loops
std::optional<int64_t> evaluate(Value value, const Places &places) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return places.lookup(unsigned(index.getDim()));
  const std::optional<int64_t> x = evaluate(op->getOperand(0), places), y = evaluate(op->getOperand(1), places);
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return int64_t(uint64_t(*x) + uint64_t(*y));
  if (isa<arith::MulIOp>(op))
    return int64_t(uint64_t(*x) * uint64_t(*y));
  if (isa<arith::AndIOp>(op))
    return *x & *y;
  if (isa<arith::ShRUIOp>(op))
    return *x >= 0 && *y >= 0 && *y < 64 ? std::optional(*x >> *y) : std::nullopt;
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case arith::CmpIPredicate::eq:
    return *x == *y;
  case arith::CmpIPredicate::ne:
    return *x != *y;
  default:
    return std::nullopt;
  }
}

void collectConditions(Value value, SmallVector<Value> &conditions) {
  auto both = value.getDefiningOp<arith::AndIOp>();
  if (!both)
    return conditions.push_back(value);
  collectConditions(both.getLhs(), conditions);
  collectConditions(both.getRhs(), conditions);
}

/// Places in steps of `found.step`, which is 0 as long as nobody has two.
bool addRun(ArrayRef<int64_t> places, SummedPlaces &found) {
  for (size_t i = 1; i < places.size(); ++i) {
    const int64_t step = places[i] - places[i - 1];
    if (found.step != 0 && found.step != step)
      return false;
    found.step = step;
  }
  found.runs.push_back({places.empty() ? 0 : places.front(), int64_t(places.size())});
  return true;
}

} // namespace

std::optional<SmallVector<SummedPlaces>> summedPlacesOf(Value condition, linalg::GenericOp op) {
  SmallVector<Value> conditions;
  collectConditions(condition, conditions);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  SmallVector<SummedPlaces> all;
  for (Value each : conditions) {
    Places places;
    if (!collectLoops(each, places) || places.size() != 2)
      return std::nullopt;
    SummedPlaces found;
    found.of = places.front().first;
    found.along = places.back().first;
    if (types[found.of] == utils::IteratorType::reduction)
      std::swap(found.of, found.along);
    const bool isOfBoth = types[found.of] == utils::IteratorType::parallel &&
                          types[found.along] == utils::IteratorType::reduction && sizes[found.of] > 0 &&
                          sizes[found.along] > 0 && sizes[found.of] <= kMostPairs / sizes[found.along];
    const bool isElsewhere = llvm::any_of(
        all, [&](const SummedPlaces &other) { return other.of == found.of || other.along == found.along; });
    if (!isOfBoth || isElsewhere)
      return std::nullopt;
    found.step = 0;
    for (int64_t position = 0; position < sizes[found.of]; ++position) {
      SmallVector<int64_t> summed;
      for (int64_t place = 0; place < sizes[found.along]; ++place) {
        places[found.of] = position;
        places[found.along] = place;
        const std::optional<int64_t> exists = evaluate(each, places);
        if (!exists)
          return std::nullopt;
        if (*exists != 0)
          summed.push_back(place);
      }
      if (!addRun(summed, found))
        return std::nullopt;
    }
    found.step = std::max<int64_t>(found.step, 1);
    all.push_back(found);
  }
  return all;
}

Value writeSummedPlaces(OpBuilder &b, Location loc, Value position, Value place, int64_t positions, int64_t places,
                        llvm::function_ref<bool(int64_t, int64_t)> exists) {
  int64_t mask = 0; // bit [position][place]
  for (int64_t each = 0; each < positions; ++each)
    for (int64_t other = 0; other < places; ++other)
      mask |= int64_t(exists(each, other)) << (each * places + other);
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  Value bit = position;
  if (places != 1)
    bit = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, position, number(places)), place);
  Value isSet = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, number(mask), bit), number(1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, isSet, number(0));
}

} // namespace tenon::compiler::dispatch
