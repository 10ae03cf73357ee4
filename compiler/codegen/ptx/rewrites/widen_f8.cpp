// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/widen_f8.h"

#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr StringLiteral kConversionOfE4M3 = "llvm.nvvm.e4m3x2.to.f16x2.rn",
                        kConversionOfE5M2 = "llvm.nvvm.e5m2x2.to.f16x2.rn";

/// Converts elements two at a time, where both lie side by side in a vector.
class Conversions {
public:
  /// As f32.
  Value convert(OpBuilder &b, Location loc, Value byte, Type type) {
    auto [pair, isSecond] = pairOf(b, loc, byte, type);
    Value number = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(isSecond));
    Value half = LLVM::ExtractElementOp::create(b, loc, pair, number);
    return arith::ExtFOp::create(b, loc, b.getF32Type(), half);
  }

private:
  struct Place {
    Value pair; // of f16
    bool isSecond;
  };
  static Value halvesOf(OpBuilder &b, Location loc, Value both, Type type) {
    const StringRef name = isa<Float8E4M3FNType>(type) ? kConversionOfE4M3 : kConversionOfE5M2;
    auto halves = VectorType::get(2, b.getF16Type());
    return LLVM::CallIntrinsicOp::create(b, loc, halves, b.getStringAttr(name), ValueRange(both)).getResult(0);
  }
  Place pairOf(OpBuilder &b, Location loc, Value byte, Type type);

  /// What was converted of a vector: by the number of the pair and the block in which that is known.
  llvm::DenseMap<std::tuple<Value, int64_t, Type, Block *>, Value> pairs_;
};

Conversions::Place Conversions::pairOf(OpBuilder &b, Location loc, Value byte, Type type) {
  auto element = byte.getDefiningOp<LLVM::ExtractElementOp>();
  auto bytes = element ? dyn_cast<VectorType>(element.getVector().getType()) : VectorType();
  APInt number;
  if (!bytes || bytes.getNumElements() % 2 != 0 || !matchPattern(element.getPosition(), m_ConstantInt(&number)) ||
      number.uge(uint64_t(bytes.getNumElements()))) // the upper half is 0
    return {halvesOf(b, loc, arith::ExtUIOp::create(b, loc, b.getI16Type(), byte), type), false};
  const int64_t place = number.getSExtValue();
  Value &pair = pairs_[{element.getVector(), place / 2, type, b.getInsertionBlock()}];
  if (!pair) {
    auto words = VectorType::get(bytes.getNumElements() / 2, b.getI16Type());
    Value vector = LLVM::BitcastOp::create(b, loc, words, element.getVector());
    Value both = LLVM::ExtractElementOp::create(
        b, loc, vector, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(place / 2)).getResult());
    pair = halvesOf(b, loc, both, type);
  }
  return {pair, place % 2 == 1};
}

Value converted(OpBuilder &b, Location loc, Value value, FloatType to) {
  if (to.getWidth() < 32)
    return arith::TruncFOp::create(b, loc, to, value); // exact: f16 and bf16 have all of them
  return to.isF32() ? value : arith::ExtFOp::create(b, loc, to, value).getResult();
}

} // namespace

bool readsF8(ModuleOp kernels) {
  return kernels
      .walk([](arith::ExtFOp op) {
        return input::isWidenedInKernels(op.getIn().getType()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool hasF8(const abi::TargetArch &target) {
  return target.number >= 89;
}

void widenF8(ModuleOp module, bool hasInstructions) {
  Conversions conversions;
  module.walk([&](arith::ExtFOp op) {
    Type type = op.getIn().getType();
    if (!input::isWidenedInKernels(type))
      return;
    OpBuilder b(op);
    const Location loc = op.getLoc();
    auto read = op.getIn().getDefiningOp<arith::BitcastOp>();
    Value byte = read ? read.getIn() : arith::BitcastOp::create(b, loc, b.getI8Type(), op.getIn()).getResult();
    Value wide = hasInstructions ? conversions.convert(b, loc, byte, type) : input::widenSmallFloat(b, loc, byte, type);
    op.replaceAllUsesWith(converted(b, loc, wide, cast<FloatType>(op.getType())));
    op.erase();
    if (read && read->use_empty())
      read.erase();
  });
}

} // namespace tenon::compiler::codegen
