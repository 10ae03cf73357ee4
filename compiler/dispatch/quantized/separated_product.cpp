// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/separated_product.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/quantized/inner_places.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class SeparatedProduct {
public:
  SeparatedProduct(linalg::GenericOp op, QuantizedFactor image, QuantizedFactor filters)
      : op_(op), b_(op), loc_(op.getLoc()), image_(image), filters_(filters), sizes_(op.getStaticLoopRanges()),
        types_(op.getIteratorTypesArray()), written_(op.getIndexingMapsArray().back()) {}

  bool run();

private:
  bool isReduced(unsigned loop) const { return types_[loop] == utils::IteratorType::reduction; }
  bool findBorder();
  linalg::GenericOp buildProduct();
  Value imageWithZeros();
  Value sumOfFilters();
  Value sumOfImage();
  void buildResult(Value product, Value ofFilters, Value ofImage);
  Value filled(ArrayRef<int64_t> shape, ArrayRef<Value> sizes = {});
  Value sumOver(Value tensor, const QuantizedFactor &side, ArrayRef<unsigned> dropped, bool isCentred);
  Value sumInside(Value tensor, ArrayRef<unsigned> kept, ArrayRef<unsigned> loops);
  SmallVector<unsigned> inOrderOfResult(llvm::function_ref<bool(unsigned)> has);
  AffineMap mapOver(ArrayRef<unsigned> loops, ArrayRef<unsigned> results);

  linalg::GenericOp op_;
  OpBuilder b_;
  Location loc_;
  QuantizedFactor image_, filters_; // the image is the one with a border, where one has
  const SmallVector<int64_t> sizes_;
  const SmallVector<utils::IteratorType> types_;
  const AffineMap written_;
  std::optional<Border> border_;
  AffineMap places_;                // loops -> place in the image inside of the border
  SmallVector<InnerPlaces> inner_;  // of each loop
  SmallVector<unsigned> inFilters_; // loops of the filters' dimensions
};

/// Loops of the result's dimensions, in its order.
SmallVector<unsigned> SeparatedProduct::inOrderOfResult(llvm::function_ref<bool(unsigned)> has) {
  SmallVector<unsigned> loops;
  for (unsigned dimension = 0; dimension < written_.getNumResults(); ++dimension)
    if (has(written_.getDimPosition(dimension)))
      loops.push_back(written_.getDimPosition(dimension));
  return loops;
}

/// Where `results` are among `loops`.
AffineMap SeparatedProduct::mapOver(ArrayRef<unsigned> loops, ArrayRef<unsigned> results) {
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : results)
    exprs.push_back(b_.getAffineDimExpr(llvm::find(loops, loop) - loops.begin()));
  return AffineMap::get(loops.size(), 0, exprs, b_.getContext());
}

Value SeparatedProduct::filled(ArrayRef<int64_t> shape, ArrayRef<Value> sizes) {
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, b_.getI32Type(), sizes);
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(0));
  return linalg::FillOp::create(b_, loc_, zero, empty).getResult(0);
}

/// An image that has its own zero point around it; false where something else is around it.
bool SeparatedProduct::findBorder() {
  auto source = image_.operand->get().getDefiningOp<linalg::GenericOp>();
  if (!source || source.getNumDpsInputs() != 0 || source->getNumResults() != 1 ||
      !source.getIndexingMapsArray().front().isIdentity())
    return true;
  const std::optional<int64_t> zero = image_.zero ? getConstantIntValue(image_.zero) : 0;
  if (!zero)
    return true;
  Attribute outside = b_.getIntegerAttr(image_.type().getElementType(), APInt(8, uint64_t(*zero), false, true));
  border_ = borderOf(source.getBody()->getTerminator()->getOperand(0), source, outside);
  if (border_) {
    places_ = border_->map.compose(image_.map());
    for (unsigned loop = 0; loop < sizes_.size(); ++loop)
      inner_.push_back(innerPlacesOf(loop, *border_, places_, sizes_, types_));
  }
  return true;
}

/// The same with zeros around it.
Value SeparatedProduct::imageWithZeros() {
  if (!border_)
    return image_.operand->get();
  auto source = image_.operand->get().getDefiningOp<linalg::GenericOp>();
  auto copy = cast<linalg::GenericOp>(b_.clone(*source.getOperation()));
  auto select = copy.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  OpBuilder inner(select);
  select.getFalseValueMutable().assign(
      arith::ConstantOp::create(inner, loc_, inner.getZeroAttr(image_.type().getElementType())));
  return copy.getResult(0);
}

