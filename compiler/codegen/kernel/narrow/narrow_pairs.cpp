// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/narrow/narrow_pairs.h"

#include "compiler/codegen/kernel/narrow/scaled_numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kTwoTo23 = 0x4B000000, kTwoTo10OfHalf = 0x6400, kTwoTo7OfBfloat = 0x4300;
// Bits behind the leading one of these, of a number that has them all as an integer.
constexpr uint32_t kBitsOfHalf = 10, kBitsOfBfloat = 7;

/// Bits of a byte, as an integer.
struct Field {
  Value bytes;       // a vector that was read from memory, or the byte itself
  uint32_t byte = 0; // which of it
  uint32_t shift = 0, bits = 8;
  bool isSigned = false;

  /// What the highest bit is worth where it is a sign.
  uint32_t sign() const { return isSigned ? 1u << (bits - 1) : 0; }
};

std::optional<uint32_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.uge(32))
    return std::nullopt;
  return uint32_t(number.getZExtValue());
}

/// A byte of a vector, shifted down or not.
bool findByte(Value value, Field &field) {
  if (auto shift = value.getDefiningOp<arith::ShRUIOp>()) {
    const std::optional<uint32_t> distance = constantOf(shift.getRhs());
    if (!distance)
      return false;
    field.shift += *distance;
    return findByte(shift.getLhs(), field);
  }
  if (auto wide = value.getDefiningOp<arith::ExtUIOp>())
    return wide.getIn().getType().isInteger(8) && findByte(wide.getIn(), field);
  auto element = value.getDefiningOp<LLVM::ExtractElementOp>();
  if (!element || !value.getType().isInteger(8))
    return false;
  const std::optional<uint32_t> place = constantOf(element.getPosition());
  auto type = dyn_cast<VectorType>(element.getVector().getType());
  if (!place || !type || type.getNumElements() % 4 != 0)
    return false;
  field.bytes = element.getVector();
  field.byte = *place;
  return field.shift < 8;
}

/// Where only so many of the low bits are asked for: the value before its sign was extended from them, or from above.
Value withoutExtension(Value value, uint32_t bits) {
  for (auto back = value.getDefiningOp<arith::ShRSIOp>(); back; back = value.getDefiningOp<arith::ShRSIOp>()) {
    auto up = back.getLhs().getDefiningOp<arith::ShLIOp>();
    const std::optional<uint32_t> distance = constantOf(back.getRhs());
    if (!up || !distance || constantOf(up.getRhs()) != distance ||
        bits + *distance > value.getType().getIntOrFloatBitWidth())
      break;
    value = up.getLhs();
  }
  return value;
}

/// Which bits of what byte an integer is: all of them, those of a mask, or the highest ones with their sign, which a
/// body has shifted to the top and back.
std::optional<Field> fieldOf(Value value, bool isSigned) {
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>(); wide && isSigned && wide.getIn().getType().isInteger(8))
    return fieldOf(wide.getIn(), isSigned);
  Field field;
  const uint32_t width = value.getType().getIntOrFloatBitWidth();
  Value inner = value;
  std::optional<uint32_t> masked;
  if (auto mask = value.getDefiningOp<arith::AndIOp>()) {
    APInt bits;
    if (!matchPattern(mask.getRhs(), m_ConstantInt(&bits)) || !bits.isMask() || bits.countr_one() > 8)
      return std::nullopt;
    masked = bits.countr_one();
    inner = mask.getLhs();
  } else if (auto back = value.getDefiningOp<arith::ShRSIOp>()) {
    const std::optional<uint32_t> distance = constantOf(back.getRhs());
    if (!distance || *distance >= width)
      return std::nullopt;
    field.isSigned = true;
    masked = width - *distance;
    inner = back.getLhs();
    if (auto up = inner.getDefiningOp<arith::ShLIOp>()) {
      if (constantOf(up.getRhs()) != distance)
        return std::nullopt;
      inner = up.getLhs();
    } else if (width == 8) {
      field.shift = *distance; // its high bits
    } else {
      return std::nullopt;
    }
  }
  inner = withoutExtension(inner, masked.value_or(8));
  if (!findByte(inner, field)) {
    if (width != 8)
      return std::nullopt;
    return Field{.bytes = value, .bits = 8, .isSigned = isSigned};
  }
  field.bits = masked ? std::min(*masked, 8 - field.shift) : 8 - field.shift;
  if (field.isSigned && (!isSigned || *masked != field.bits)) // the sign is none of the byte's bits, or is a number
    return width == 8 ? std::optional(Field{.bytes = value, .bits = 8, .isSigned = isSigned}) : std::nullopt;
  if (!field.isSigned && isSigned && width == 8 && field.bits == 8)
    field.isSigned = true;
  return field;
}

