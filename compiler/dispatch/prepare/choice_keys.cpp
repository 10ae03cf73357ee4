// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/choice_keys.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/key_parts.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/prepare/choices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class KeyReducer {
public:
  KeyReducer(linalg::GenericOp op, const Choice &choice)
      : op_(op), choice_(choice), b_(op), loc_(op.getLoc()), element_(choice.chosen.getType()),
        results_(op.getMatchingIndexingMap(op.getDpsInitOperand(0))) {}

  void run();

private:
  bool isReduced(unsigned loop) const { return !results_.isFunctionOfDim(loop); }
  Value number(OpBuilder &b, Type type, APInt value) {
    return arith::ConstantOp::create(b, loc_, b.getIntegerAttr(type, value));
  }
  Value integer(OpBuilder &b, Value index, Type type) { return arith::IndexCastUIOp::create(b, loc_, type, index); }
  /// Of keys that may become shorter.
  Value marked(Value value, StringRef part = kKeyNumber) {
    if (mayBeShorter_)
      value.getDefiningOp()->setAttr(kKeyPartAttr, b_.getStringAttr(part));
    return value;
  }
  Value keyNumber(OpBuilder &b, uint64_t value) {
    return marked(number(b, keyType_, APInt(keyType_.getWidth(), value)));
  }
  Value places(OpBuilder &b) {
    return marked(number(b, keyType_, APInt::getLowBitsSet(keyType_.getWidth(), placeBits_)), kKeyPlaces);
  }
  void chooseForm();
  Value sizeOf(unsigned loop);
  Value copiedBody(OpBuilder &b, IRMapping &values);
  Value order(OpBuilder &b, Value x);
  Value isTaken(OpBuilder &b, Value x);
  Value placeKey(OpBuilder &b);
  using Contribution = llvm::function_ref<Value(OpBuilder &, Value x, ValueRange known)>;
  Value largest(ValueRange known, Type type, Contribution contribution);
  SmallVector<Value> decoded(Value keys, Value ends);
  SmallVector<Value> indicesOf(OpBuilder &b, Value place);

  linalg::GenericOp op_;
  const Choice choice_;
  OpBuilder b_;
  Location loc_;
  const Type element_;
  const AffineMap results_;
  SmallVector<Value> sizes_; // [loops], of the reduced ones, where there are several
  IntegerType orderType_;    // of what says how good an element is
  IntegerType keyType_;
  unsigned placeBits_ = 0; // of a key
  bool isInOne_ = false;   // both are one key
  bool mayBeShorter_ = false;
};

Value KeyReducer::sizeOf(unsigned loop) {
  for (OpOperand &operand : op_->getOpOperands()) {
    AffineMap map = op_.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> at = map.getResultPosition(getAffineDimExpr(loop, b_.getContext())))
      return dimensionOf(b_, loc_, operand.get(), *at);
  }
  llvm_unreachable("every loop indexes an operand");
}

/// A place takes one of 1 ... 2^bits - 1: 0 is no element at all.
void KeyReducer::chooseForm() {
  const unsigned width = element_.getIntOrFloatBitWidth();
  uint64_t places = 1;
  bool isKnown = true;
  for (auto [loop, size] : llvm::enumerate(op_.getStaticLoopRanges()))
    if (isReduced(loop)) {
      isKnown &= size != ShapedType::kDynamic;
      places = isKnown ? llvm::SaturatingMultiply(places, uint64_t(size)) : places;
    }
  // Of an unknown size it is only known that a memory holds it.
  const unsigned needed = isKnown ? 64 - llvm::countl_zero(places) : 47;
  isInOne_ = width + needed <= 64;
  mayBeShorter_ = !isKnown && width <= 32;
  const bool isShort = width + needed <= 32;
  keyType_ = b_.getIntegerType(isInOne_ && isShort ? 32 : 64);
  orderType_ = isInOne_ ? keyType_ : b_.getIntegerType(std::max(width, 32u));
  placeBits_ = isInOne_ ? keyType_.getWidth() - width : 64;
}

/// Whether an element can be chosen at all; null: always.
Value KeyReducer::isTaken(OpBuilder &b, Value x) {
  if (!isa<FloatType>(element_) || choice_.takesNaN)
    return {};
  return arith::CmpFOp::create(b, loc_, arith::CmpFPredicate::ORD, x, x);
}