linalg::GenericOp SeparatedProduct::buildProduct() {
  return linalg::GenericOp::create(
      b_, loc_, op_->getResultTypes(), ValueRange{imageWithZeros(), filters_.operand->get()}, op_.getDpsInits(),
      ArrayRef<AffineMap>{image_.map(), filters_.map(), written_}, types_,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        auto extended = [&](const QuantizedFactor &side, Value value) {
          IRMapping mapping;
          mapping.map(side.extension->getOperand(0), value);
          return inner.clone(*side.extension, mapping)->getResult(0);
        };
        Value product =
            arith::MulIOp::create(inner, at, extended(image_, values[0]), extended(filters_, values[1])).getResult();
        linalg::YieldOp::create(inner, at, arith::AddIOp::create(inner, at, values[2], product).getResult());
      });
}

/// Sums over some dimensions of a tensor as it lies, of its elements in 32 bits, or of what they are above the zero
/// point.
Value SeparatedProduct::sumOver(Value tensor, const QuantizedFactor &side, ArrayRef<unsigned> dropped, bool isCentred) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<AffineExpr> kept;
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  SmallVector<utils::IteratorType> types;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    const bool isDropped = llvm::is_contained(dropped, unsigned(dimension));
    types.push_back(isDropped ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (isDropped)
      continue;
    kept.push_back(b_.getAffineDimExpr(dimension));
    shape.push_back(type.getDimSize(dimension));
    if (type.isDynamicDim(dimension))
      dynamic.push_back(dimensionOf(b_, loc_, tensor, dimension));
  }
  Value start = filled(shape, dynamic);
  const AffineMap identity = b_.getMultiDimIdentityMap(type.getRank());
  return linalg::GenericOp::create(
             b_, loc_, start.getType(), tensor, start,
             ArrayRef<AffineMap>{identity, AffineMap::get(type.getRank(), 0, kept, b_.getContext())}, types,
             [&](OpBuilder &inner, Location at, ValueRange values) {
               IRMapping mapping;
               mapping.map(side.extension->getOperand(0), values[0]);
               Value value = inner.clone(*side.extension, mapping)->getResult(0);
               if (isCentred && side.hasZero())
                 value = arith::SubIOp::create(inner, at, value, side.zero);
               linalg::YieldOp::create(inner, at, arith::AddIOp::create(inner, at, values[1], value).getResult());
             })
      .getResult(0);
}

/// Sums of the filters for each place of the result, where that differs: of what lies inside of the image. Places that
/// are alike have one.
Value SeparatedProduct::sumInside(Value tensor, ArrayRef<unsigned> kept, ArrayRef<unsigned> loops) {
  SmallVector<unsigned> all(loops);
  SmallVector<utils::IteratorType> types(loops.size(), utils::IteratorType::parallel);
  for (unsigned loop : kept)
    if (isReduced(loop)) {
      all.push_back(loop);
      types.push_back(utils::IteratorType::reduction);
    }
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(sizes_[loop] - inner_[loop].alike() + 1);
  Value start = filled(shape);
  return linalg::GenericOp::create(
             b_, loc_, start.getType(), tensor, start, ArrayRef<AffineMap>{mapOver(all, kept), mapOver(all, loops)},
             types,
             [&](OpBuilder &inner, Location at, ValueRange values) {
               SmallVector<Value> indices(sizes_.size());
               for (auto [number, loop] : llvm::enumerate(all))
                 indices[loop] = inner_[loop].placeOf(inner, at, linalg::IndexOp::create(inner, at, number));
               Value zeroIndex = arith::ConstantIndexOp::create(inner, at, 0);
               for (Value &index : indices)
                 index = index ? index : zeroIndex;
               Value isInside;
               auto image = cast<RankedTensorType>(border_->image.getType());
               for (auto [dimension, mayLeave] : llvm::enumerate(border_->mayLeave)) {
                 if (!mayLeave)
                   continue;
                 Value place =
                     affine::AffineApplyOp::create(inner, at, places_.getSubMap(unsigned(dimension)), indices);
                 Value size = arith::ConstantIndexOp::create(inner, at, image.getDimSize(dimension));
                 Value is = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::ult, place, size);
                 isInside = isInside ? arith::AndIOp::create(inner, at, isInside, is).getResult() : is;
               }
               Value zero = arith::ConstantOp::create(inner, at, inner.getI32IntegerAttr(0));
               Value value = arith::SelectOp::create(inner, at, isInside, values[0], zero);
               linalg::YieldOp::create(inner, at, arith::AddIOp::create(inner, at, values[1], value).getResult());
             })
      .getResult(0);
}