class Pairs {
public:
  explicit Pairs(KernelBuilder &k) : k_(k), b_(k.b) {}

  /// Both as a vector.
  Value pair(Value low, Value high) {
    Value both = LLVM::PoisonOp::create(b_, k_.loc, VectorType::get(2, low.getType()));
    both = LLVM::InsertElementOp::create(b_, k_.loc, both, low, k_.number(0));
    return LLVM::InsertElementOp::create(b_, k_.loc, both, high, k_.number(1));
  }
  /// The lanes of a pair, of all of them.
  std::pair<unsigned, unsigned> lanesOf(unsigned pair, unsigned width) const {
    return k_.scaledNumbers && width % 8 == 0 ? k_.scaledNumbers->lanesOf(pair) : std::pair(2 * pair, 2 * pair + 1);
  }
  void split(Value both, std::pair<unsigned, unsigned> lanes, MutableArrayRef<Value> into) {
    into[lanes.first] = LLVM::ExtractElementOp::create(b_, k_.loc, both, k_.number(0));
    into[lanes.second] = LLVM::ExtractElementOp::create(b_, k_.loc, both, k_.number(1));
  }
  /// Two integers of so many bits that `element` holds them.
  Value convert(Type element, const Field &low, const Field &high) {
    const bool isHalf = element.isF16();
    if (k_.scaledNumbers && element.isBF16())
      return convertScaled(low, high);
    if (low.bits > (isHalf ? kBitsOfHalf : kBitsOfBfloat))
      return convertWords(element, low, high);
    const uint32_t leading = isHalf ? kTwoTo10OfHalf : kTwoTo7OfBfloat, mask = (1u << low.bits) - 1;
    Value both = permute(wordOf(low), wordOf(high), low.byte % 4 | (4 + high.byte % 4) << 8);
    both = arith::AndIOp::create(b_, k_.loc, both, word(mask | mask << 16));
    const uint32_t bits = leading | low.sign();
    both = arith::XOrIOp::create(b_, k_.loc, both, word(bits | bits << 16));
    Value values = LLVM::BitcastOp::create(b_, k_.loc, VectorType::get(2, element), both);
    return arith::SubFOp::create(b_, k_.loc, values, floats(element, (isHalf ? 1024 : 128) + low.sign()));
  }

  /// An integer of eight bits as f32.
  Value widened(const Field &field) {
    Value flipped = wordOf(field);
    if (field.isSigned)
      flipped = arith::XOrIOp::create(b_, k_.loc, flipped, word(0x80808080));
    Value bits = permute(flipped, word(kTwoTo23), 0x7440 | field.byte % 4);
    Value large = arith::BitcastOp::create(b_, k_.loc, b_.getF32Type(), bits);
    Value least = arith::ConstantOp::create(b_, k_.loc, b_.getF32FloatAttr(8388608.0f + float(field.sign())));
    return arith::SubFOp::create(b_, k_.loc, large, least);
  }