/// The element's bits, so that the larger number is the better element. Floating-point numbers are a sign and a
/// magnitude: negative ones are counted downwards, and both zeros are one.
Value KeyReducer::order(OpBuilder &b, Value x) {
  const unsigned width = element_.getIntOrFloatBitWidth();
  Type bits = b.getIntegerType(width);
  const APInt top = APInt::getSignMask(width);
  Value result = x;
  if (isa<FloatType>(element_)) {
    result = arith::BitcastOp::create(b, loc_, bits, x);
    Value zero = number(b, bits, APInt::getZero(width));
    Value isNegative = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::slt, result, zero);
    Value down = arith::SubIOp::create(b, loc_, zero, result);
    Value up = arith::XOrIOp::create(b, loc_, result, number(b, bits, top));
    result = arith::SelectOp::create(b, loc_, isNegative, down, up);
  } else if (!choice_.isUnsigned) {
    result = arith::XOrIOp::create(b, loc_, result, number(b, bits, top));
  }
  Value all = number(b, bits, APInt::getAllOnes(width));
  if (!choice_.isLargest)
    result = arith::XOrIOp::create(b, loc_, result, all);
  if (isa<FloatType>(element_) && choice_.takesNaN) {
    Value isNaN = arith::CmpFOp::create(b, loc_, arith::CmpFPredicate::UNO, x, x);
    result = arith::SelectOp::create(b, loc_, isNaN, all, result);
  }
  return orderType_ == bits ? result : arith::ExtUIOp::create(b, loc_, orderType_, result).getResult();
}

/// Where the element is among those of its row, by the order of the loops.
Value KeyReducer::placeKey(OpBuilder &b) {
  Value place;
  for (unsigned loop = 0; loop < op_.getNumLoops(); ++loop) {
    if (!isReduced(loop))
      continue;
    Value index = linalg::IndexOp::create(b, loc_, loop);
    if (place)
      index = arith::AddIOp::create(b, loc_, arith::MulIOp::create(b, loc_, place, sizes_[loop]), index);
    place = index;
  }
  place = marked(integer(b, place, keyType_));
  if (choice_.isLast)
    return marked(arith::AddIOp::create(b, loc_, place, keyNumber(b, 1)));
  return marked(arith::SubIOp::create(b, loc_, places(b), place));
}

/// Of the body, what knows no accumulator. @return what is chosen from
Value KeyReducer::copiedBody(OpBuilder &b, IRMapping &values) {
  llvm::SmallDenseMap<Value, bool> known;
  for (Operation &inner : op_.getBody()->without_terminator())
    if (!llvm::any_of(inner.getOperands(), [&](Value operand) { return knowsAccumulator(operand, op_, known); }))
      b.clone(inner, values);
  return values.lookupOrDefault(choice_.chosen);
}

/// The largest contribution of each row, of elements x. `known`: what is known of the row.
Value KeyReducer::largest(ValueRange known, Type type, Contribution contribution) {
  const size_t count = op_.getNumDpsInputs();
  SmallVector<Value> inputs = op_.getDpsInputs();
  SmallVector<AffineMap> maps = op_.getIndexingMapsArray();
  maps.resize(count);
  llvm::append_range(inputs, known);
  maps.append(known.size() + 1, results_);
  Value init = op_.getDpsInits()[0];
  auto shape = cast<RankedTensorType>(init.getType());
  SmallVector<Value> sizes;
  for (int64_t dimension = 0; dimension < shape.getRank(); ++dimension)
    if (shape.isDynamicDim(dimension))
      sizes.push_back(dimensionOf(b_, loc_, init, dimension));
  Value empty = tensor::EmptyOp::create(b_, loc_, shape.clone(type), sizes);
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(type));
  Value start = linalg::FillOp::create(b_, loc_, zero, empty).getResult(0);
  auto build = [&](OpBuilder &b, Location, ValueRange arguments) {
    IRMapping values;
    for (size_t i = 0; i < count; ++i)
      values.map(op_.getBody()->getArgument(i), arguments[i]);
    Value key = contribution(b, copiedBody(b, values), arguments.slice(count, known.size()));
    Value larger = arith::MaxUIOp::create(b, loc_, arguments.back(), key);
    linalg::YieldOp::create(b, loc_, type == keyType_ ? marked(larger) : larger);
  };
  return linalg::GenericOp::create(b_, loc_, start.getType(), inputs, start, maps, op_.getIteratorTypesArray(), build)
      .getResult(0);
}