/// Whether the loop decides whether a place is outside of the image.
static bool decidesBorder(const std::optional<Border> &border, AffineMap places, unsigned loop) {
  if (!border)
    return false;
  for (auto [dimension, mayLeave] : llvm::enumerate(border->mayLeave))
    if (mayLeave && places.getResult(dimension).isFunctionOfDim(loop))
      return true;
  return false;
}

Value SeparatedProduct::sumOfFilters() {
  auto decides = [&](unsigned loop) { return decidesBorder(border_, places_, loop); };
  SmallVector<unsigned> dropped, kept; // dimensions; loops
  for (auto [dimension, loop] : llvm::enumerate(inFilters_)) {
    if (isReduced(loop) && !decides(loop))
      dropped.push_back(dimension);
    else
      kept.push_back(loop);
  }
  Value sums = sumOver(filters_.operand->get(), filters_, dropped, /*isCentred=*/false);
  const SmallVector<unsigned> loops =
      inOrderOfResult([&](unsigned loop) { return llvm::is_contained(inFilters_, loop) || decides(loop); });
  const bool isEverywhereTheSame = llvm::none_of(loops, decides) && llvm::none_of(kept, decides);
  if (!isEverywhereTheSame)
    return sumInside(sums, kept, loops);
  // As the result has its dimensions.
  if (kept == loops)
    return sums;
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(sizes_[loop]);
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, b_.getI32Type());
  SmallVector<int64_t> order;
  for (unsigned loop : loops)
    order.push_back(llvm::find(kept, loop) - kept.begin());
  return linalg::TransposeOp::create(b_, loc_, sums, empty, order)->getResult(0);
}

/// For each window what the image is above its zero point; around it that is nothing.
Value SeparatedProduct::sumOfImage() {
  const AffineMap map = image_.map();
  SmallVector<unsigned> dropped; // dimensions that are channels
  SmallVector<AffineExpr> left;
  SmallVector<unsigned> window; // reduced loops that are none
  for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && isReduced(dim.getPosition())) {
      dropped.push_back(dimension);
      continue;
    }
    left.push_back(expr);
    for (unsigned loop = 0; loop < sizes_.size(); ++loop)
      if (expr.isFunctionOfDim(loop) && isReduced(loop) && !llvm::is_contained(window, loop))
        window.push_back(loop);
  }
  Value sums = sumOver(image_.operand->get(), image_, dropped, /*isCentred=*/true);
  const SmallVector<unsigned> loops = inOrderOfResult(
      [&](unsigned loop) { return llvm::any_of(left, [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); }); });
  SmallVector<unsigned> all(loops);
  llvm::append_range(all, window);
  SmallVector<AffineExpr> renamed(sizes_.size(), b_.getAffineConstantExpr(0));
  SmallVector<utils::IteratorType> types;
  for (auto [number, loop] : llvm::enumerate(all)) {
    renamed[loop] = b_.getAffineDimExpr(number);
    types.push_back(isReduced(loop) ? utils::IteratorType::reduction : utils::IteratorType::parallel);
  }
  SmallVector<AffineExpr> read;
  for (AffineExpr expr : left)
    read.push_back(expr.replaceDims(renamed));
  SmallVector<int64_t> shape, lengths;
  SmallVector<Value> dynamic;
  for (unsigned loop : loops) {
    shape.push_back(sizes_[loop]);
    if (ShapedType::isDynamic(sizes_[loop]))
      dynamic.push_back(
          dimensionOf(b_, loc_, op_.getDpsInits()[0], *written_.getResultPosition(b_.getAffineDimExpr(loop))));
  }
  for (unsigned loop : window)
    lengths.push_back(sizes_[loop]);
  Value start = filled(shape, dynamic);
  // As pooling has one: it says how large a window is.
  Value extent = tensor::EmptyOp::create(b_, loc_, lengths, b_.getI32Type());
  return linalg::GenericOp::create(b_, loc_, start.getType(), ValueRange{sums, extent}, start,
                                   ArrayRef<AffineMap>{AffineMap::get(all.size(), 0, read, b_.getContext()),
                                                       mapOver(all, window), mapOver(all, loops)},
                                   types,
                                   [&](OpBuilder &inner, Location at, ValueRange values) {
                                     linalg::YieldOp::create(
                                         inner, at, arith::AddIOp::create(inner, at, values[2], values[0]).getResult());
                                   })
      .getResult(0);
}