  /// An operation on such a conversion and one factor of both lanes; null where it is none.
  Value computeScaled(Operation &op, Value conversion, Value factor) {
    Value scaled = conversion ? ScaledNumbers::scaledOf(conversion) : Value();
    if (!scaled)
      return {};
    if (isa<arith::MulFOp>(op)) {
      Value multiplied = k_.scaledNumbers->multiplied(factor);
      return multiplied ? arith::MulFOp::create(b_, k_.loc, scaled, multiplied).getResult() : Value();
    }
    Value subtracted = isa<arith::SubFOp>(op) ? k_.scaledNumbers->divided(factor) : Value();
    return subtracted ? k_.scaledNumbers->unscaled(k_.scaledNumbers->difference(scaled, subtracted)) : Value();
  }
  /// The vector of which they are the lanes; null: of none.
  static Value wholeOf(Value low, Value high) {
    auto first = low.getDefiningOp<LLVM::ExtractElementOp>(), second = high.getDefiningOp<LLVM::ExtractElementOp>();
    const bool isWhole = first && second && first.getVector() == second.getVector() &&
                         cast<VectorType>(first.getVector().getType()).getNumElements() == 2 &&
                         constantOf(first.getPosition()) == 0u && constantOf(second.getPosition()) == 1u;
    return isWhole ? first.getVector() : Value();
  }

private:
  /// Both fields' bytes as the low ones of halves; what is above them is anything.
  Value halvesOf(const Field &low, const Field &high, llvm::function_ref<Value(Field)> wordOf) {
    const bool isOneWord = low.bytes == high.bytes && low.byte / 4 == high.byte / 4;
    if (isOneWord && high.byte == low.byte + 2) // they are in halves
      return low.byte % 4 == 0 ? wordOf(low)
                               : arith::ShRUIOp::create(b_, k_.loc, wordOf(low), word(low.byte % 4 * 8)).getResult();
    return permute(wordOf(low), wordOf(high), low.byte % 4 | (4 + high.byte % 4) << 8);
  }
  /// The fields stay where they are in their bytes, which become the low bytes of both halves.
  Value convertScaled(const Field &low, const Field &high) {
    auto wordOf = [&](Field field) {
      field.shift = 0;
      return this->wordOf(field);
    };
    ScaledNumbers &scaled = *k_.scaledNumbers;
    if (low.bits == 8 && low.bytes == high.bytes && low.byte / 4 == high.byte / 4) { // nothing else to mask
      Value bytes = wordOf(low);
      if (low.isSigned)
        bytes = arith::XOrIOp::create(b_, k_.loc, bytes, word(0x80808080));
      Value both = permute(bytes, word(0), 0x4040 | low.byte % 4 | high.byte % 4 << 8);
      return scaled.unscaled(scaled.numbers(both, 0, 0, low.sign()));
    }
    Value both = halvesOf(low, high, wordOf);
    const uint32_t ofLow = ((1u << low.bits) - 1) << low.shift, ofHigh = ((1u << high.bits) - 1) << high.shift;
    both = arith::AndIOp::create(b_, k_.loc, both, word(ofLow | ofHigh << 16));
    if (low.isSigned)
      both = arith::XOrIOp::create(b_, k_.loc, both, word(low.sign() << low.shift | high.sign() << high.shift << 16));
    return scaled.unscaled(scaled.numbers(both, low.shift, high.shift, low.sign()));
  }
  Value word(uint32_t bits) { return arith::ConstantIntOp::create(b_, k_.loc, b_.getI32Type(), int32_t(bits)); }
  Value floats(Type element, double value) {
    return arith::ConstantOp::create(
        b_, k_.loc, DenseElementsAttr::get(VectorType::get(2, element), b_.getFloatAttr(element, value).getValue()));
  }
  /// Bytes of two words, 0 to 3 of the first, 4 to 7 of the second, each named by four bits.
  Value permute(Value x, Value y, uint32_t bytes) {
    return LLVM::CallIntrinsicOp::create(b_, k_.loc, b_.getI32Type(), b_.getStringAttr("llvm.nvvm.prmt"),
                                         ValueRange{x, y, word(bytes)})
        .getResult(0);
  }
  /// The word that holds the byte, its field shifted down to the byte's lowest bits.
  Value wordOf(const Field &field) {
    if (!isa<VectorType>(field.bytes.getType()))
      return arith::ExtUIOp::create(b_, k_.loc, b_.getI32Type(), field.bytes);
    const int64_t words = cast<VectorType>(field.bytes.getType()).getNumElements() / 4;
    Value all = LLVM::BitcastOp::create(b_, k_.loc, VectorType::get(words, b_.getI32Type()), field.bytes);
    Value one = LLVM::ExtractElementOp::create(b_, k_.loc, all, k_.number(field.byte / 4));
    return field.shift == 0 ? one : arith::ShRUIOp::create(b_, k_.loc, one, word(field.shift)).getResult();
  }
  /// Two integers of eight bits, which a bf16 holds, as the upper halves of f32.
  Value convertWords(Type element, const Field &low, const Field &high) {
    auto bitsOf = [&](const Field &field) -> Value {
      return arith::BitcastOp::create(b_, k_.loc, b_.getI32Type(), widened(field));
    };
    return LLVM::BitcastOp::create(b_, k_.loc, VectorType::get(2, element), permute(bitsOf(low), bitsOf(high), 0x7632));
  }

