// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/integer_products.h"

#include "compiler/dialect/tile_pins.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/quantized/moved_integers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Smaller products are over before the operations around them are.
constexpr double kLeastMultiplications = 1 << 20;

/// A factor of the product, and how the product reads it.
struct Side {
  MovedIntegers integers;
  AffineMap map;      // loops -> place
  AffineMap scaleMap; // loops -> place of the scale
};

class IntegerProduct {
public:
  explicit IntegerProduct(linalg::GenericOp op)
      : op_(op), b_(op), loc_(op.getLoc()), types_(op.getIteratorTypesArray()),
        written_(op.getIndexingMapsArray().back()) {}

  bool run();

private:
  std::optional<Side> sideOf(Value factor);
  bool fits();
  bool haveProductOfScales();
  bool readsAllLoops();
  linalg::GenericOp buildProduct();
  void subtractZeros(linalg::GenericOp product);
  void buildResult(Value product);
  Value emptyResult(Type element);

  linalg::GenericOp op_;
  OpBuilder b_;
  Location loc_;
  const SmallVector<utils::IteratorType> types_;
  const AffineMap written_;
  SmallVector<Side, 2> sides_;
};

std::optional<Side> IntegerProduct::sideOf(Value factor) {
  auto argument = dyn_cast<BlockArgument>(factor);
  if (!argument || argument.getOwner() != op_.getBody() || int64_t(argument.getArgNumber()) >= op_.getNumDpsInputs())
    return std::nullopt;
  OpOperand *operand = op_.getDpsInputOperand(argument.getArgNumber());
  std::optional<MovedIntegers> integers = movedIntegersOf(operand->get());
  if (!integers)
    return std::nullopt;
  const AffineMap map = op_.getMatchingIndexingMap(operand);
  const AffineMap scaleMap = integers->numbers.scaleMap.compose(map);
  // A scale that differs along a sum stays inside of it.
  for (AffineExpr expr : scaleMap.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim ? types_[dim.getPosition()] != utils::IteratorType::parallel : !isa<AffineConstantExpr>(expr))
      return std::nullopt;
  const AffineMap through = integers->readThrough(map);
  return Side{std::move(*integers), through, scaleMap};
}

/// Whether no sum is too large for 32 bits.
bool IntegerProduct::fits() {
  double largest = double(sides_[0].integers.numbers.largest()) * double(sides_[1].integers.numbers.largest()), all = 1;
  bool isKnown = true;
  for (auto [type, size] : llvm::zip_equal(types_, op_.getStaticLoopRanges())) {
    if (type == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(size))
        return false;
      largest *= double(size);
    }
    isKnown &= !ShapedType::isDynamic(size);
    all *= double(size);
  }
  return largest < double(INT32_MAX) && (!isKnown || all >= kLeastMultiplications);
}

/// The least and the largest magnitude of the scales that are not 0, where all are known.
std::optional<std::pair<double, double>> magnitudesOf(const Dequantized &numbers) {
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  auto add = [&](const APFloat &scale) {
    if (scale.isZero())
      return;
    const double magnitude = std::abs(scale.convertToDouble());
    least = std::min(least, magnitude);
    largest = std::max(largest, magnitude);
  };
  Attribute scales = numbers.factor;
  if (numbers.scale)
    matchPattern(numbers.scale, m_Constant(&scales));
  if (auto one = dyn_cast_or_null<FloatAttr>(scales))
    add(one.getValue());
  else if (auto all = dyn_cast_or_null<DenseFPElementsAttr>(scales))
    llvm::for_each(all.getValues<APFloat>(), add);
  else
    return std::nullopt;
  return std::pair(least, largest);
}

/// Whether known scales leave all elements finite, and any two have a product that is a number like others.
bool IntegerProduct::haveProductOfScales() {
  const Dequantized &leftOnes = sides_[0].integers.numbers, &rightOnes = sides_[1].integers.numbers;
  const auto left = magnitudesOf(leftOnes), right = magnitudesOf(rightOnes);
  auto areFinite = [](const Dequantized &numbers, const std::optional<std::pair<double, double>> &scales) {
    return !scales || scales->second * double(numbers.largest()) <= std::numeric_limits<float>::max();
  };
  if (!areFinite(leftOnes, left) || !areFinite(rightOnes, right))
    return false;
  return !left || !right ||
         (left->first * right->first >= std::numeric_limits<float>::min() &&
          left->second * right->second <= std::numeric_limits<float>::max());
}

/// Whether the loops still have sizes: where both sides repeat their elements along one that is reduced, none says how
/// often.
bool IntegerProduct::readsAllLoops() {
  const SmallVector<AffineMap> maps = {sides_[0].map, sides_[1].map, written_};
  return bool(inversePermutation(concatAffineMaps(maps, op_.getContext())));
}

Value IntegerProduct::emptyResult(Type element) {
  auto type = cast<RankedTensorType>(op_.getResult(0).getType());
  SmallVector<Value> sizes = unknownSizesOf(b_, loc_, op_.getDpsInits()[0]);
  return tensor::EmptyOp::create(b_, loc_, type.getShape(), element, sizes);
}

