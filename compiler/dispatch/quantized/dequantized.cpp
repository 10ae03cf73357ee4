// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/dequantized.h"

#include "compiler/dispatch/analysis/dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// An operation that computes each element of a tensor of f32 from those at the same place, and from others.
bool isElementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         getElementTypeOrSelf(op.getResult(0)).isF32() && op.getIndexingMapsArray().back().isIdentity();
}

/// Reads the body of what computes f32 from integers, element by element: of one operation, or of several that read
/// each other.
class BodyReader {
public:
  explicit BodyReader(linalg::GenericOp op) : op_(op) {}

  std::optional<Dequantized> run();

private:
  OpOperand *operandOf(Value value);
  Value follow(Value value);
  std::optional<APInt> numberOf(Value value);
  std::optional<int64_t> zeroOf(Value value);
  bool readScaled(Value value);
  bool readScale(Value value);
  bool readFloat(Value value);
  bool readNumber(Value value);
  bool readInteger(Value value);
  bool readElement(Value value, bool isUnsigned);

  linalg::GenericOp op_;
  Dequantized found_;
};

/// The operand that a value of the body is an element of.
OpOperand *BodyReader::operandOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op_.getBody() || int64_t(argument.getArgNumber()) >= op_.getNumDpsInputs())
    return nullptr;
  return op_.getDpsInputOperand(argument.getArgNumber());
}

/// The value of the body that computes an element, where an operation in front of this one does; that one is read next.
Value BodyReader::follow(Value value) {
  while (OpOperand *operand = operandOf(value)) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!isElementwise(producer) || !op_.getMatchingIndexingMap(operand).isIdentity())
      break;
    op_ = producer;
    value = producer.getBody()->getTerminator()->getOperand(0);
  }
  return value;
}

/// An integer that is the same for all elements, and known.
std::optional<APInt> BodyReader::numberOf(Value value) {
  if (OpOperand *operand = operandOf(value))
    value = operand->get();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) // also a tensor of one value
    return number;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return std::nullopt;
  const std::optional<APInt> from = numberOf(op->getOperand(0));
  if (!from)
    return std::nullopt;
  const unsigned width = value.getType().getIntOrFloatBitWidth();
  return isa<arith::ExtSIOp>(op) ? from->sext(width) : isa<arith::ExtUIOp>(op) ? from->zext(width) : from->trunc(width);
}

bool BodyReader::readElement(Value value, bool isUnsigned) {
  OpOperand *operand = operandOf(value);
  if (!operand || !isa<RankedTensorType>(operand->get().getType()) || !value.getType().isInteger(8) ||
      !op_.getMatchingIndexingMap(operand).isIdentity())
    return false;
  found_.integers = operand->get();
  found_.isUnsigned = isUnsigned;
  return true;
}

/// An extended element, less its zero point.
bool BodyReader::readInteger(Value value) {
  if (value.getType().getIntOrFloatBitWidth() < 16)
    return false; // a difference of 8 bits may have wrapped around
  if (auto less = value.getDefiningOp<arith::SubIOp>()) {
    const std::optional<APInt> zero = numberOf(less.getRhs());
    if (!zero || zero->getSignificantBits() > 16)
      return false;
    found_.zero += zero->getSExtValue();
    return readInteger(less.getLhs());
  }
  Operation *extension = value.getDefiningOp();
  return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension) &&
         readElement(extension->getOperand(0), isa<arith::ExtUIOp>(extension));
}

/// A zero point, as a float.
std::optional<int64_t> BodyReader::zeroOf(Value value) {
  if (Operation *op = value.getDefiningOp(); isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    const std::optional<APInt> zero = numberOf(op->getOperand(0));
    if (!zero || zero->getBitWidth() > 64)
      return std::nullopt;
    const int64_t whole = isa<arith::SIToFPOp>(op) ? zero->getSExtValue() : int64_t(zero->getZExtValue());
    return std::abs(whole) < (1 << 15) ? std::optional(whole) : std::nullopt;
  }
  APFloat zero(0.0F);
  bool isExact = false;
  APSInt whole(16, /*isUnsigned=*/false);
  if (!matchPattern(value, m_ConstantFloat(&zero)) ||
      zero.convertToInteger(whole, APFloat::rmTowardZero, &isExact) != APFloat::opOK || !isExact)
    return std::nullopt;
  return whole.getSExtValue();
}

bool BodyReader::readFloat(Value value) {
  const linalg::GenericOp here = op_;
  const bool isRead = readNumber(follow(value));
  op_ = here;
  return isRead;
}

/// Whole numbers, of the operation that is read.
bool BodyReader::readNumber(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto less = dyn_cast_or_null<arith::SubFOp>(op)) {
    // Exact, as both are whole numbers of few bits.
    const std::optional<int64_t> zero = zeroOf(less.getRhs());
    if (!zero)
      return false;
    found_.zero += *zero;
    return readFloat(less.getLhs());
  }
  if (!isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op))
    return false;
  Value from = op->getOperand(0);
  if (from.getType().isInteger(8))
    return readElement(from, isa<arith::UIToFPOp>(op));
  // Of a difference, which may be negative, an unsigned conversion is another number.
  return (isa<arith::SIToFPOp>(op) || isa_and_nonnull<arith::ExtUIOp>(from.getDefiningOp())) && readInteger(from);
}