  KernelBuilder &k_;
  OpBuilder &b_;
};

bool isNarrowFloat(Type type) {
  return isa<Float16Type, BFloat16Type>(type);
}

/// None where it is not known which bits of memory they are.
SmallVector<Value> convert(KernelBuilder &k, Operation &op, const Lanes &integers, unsigned width) {
  Type element = op.getResult(0).getType();
  Pairs pairs(k);
  SmallVector<Value> lanes(width);
  for (unsigned pair = 0; pair < width / 2; ++pair) {
    const auto of = pairs.lanesOf(pair, width);
    const std::optional<Field> low = fieldOf(integers[of.first], isa<arith::SIToFPOp>(op)),
                               high = fieldOf(integers[of.second], isa<arith::SIToFPOp>(op));
    if (!low || !high || low->bits != high->bits || low->isSigned != high->isSigned)
      return {};
    pairs.split(pairs.convert(element, *low, *high), of, lanes);
  }
  return lanes;
}

/// The same of f32, which hold one integer each.
SmallVector<Value> widen(KernelBuilder &k, Operation &op, const Lanes &integers, unsigned width) {
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < width; ++lane) {
    const std::optional<Field> field = fieldOf(integers[lane], isa<arith::SIToFPOp>(op));
    if (!field || field->bits != 8 || !isa<VectorType>(field->bytes.getType()))
      return {};
    lanes.push_back(Pairs(k).widened(*field));
  }
  return lanes;
}

} // namespace

SmallVector<Value> computePairs(KernelBuilder &k, Operation &op, ArrayRef<Lanes> operands, unsigned width) {
  if (op.getNumResults() != 1)
    return {};
  const bool isConversion = isa<arith::SIToFPOp, arith::UIToFPOp>(op);
  if (isConversion && op.getResult(0).getType().isF32())
    return widen(k, op, operands.front(), width);
  if (!isNarrowFloat(op.getResult(0).getType()))
    return {};
  if (isConversion)
    return convert(k, op, operands.front(), width);
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return {};
  Pairs pairs(k);
  SmallVector<Value> lanes(width);
  for (unsigned pair = 0; pair < width / 2; ++pair) {
    const auto of = pairs.lanesOf(pair, width);
    auto scaledBy = [&](unsigned conversion) {
      const Lanes &all = operands[conversion], &factors = operands[1 - conversion];
      return factors[of.first] == factors[of.second]
                 ? pairs.computeScaled(op, Pairs::wholeOf(all[of.first], all[of.second]), factors[of.first])
                 : Value();
    };
    Value scaled = k.scaledNumbers ? scaledBy(0) : Value();
    if (!scaled && k.scaledNumbers && isa<arith::MulFOp>(op))
      scaled = scaledBy(1);
    if (!scaled) {
      Value left = pairs.pair(operands[0][of.first], operands[0][of.second]),
            right = pairs.pair(operands[1][of.first], operands[1][of.second]);
      scaled =
          k.b.create(k.loc, op.getName().getIdentifier(), {left, right}, {left.getType()}, op.getAttrs())->getResult(0);
    }
    pairs.split(scaled, of, lanes);
  }
  return lanes;
}

} // namespace tenon::compiler::codegen