/// The position of each loop, where the reduced ones are at a place.
SmallVector<Value> KeyReducer::indicesOf(OpBuilder &b, Value place) {
  SmallVector<Value> indices(op_.getNumLoops());
  unsigned left = op_.getNumReductionLoops();
  for (unsigned loop = op_.getNumLoops(); loop-- > 0;) {
    if (!isReduced(loop)) {
      indices[loop] =
          linalg::IndexOp::create(b, loc_, *results_.getResultPosition(getAffineDimExpr(loop, b.getContext())));
    } else if (--left == 0) {
      indices[loop] = place;
    } else {
      indices[loop] = arith::RemUIOp::create(b, loc_, place, sizes_[loop]);
      place = arith::DivUIOp::create(b, loc_, place, sizes_[loop]);
    }
  }
  return indices;
}

/// The results: what the body makes of what it starts from and the element that was chosen.
/// `ends`: keys of the first NaN of each row, or null.
SmallVector<Value> KeyReducer::decoded(Value keys, Value ends) {
  SmallVector<Value> inputs = {keys}, empties;
  if (ends)
    inputs.push_back(ends);
  const size_t before = inputs.size();
  SmallVector<unsigned> read; // inits that are tensors
  for (auto [number, init] : llvm::enumerate(op_.getDpsInits())) {
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<Value> sizes = unknownSizesOf(b_, loc_, init);
    empties.push_back(tensor::EmptyOp::create(b_, loc_, type, sizes));
    if (!init.getDefiningOp<linalg::FillOp>()) {
      inputs.push_back(init);
      read.push_back(number);
    }
  }
  const unsigned rank = results_.getNumResults();
  SmallVector<AffineMap> maps(inputs.size() + empties.size(), b_.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> types(rank, utils::IteratorType::parallel);
  auto build = [&](OpBuilder &b, Location, ValueRange arguments) {
    Value key = arguments.front();
    Value none = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::eq, key, keyNumber(b, 0));
    Value place = key;
    if (placeBits_ < keyType_.getWidth() || mayBeShorter_)
      place = marked(arith::AndIOp::create(b, loc_, place, places(b)));
    place = marked(choice_.isLast ? arith::SubIOp::create(b, loc_, place, keyNumber(b, 1)).getResult()
                                  : arith::SubIOp::create(b, loc_, places(b), place).getResult());
    place = marked(arith::SelectOp::create(b, loc_, none, keyNumber(b, 0), place));
    const SmallVector<Value> indices = indicesOf(b, integer(b, place, b.getIndexType()));

    IRMapping values;
    for (OpOperand *input : op_.getDpsInputOperands()) {
      BlockArgument argument = op_.getMatchingBlockArgument(input);
      if (argument.use_empty())
        continue;
      if (!isa<RankedTensorType>(input->get().getType())) {
        values.map(argument, input->get());
        continue;
      }
      SmallVector<Value> at;
      for (AffineExpr expr : op_.getMatchingIndexingMap(input).getResults()) {
        auto constant = dyn_cast<AffineConstantExpr>(expr);
        at.push_back(constant ? arith::ConstantIndexOp::create(b, loc_, constant.getValue()).getResult()
                              : indices[cast<AffineDimExpr>(expr).getPosition()]);
      }
      values.map(argument, tensor::ExtractOp::create(b, loc_, input->get(), at).getResult());
    }
    SmallVector<Value> starts;
    for (auto [number, init] : llvm::enumerate(op_.getDpsInits())) {
      Value start;
      if (const auto *at = llvm::find(read, number); at != read.end()) {
        start = arguments[before + (at - read.begin())];
      } else {
        start = init.getDefiningOp<linalg::FillOp>().getInputs()[0];
        if (Operation *constant = start.getDefiningOp(); constant && matchPattern(start, m_Constant()))
          start = b.clone(*constant)->getResult(0);
      }
      starts.push_back(start);
      values.map(op_.getBody()->getArgument(op_.getNumDpsInputs() + number), start);
    }
    for (Operation &inner : op_.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        values.map(index.getResult(), indices[index.getDim()]);
      else
        b.clone(inner, values);
    }
    SmallVector<Value> results;
    for (auto [start, yielded] : llvm::zip_equal(starts, op_.getBody()->getTerminator()->getOperands()))
      results.push_back(arith::SelectOp::create(b, loc_, none, start, values.lookupOrDefault(yielded)));
    if (ends) {
      const auto &semantics = cast<FloatType>(element_).getFloatSemantics();
      Value nan = arith::ConstantOp::create(b, loc_, b.getFloatAttr(element_, APFloat::getNaN(semantics)));
      Value hasNaN = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ne, arguments[1], keyNumber(b, 0));
      results[choice_.value] = arith::SelectOp::create(b, loc_, hasNaN, nan, results[choice_.value]);
    }
    linalg::YieldOp::create(b, loc_, results);
  };
  auto generic = linalg::GenericOp::create(b_, loc_, op_->getResultTypes(), inputs, empties, maps, types, build);
  return llvm::to_vector_of<Value>(generic.getResults());
}

