// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/narrow_pairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kTwoTo23 = 0x4B000000, kTwoTo10OfHalf = 0x6400, kTwoTo7OfBfloat = 0x4300;
constexpr int64_t kSignOfByte = 128;

class Pairs {
public:
  explicit Pairs(KernelBuilder &k) : k_(k), b_(k.b) {}

  /// Both as a vector.
  Value pair(Value low, Value high) {
    Value both = LLVM::PoisonOp::create(b_, k_.loc, VectorType::get(2, low.getType()));
    both = LLVM::InsertElementOp::create(b_, k_.loc, both, low, k_.number(0));
    return LLVM::InsertElementOp::create(b_, k_.loc, both, high, k_.number(1));
  }
  void split(Value both, SmallVector<Value> &into) {
    for (int64_t lane : {0, 1})
      into.push_back(LLVM::ExtractElementOp::create(b_, k_.loc, both, k_.number(lane)));
  }
  Value word(uint32_t bits) { return arith::ConstantIntOp::create(b_, k_.loc, b_.getI32Type(), int32_t(bits)); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b_, k_.loc, x, y); }
  Value floats(Type element, double value) {
    return arith::ConstantOp::create(
        b_, k_.loc, DenseElementsAttr::get(VectorType::get(2, element), b_.getFloatAttr(element, value).getValue()));
  }

  /// The bytes as unsigned words, signed ones 128 higher.
  Value wordOf(Value byte, bool isSigned) {
    Value wide = arith::ExtUIOp::create(b_, k_.loc, b_.getI32Type(), byte);
    return isSigned ? arith::XOrIOp::create(b_, k_.loc, wide, word(kSignOfByte)).getResult() : wide;
  }
  /// Two integers of few bits as elements of 16 bits with so many behind the leading one.
  Value fromHalves(Type element, Value low, Value high, uint32_t leading, double base) {
    Value halves = bitOr(low, arith::ShLIOp::create(b_, k_.loc, high, word(16)));
    halves = bitOr(halves, word(leading | leading << 16));
    Value values = LLVM::BitcastOp::create(b_, k_.loc, VectorType::get(2, element), halves);
    return arith::SubFOp::create(b_, k_.loc, values, floats(element, base));
  }
  /// Two integers of eight bits, which a bf16 holds, as the upper halves of f32.
  Value fromWords(Type element, Value low, Value high, double base) {
    auto bits = [&](Value integer) {
      Value number = arith::BitcastOp::create(b_, k_.loc, b_.getF32Type(), bitOr(integer, word(kTwoTo23)));
      Value least = arith::ConstantOp::create(b_, k_.loc, b_.getF32FloatAttr(float(base)));
      return arith::BitcastOp::create(b_, k_.loc, b_.getI32Type(),
                                      arith::SubFOp::create(b_, k_.loc, number, least).getResult())
          .getResult();
    };
    Value lower = arith::ShRUIOp::create(b_, k_.loc, bits(low), word(16));
    Value upper = arith::AndIOp::create(b_, k_.loc, bits(high), word(0xFFFF0000));
    return LLVM::BitcastOp::create(b_, k_.loc, VectorType::get(2, element), bitOr(lower, upper));
  }

private:
  KernelBuilder &k_;
  OpBuilder &b_;
};

/// The bits that a byte may have, as its body says.
uint64_t bitsOf(Value byte) {
  auto masked = byte.getDefiningOp<arith::AndIOp>();
  APInt mask;
  if (!masked || !matchPattern(masked.getRhs(), m_ConstantInt(&mask)))
    return 0xFF;
  return mask.getZExtValue();
}

bool isNarrowFloat(Type type) {
  return isa<Float16Type, BFloat16Type>(type);
}

SmallVector<Value> convert(KernelBuilder &k, Operation &op, const Lanes &bytes, unsigned width) {
  Type element = op.getResult(0).getType();
  const bool isSigned = isa<arith::SIToFPOp>(op);
  const uint64_t bits = bitsOf(op.getOperand(0));
  const bool isSmall = bits < 0x80; // then its sign says nothing
  Pairs pairs(k);
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < width; lane += 2) {
    const double sign = isSigned && !isSmall ? double(kSignOfByte) : 0;
    Value low = pairs.wordOf(bytes[lane], sign != 0), high = pairs.wordOf(bytes[lane + 1], sign != 0);
    Value both = element.isF16() ? pairs.fromHalves(element, low, high, kTwoTo10OfHalf, 1024 + sign)
                 : isSmall       ? pairs.fromHalves(element, low, high, kTwoTo7OfBfloat, 128)
                                 : pairs.fromWords(element, low, high, 8388608 + sign);
    pairs.split(both, lanes);
  }
  return lanes;
}

} // namespace

SmallVector<Value> computePairs(KernelBuilder &k, Operation &op, ArrayRef<Lanes> operands, unsigned width) {
  if (op.getNumResults() != 1 || !isNarrowFloat(op.getResult(0).getType()))
    return {};
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return op.getOperand(0).getType().isInteger(8) ? convert(k, op, operands.front(), width) : SmallVector<Value>();
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return {};
  Pairs pairs(k);
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < width; lane += 2) {
    Value left = pairs.pair(operands[0][lane], operands[0][lane + 1]),
          right = pairs.pair(operands[1][lane], operands[1][lane + 1]);
    Operation *both = k.b.create(k.loc, op.getName().getIdentifier(), {left, right}, {left.getType()}, op.getAttrs());
    pairs.split(both->getResult(0), lanes);
  }
  return lanes;
}

} // namespace tenon::compiler::codegen
