// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/dequantized.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) || !value.getType().isInteger())
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
    const bool isSigned = isa<arith::SIToFPOp>(op);
    if (!zero || (isSigned ? zero->getSignificantBits() : zero->getActiveBits() + 1) > 16)
      return std::nullopt;
    return isSigned ? zero->getSExtValue() : int64_t(zero->getZExtValue());
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

} // namespace

int64_t Dequantized::largest() const {
  const int64_t least = isUnsigned ? 0 : -128;
  return std::max(zero - least, least + 255 - zero);
}

std::optional<Dequantized> dequantizedBy(linalg::GenericOp op) {
  return BodyReader(op).run();
}

} // namespace tenon::compiler::dispatch