bool BodyReader::readScale(Value value) {
  MLIRContext *context = value.getContext();
  const unsigned loops = op_.getNumLoops();
  APFloat number(0.0F);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    if (!number.isFinite())
      return false;
    found_.factor = FloatAttr::get(value.getType(), number);
    found_.scaleMap = AffineMap::get(loops, 0, context);
    return true;
  }
  OpOperand *operand = operandOf(value);
  if (!operand)
    return false;
  found_.scale = operand->get();
  found_.scaleMap = op_.getMatchingIndexingMap(operand);
  if (DenseElementsAttr data; matchPattern(found_.scale, m_Constant(&data)) &&
                              !llvm::all_of(data.getValues<APFloat>(), [](const APFloat &x) { return x.isFinite(); }))
    return false;
  return found_.scaleMap.isProjectedPermutation(/*allowZeroInResults=*/true);
}

bool BodyReader::readScaled(Value value) {
  value = follow(value);
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product) {
    found_.scaleMap = AffineMap::get(op_.getNumLoops(), 0, value.getContext());
    return readFloat(value);
  }
  if (readFloat(product.getLhs()))
    return readScale(product.getRhs());
  found_ = {};
  return readFloat(product.getRhs()) && readScale(product.getLhs());
}

std::optional<Dequantized> BodyReader::run() {
  if (!isElementwise(op_) || !readScaled(op_.getBody()->getTerminator()->getOperand(0)))
    return std::nullopt;
  // Elements of 8 bits have a zero point among them; others are taken for anything.
  const int64_t least = found_.isUnsigned ? 0 : -128;
  if (found_.zero < least || found_.zero > least + 255)
    return std::nullopt;
  return found_;
}

/// What an operation that only moves elements takes them from.
struct Move {
  Value source;
  AffineMap map; // dimensions of the result -> of the source; null: a reshape, or places that are computed
};

/// The element that a body takes, where it yields that or 0, as a copy with zeros around it does; null: anything else.
tensor::ExtractOp takenOrZero(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 0)
    return {};
  auto select = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select || !select.getType().isF32() || !matchPattern(select.getFalseValue(), m_PosZeroFloat()))
    return {};
  auto taken = select.getTrueValue().getDefiningOp<tensor::ExtractOp>();
  // Everything else computes places.
  const bool isOnly = taken && llvm::all_of(op.getBody()->without_terminator(), [&](Operation &each) {
                        return &each == taken || &each == select || isa<arith::ConstantOp>(each) ||
                               llvm::all_of(each.getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
                      });
  return isOnly && op.getBody()->getNumArguments() == 1 && op.getBody()->getArgument(0).use_empty()
             ? taken
             : tensor::ExtractOp();
}

std::optional<Move> moveOf(Operation *op) {
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return Move{op->getOperand(0), AffineMap()};
  auto moved = dyn_cast<linalg::LinalgOp>(op);
  if (!moved || !moved.hasPureTensorSemantics() || op->getNumResults() != 1 || moved.getNumReductionLoops() != 0 ||
      !moved.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    if (tensor::ExtractOp taken = takenOrZero(generic))
      return Move{taken.getTensor(), AffineMap()};
  const bool passesOn = moved.getNumDpsInputs() == 1 && llvm::hasSingleElement(*moved.getBlock()) &&
                        moved.getBlock()->getTerminator()->getOperand(0) == moved.getBlock()->getArgument(0);
  const AffineMap map = moved.getIndexingMapsArray().front();
  if (!passesOn || !isa<RankedTensorType>(op->getOperand(0).getType()) || !map.isProjectedPermutation())
    return std::nullopt;
  return Move{moved.getDpsInputs()[0], map};
}

/// Where scales of a tensor are by dimensions of its reshape; nothing where one of their dimensions is joined with
/// another one, or taken apart.
std::optional<AffineMap> reshaped(AffineMap scaleMap, Operation *op, unsigned rank) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (scaleMap.getNumResults() != 0 && !collapse && !expand)
    return std::nullopt; // places are computed
  SmallVector<AffineExpr> places;
  for (AffineExpr expr : scaleMap.getResults()) {
    if (isa<AffineConstantExpr>(expr)) {
      places.push_back(expr);
      continue;
    }
    const unsigned from = cast<AffineDimExpr>(expr).getPosition();
    std::optional<unsigned> to;
    for (auto [single, several] :
         llvm::enumerate(collapse ? collapse.getReassociationIndices() : expand.getReassociationIndices())) {
      const unsigned joined = unsigned(single);
      if (collapse ? !llvm::is_contained(several, int64_t(from)) : joined != from)
        continue;
      // Of several dimensions all but one are of one element.
      auto type = cast<RankedTensorType>(collapse ? collapse.getSrcType() : expand.getResultType());
      auto isLong = [&](int64_t dimension) { return type.getDimSize(dimension) != 1; };
      if (llvm::count_if(several, isLong) != 1 || (collapse && !isLong(from)))
        return std::nullopt;
      to = collapse ? joined : unsigned(*llvm::find_if(several, isLong));
    }
    if (!to)
      return std::nullopt;
    places.push_back(getAffineDimExpr(*to, op->getContext()));
  }
  return AffineMap::get(rank, 0, places, op->getContext());
}

} // namespace