void SeparatedProduct::buildResult(Value product, Value ofFilters, Value ofImage) {
  auto type = cast<RankedTensorType>(product.getType());
  const SmallVector<unsigned> all = inOrderOfResult([](unsigned) { return true; });
  auto mapOf = [&](llvm::function_ref<bool(unsigned)> has) { return mapOver(all, inOrderOfResult(has)); };
  SmallVector<Value> inputs = {product};
  SmallVector<AffineMap> maps = {b_.getMultiDimIdentityMap(type.getRank())};
  const SmallVector<unsigned> loopsOfFilters = inOrderOfResult(
      [&](unsigned loop) { return llvm::is_contained(inFilters_, loop) || decidesBorder(border_, places_, loop); });
  // What many places share is read where it is: beside the result it would be as large as that.
  const bool isShared = ofFilters && llvm::any_of(loopsOfFilters, [&](unsigned loop) {
                          return loop < inner_.size() && inner_[loop].alike() > 1;
                        });
  if (ofFilters && !isShared) {
    inputs.push_back(ofFilters);
    maps.push_back(mapOver(all, loopsOfFilters));
  }
  if (ofImage) {
    inputs.push_back(ofImage);
    maps.push_back(mapOf([&](unsigned loop) { return image_.map().isFunctionOfDim(loop); }));
  }
  maps.push_back(maps.front());
  SmallVector<Value> dynamic = unknownSizesOf(b_, loc_, op_.getDpsInits()[0]);
  Value empty = tensor::EmptyOp::create(b_, loc_, type, dynamic);
  auto result = linalg::GenericOp::create(
      b_, loc_, TypeRange(type), inputs, empty, maps,
      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &inner, Location at, ValueRange values) {
        Value value = values[0];
        auto subtract = [&](Value zero, Value sum) {
          Value product = arith::MulIOp::create(inner, at, zero, sum);
          value = arith::SubIOp::create(inner, at, value, product);
        };
        if (isShared) {
          SmallVector<Value> places;
          for (unsigned loop : loopsOfFilters) {
            const unsigned dimension = llvm::find(all, loop) - all.begin();
            places.push_back(inner_[loop].numberOf(inner, at, linalg::IndexOp::create(inner, at, dimension)));
          }
          subtract(image_.zero, tensor::ExtractOp::create(inner, at, ofFilters, places));
        } else if (ofFilters) {
          subtract(image_.zero, values[1]);
        }
        if (ofImage)
          subtract(filters_.zero, values[ofFilters && !isShared ? 2 : 1]);
        linalg::YieldOp::create(inner, at, value);
      });
  op_.getResult(0).replaceAllUsesWith(result.getResult(0));
}

bool SeparatedProduct::run() {
  for (auto [loop, size] : llvm::enumerate(sizes_))
    if (ShapedType::isDynamic(size) && isReduced(loop))
      return false;
  if (!written_.isProjectedPermutation() || !findBorder())
    return false;
  for (AffineExpr expr : filters_.map().getResults())
    inFilters_.push_back(cast<AffineDimExpr>(expr).getPosition());
  linalg::GenericOp product = buildProduct();
  const std::optional<Contraction> found = contractionOf(product);
  if (!found || !isForTensorCores(*found)) {
    product.erase();
    return false;
  }
  Value ofFilters = image_.hasZero() ? sumOfFilters() : Value();
  Value ofImage = filters_.hasZero() ? sumOfImage() : Value();
  if (ofFilters || ofImage)
    buildResult(product.getResult(0), ofFilters, ofImage);
  else
    op_.getResult(0).replaceAllUsesWith(product.getResult(0));
  op_.erase();
  return true;
}

} // namespace

bool separateZeroPoints(linalg::GenericOp op, const QuantizedFactor &image, const QuantizedFactor &filters) {
  return SeparatedProduct(op, image, filters).run();
}

} // namespace tenon::compiler::dispatch