void KeyReducer::run() {
  chooseForm();
  sizes_.resize(op_.getNumLoops());
  if (op_.getNumReductionLoops() > 1)
    for (unsigned loop = 0; loop < op_.getNumLoops(); ++loop)
      if (isReduced(loop))
        sizes_[loop] = sizeOf(loop);
  // A key, or an order, where there is no best of all yet.
  auto choose = [&](OpBuilder &b, Value condition, Value key, bool isKey = true, StringRef part = kKeyNumber) -> Value {
    if (!condition)
      return key;
    if (!isKey) {
      Value none = arith::ConstantOp::create(b, loc_, b.getZeroAttr(key.getType()));
      return arith::SelectOp::create(b, loc_, condition, key, none);
    }
    return marked(arith::SelectOp::create(b, loc_, condition, key, keyNumber(b, 0)), part);
  };
  SmallVector<Value> known;
  if (choice_.endsAtNaN)
    known.push_back(largest({}, keyType_, [&](OpBuilder &b, Value x, ValueRange) {
      Value isNaN = arith::CmpFOp::create(b, loc_, arith::CmpFPredicate::UNO, x, x);
      return choose(b, isNaN, placeKey(b));
    }));
  Value ends = known.empty() ? Value() : known.front();
  // Of what can be chosen: of elements before the end.
  auto unlessBehind = [&](OpBuilder &b, Value x, ValueRange ofRow, Value key, bool isKey = true) {
    key = choose(b, isTaken(b, x), key, isKey);
    if (!ends)
      return key;
    Value isBefore = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ugt, placeKey(b), ofRow.front());
    return choose(b, isBefore, key, isKey);
  };
  Value keys;
  if (isInOne_) {
    keys = largest(known, keyType_, [&](OpBuilder &b, Value x, ValueRange ofRow) {
      Value bits = marked(number(b, keyType_, APInt(keyType_.getWidth(), placeBits_)), kKeyPlaceBits);
      Value above = marked(arith::ShLIOp::create(b, loc_, marked(order(b, x)), bits));
      return unlessBehind(b, x, ofRow, marked(arith::OrIOp::create(b, loc_, above, placeKey(b))));
    });
  } else {
    known.push_back(largest(known, orderType_, [&](OpBuilder &b, Value x, ValueRange ofRow) {
      return unlessBehind(b, x, ofRow, order(b, x), /*isKey=*/false);
    }));
    keys = largest(known, keyType_, [&](OpBuilder &b, Value x, ValueRange ofRow) {
      Value isBest = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::eq, order(b, x), ofRow.back());
      return unlessBehind(b, x, ofRow, choose(b, isBest, placeKey(b), /*isKey=*/true, kKeyOfBest));
    });
  }
  op_->replaceAllUsesWith(decoded(keys, ends));
  op_->erase();
}

} // namespace

void reduceChoicesByKeys(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>()))
    if (std::optional<Choice> choice = choiceOf(op))
      KeyReducer(op, *choice).run();
}

} // namespace tenon::compiler::dispatch