int64_t Dequantized::largest() const {
  const int64_t least = isUnsigned ? 0 : -128;
  return std::max(zero - least, least + 255 - zero);
}

std::optional<Dequantized> dequantizedOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  const std::optional<Move> move = moveOf(op);
  if (!move) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic ? BodyReader(generic).run() : std::nullopt;
  }
  std::optional<Dequantized> found = dequantizedOf(move->source);
  if (!found)
    return std::nullopt;
  const std::optional<AffineMap> scaleMap =
      move->map ? found->scaleMap.compose(move->map)
                : reshaped(found->scaleMap, op, cast<RankedTensorType>(tensor.getType()).getRank());
  if (!scaleMap)
    return std::nullopt;
  found->scaleMap = *scaleMap;
  found->moves.insert(found->moves.begin(), op);
  return found;
}

AffineMap Dequantized::readThrough(AffineMap map) {
  while (!moves.empty()) {
    const std::optional<Move> move = moveOf(moves.front());
    if (!move->map)
      break;
    map = move->map.compose(map);
    moves.erase(moves.begin());
  }
  return map;
}

/// An operation with one tensor of integers for what it moves.
static Value moved(OpBuilder &b, Operation *op, Value integers, int64_t zero) {
  const Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType()).clone(b.getIntegerType(8));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(b, loc, type, integers, collapse.getReassociation());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return tensor::ExpandShapeOp::create(b, loc, type, integers, expand.getReassociation(), expand.getOutputShape(),
                                         expand.getStaticOutputShape());
  auto from = cast<linalg::LinalgOp>(op);
  SmallVector<Value> sizes;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      sizes.push_back(dimensionOf(b, loc, op->getResult(0), dimension));
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  const SmallVector<utils::IteratorType> loops(from.getNumLoops(), utils::IteratorType::parallel);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !takenOrZero(generic))
    return linalg::GenericOp::create(
               b, loc, TypeRange(type), integers, empty, from.getIndexingMapsArray(), loops,
               [&](OpBuilder &inner, Location at, ValueRange values) { linalg::YieldOp::create(inner, at, values[0]); })
        .getResult(0);
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange{}, empty, generic.getIndexingMapsArray(), loops,
             [&](OpBuilder &inner, Location at, ValueRange) {
               IRMapping mapping;
               for (Operation &each : generic.getBody()->without_terminator()) {
                 if (auto extract = dyn_cast<tensor::ExtractOp>(each)) {
                   SmallVector<Value> indices;
                   for (Value index : extract.getIndices())
                     indices.push_back(mapping.lookupOrDefault(index));
                   mapping.map(extract.getResult(),
                               tensor::ExtractOp::create(inner, at, integers, indices).getResult());
                 } else if (auto select = dyn_cast<arith::SelectOp>(each); select && select.getType().isF32()) {
                   Value outside = arith::ConstantOp::create(inner, at, inner.getI8IntegerAttr(int8_t(zero)));
                   mapping.map(select.getResult(),
                               arith::SelectOp::create(inner, at, mapping.lookupOrDefault(select.getCondition()),
                                                       mapping.lookupOrDefault(select.getTrueValue()), outside)
                                   .getResult());
                 } else {
                   inner.clone(each, mapping);
                 }
               }
               linalg::YieldOp::create(inner, at, mapping.lookup(generic.getBody()->getTerminator()->getOperand(0)));
             })
      .getResult(0);
}

Value Dequantized::buildSigned(OpBuilder &b, Location loc) const {
  Value value = integers;
  if (isUnsigned) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Value> sizes;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension))
        sizes.push_back(dimensionOf(b, loc, value, dimension));
    Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
    const AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    value = linalg::GenericOp::create(b, loc, TypeRange(type), value, empty, ArrayRef<AffineMap>{identity, identity},
                                      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                                      [&](OpBuilder &inner, Location at, ValueRange values) {
                                        Value top = arith::ConstantOp::create(inner, at, inner.getI8IntegerAttr(-128));
                                        linalg::YieldOp::create(
                                            inner, at, arith::XOrIOp::create(inner, at, values[0], top).getResult());
                                      })
                .getResult(0);
  }
  for (Operation *op : llvm::reverse(moves))
    value = moved(b, op, value, signedZero());
  return value;
}

} // namespace tenon::compiler::dispatch