linalg::GenericOp IntegerProduct::buildProduct() {
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(0));
  Value start = linalg::FillOp::create(b_, loc_, zero, emptyResult(b_.getI32Type())).getResult(0);
  SmallVector<Value> inputs;
  for (const Side &side : sides_)
    inputs.push_back(side.integers.buildSigned(b_, loc_));
  return linalg::GenericOp::create(
      b_, loc_, start.getType(), inputs, start, ArrayRef<AffineMap>{sides_[0].map, sides_[1].map, written_}, types_,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        auto wide = [&](Value value) { return arith::ExtSIOp::create(inner, at, inner.getI32Type(), value); };
        Value product = arith::MulIOp::create(inner, at, wide(values[0]), wide(values[1]));
        linalg::YieldOp::create(inner, at, arith::AddIOp::create(inner, at, values[2], product).getResult());
      });
}

void IntegerProduct::subtractZeros(linalg::GenericOp product) {
  auto multiplied = *product.getBody()->getOps<arith::MulIOp>().begin();
  for (auto [number, side] : llvm::enumerate(sides_)) {
    if (side.integers.numbers.signedZero() == 0)
      continue;
    OpBuilder inner(multiplied);
    Value zero = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(int32_t(side.integers.numbers.signedZero())));
    zero.getDefiningOp()->moveBefore(product);
    multiplied->setOperand(number, arith::SubIOp::create(inner, loc_, multiplied->getOperand(number), zero));
  }
}

/// product * (scale * scale), and what the sum starts from.
void IntegerProduct::buildResult(Value product) {
  auto type = cast<RankedTensorType>(op_.getResult(0).getType());
  const AffineMap identity = b_.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs = {product};
  SmallVector<AffineMap> maps = {identity};
  SmallVector<std::optional<unsigned>, 2> scales; // inputs
  for (const Side &side : sides_) {
    scales.emplace_back();
    if (!side.integers.numbers.scale)
      continue;
    SmallVector<AffineExpr> places; // by dimensions of the result
    for (AffineExpr expr : side.scaleMap.getResults())
      places.push_back(isa<AffineConstantExpr>(expr) ? expr : b_.getAffineDimExpr(*written_.getResultPosition(expr)));
    scales.back() = inputs.size();
    inputs.push_back(side.integers.numbers.scale);
    maps.push_back(AffineMap::get(type.getRank(), 0, places, b_.getContext()));
  }
  Value start = op_.getDpsInits()[0];
  auto fill = start.getDefiningOp<linalg::FillOp>();
  const bool hasStart = !fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  if (hasStart) {
    inputs.push_back(start);
    maps.push_back(identity);
  }
  maps.push_back(identity);
  auto result =
      linalg::GenericOp::create(b_, loc_, TypeRange(type), inputs, emptyResult(b_.getF32Type()), maps,
                                SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                                [&](OpBuilder &inner, Location at, ValueRange values) {
                                  // Scales first: one may be so large that the sum times it is no float.
                                  Value scaling;
                                  for (auto [side, scale] : llvm::zip_equal(sides_, scales)) {
                                    Value by;
                                    if (scale)
                                      by = values[*scale];
                                    else if (FloatAttr factor = side.integers.numbers.factor)
                                      by = arith::ConstantOp::create(inner, at, factor);
                                    if (by)
                                      scaling = scaling ? inner.createOrFold<arith::MulFOp>(at, scaling, by) : by;
                                  }
                                  Value value = arith::SIToFPOp::create(inner, at, inner.getF32Type(), values[0]);
                                  if (scaling)
                                    value = arith::MulFOp::create(inner, at, value, scaling);
                                  if (hasStart)
                                    value = arith::AddFOp::create(inner, at, value, values[inputs.size() - 1]);
                                  linalg::YieldOp::create(inner, at, value);
                                });
  op_.getResult(0).replaceAllUsesWith(result.getResult(0));
  op_.erase();
}

bool IntegerProduct::run() {
  const auto accumulators = reductionBodyOf(op_);
  if (!accumulators || accumulators->front().combiner != Combiner::AddF || op_.hasIndexSemantics() ||
      !written_.isProjectedPermutation())
    return false;
  auto product = accumulators->front().contributed.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != op_.getBody() || !product.getType().isF32())
    return false;
  for (Value factor : {product.getLhs(), product.getRhs()}) {
    std::optional<Side> side = sideOf(factor);
    if (!side)
      return false;
    sides_.push_back(std::move(*side));
  }
  if (!fits() || !haveProductOfScales() || !readsAllLoops())
    return false;
  linalg::GenericOp integers = buildProduct();
  const std::optional<Contraction> found = contractionOf(integers);
  if (found ? !isForTensorCores(*found) : !isWindow(integers)) {
    integers.erase(); // what it read has no reader left
    return false;
  }
  subtractZeros(integers);
  buildResult(integers.getResult(0));
  return true;
}

/// Sums of products of f32, named or generic, with two factors that are computed. A tile that the user chose is one for
/// f32.
bool mayBeOfIntegers(linalg::LinalgOp op) {
  if (tilePinOf(op) || !op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.getNumReductionLoops() == 0 ||
      op.getNumDpsInputs() != 2 || !getElementTypeOrSelf(op->getResult(0)).isF32() ||
      !llvm::all_of(op.getDpsInputs(), [](Value input) { return movedIntegersOf(input).has_value(); }))
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return !isOfAttention(generic);
  return linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op);
}

} // namespace

void multiplyIntegers(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> found;
  function.walk([&](linalg::LinalgOp op) {
    if (mayBeOfIntegers(op))
      found.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (linalg::LinalgOp op : found) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        continue;
      generic = *made;
    }
    IntegerProduct(generic).run();
  }
}

} // namespace tenon::compiler::dispatch
