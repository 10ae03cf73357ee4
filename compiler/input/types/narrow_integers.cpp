// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of widths that no kernel has, such as i4. Each operation extends its operands to the next width that there
// is, with or without their sign as it reads them, and truncates its results; what is left of that is a shift or a
// mask.
#include "compiler/input/types/patterns.h"
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isSigned(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle ||
         predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
}

/// Whether the operation reads the sign of the operand. The last operand of a shift has none.
bool readsSign(Operation *op, unsigned operand) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return isSigned(compare.getPredicate());
  if (isa<arith::ShRSIOp>(op))
    return operand == 0;
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::MinSIOp, arith::MaxSIOp,
             arith::SIToFPOp, arith::IndexCastOp>(op);
}

struct ComputeWide : RewritePattern {
  explicit ComputeWide(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
             arith::ShRSIOp, arith::ShRUIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::MinSIOp, arith::MinUIOp,
             arith::MaxSIOp, arith::MaxUIOp, arith::CmpIOp, arith::SelectOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::FPToSIOp, arith::FPToUIOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
      return failure();
    if (llvm::none_of(op->getOperandTypes(), isNarrowInteger) && llvm::none_of(op->getResultTypes(), isNarrowInteger))
      return failure();
    const Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      if (!isNarrowInteger(operand.getType()))
        operands.push_back(operand);
      else if (readsSign(op, number))
        operands.push_back(arith::ExtSIOp::create(rewriter, loc, storageOf(operand.getType()), operand));
      else
        operands.push_back(arith::ExtUIOp::create(rewriter, loc, storageOf(operand.getType()), operand));
    }
    Type type = op->getResult(0).getType();
    const bool isNarrow = isNarrowInteger(type);
    // Promises about overflow were made for the narrow type.
    SmallVector<NamedAttribute> attributes;
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      attributes.push_back({compare.getPredicateAttrName(), compare.getPredicateAttr()});
    Operation *wide =
        rewriter.create(loc, op->getName().getIdentifier(), operands, {isNarrow ? storageOf(type) : type}, attributes);
    if (isNarrow)
      rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, type, wide->getResult(0));
    else
      rewriter.replaceOp(op, wide);
    return success();
  }
};

struct NarrowConstant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto value = dyn_cast<IntegerAttr>(op.getValue());
    if (!value || !isNarrowInteger(op.getType()))
      return failure();
    Type storage = storageOf(op.getType());
    Value wide = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        rewriter.getIntegerAttr(storage, value.getValue().sext(storage.getIntOrFloatBitWidth())));
    // Not what folds to this constant again: a value with all its bits is taken back by the extension that reads it.
    rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, op.getType(), wide);
    return success();
  }
};

/// An extension of a truncation keeps the low bits of the value, and repeats the highest of them or clears the rest.
template <typename Extension> struct ExtendTruncated : OpRewritePattern<Extension> {
  using OpRewritePattern<Extension>::OpRewritePattern;
  LogicalResult matchAndRewrite(Extension op, PatternRewriter &rewriter) const override {
    constexpr bool kIsSigned = std::is_same_v<Extension, arith::ExtSIOp>;
    if (!isNarrowInteger(op.getIn().getType()))
      return failure();
    Operation *from = op.getIn().getDefiningOp();
    if (!isa_and_nonnull<arith::TruncIOp, UnrealizedConversionCastOp>(from) ||
        !isa<IntegerType>(from->getOperand(0).getType()) || isNarrowInteger(from->getOperand(0).getType()))
      return failure();
    const Location loc = op.getLoc();
    Value value = from->getOperand(0);
    auto type = cast<IntegerType>(isNarrowInteger(op.getType()) ? storageOf(op.getType()) : op.getType());
    const unsigned width = type.getWidth(), kept = op.getIn().getType().getIntOrFloatBitWidth(),
                   found = value.getType().getIntOrFloatBitWidth();
    if (found < width)
      value = arith::ExtUIOp::create(rewriter, loc, type, value);
    else if (found > width)
      value = arith::TruncIOp::create(rewriter, loc, type, value);
    auto number = [&](const APInt &bits) {
      return arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(type, bits));
    };
    if (kIsSigned) {
      Value distance = number(APInt(width, width - kept));
      value = arith::ShRSIOp::create(rewriter, loc, arith::ShLIOp::create(rewriter, loc, value, distance), distance);
    } else {
      value = arith::AndIOp::create(rewriter, loc, value, number(APInt::getLowBitsSet(width, kept)));
    }
    if (type != op.getType())
      value = arith::TruncIOp::create(rewriter, loc, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// From a type that kernels have to a narrow one, as from i1 to i4 and from i16 to i48: the value with all its bits,
/// like a constant.
template <typename Extension> struct ExtendToNarrow : OpRewritePattern<Extension> {
  using OpRewritePattern<Extension>::OpRewritePattern;
  LogicalResult matchAndRewrite(Extension op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!isa<IntegerType>(from) || isNarrowInteger(from) || !isNarrowInteger(op.getType()))
      return failure();
    Value wide = Extension::create(rewriter, op.getLoc(), storageOf(op.getType()), op.getIn());
    rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, op.getType(), wide);
    return success();
  }
};

/// From a narrow type to a narrower one, or to one that kernels have, of a value with all its bits. What comes from a
/// truncation MLIR folds, and others become one or the other first: an extension here it would fold back, again and
/// again.
struct TruncateNarrow : OpRewritePattern<arith::TruncIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncIOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    auto held = op.getIn().getDefiningOp<UnrealizedConversionCastOp>();
    if (!isNarrowInteger(from) || !held || held.getOperand(0).getType() != storageOf(from))
      return failure();
    Value wide = held.getOperand(0);
    if (wide.getType() == op.getType())
      rewriter.replaceOp(op, wide);
    else
      rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), wide);
    return success();
  }
};

} // namespace

void addNarrowIntegerPatterns(RewritePatternSet &patterns) {
  patterns.add<ComputeWide, NarrowConstant, ExtendToNarrow<arith::ExtSIOp>, ExtendToNarrow<arith::ExtUIOp>,
               ExtendTruncated<arith::ExtSIOp>, ExtendTruncated<arith::ExtUIOp>, TruncateNarrow>(patterns.getContext());
}

} // namespace tenon::compiler::input
