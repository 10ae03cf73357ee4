// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.quantize_affine and dequantize_affine: what networks of integers that come from Torch and ONNX have
// around each of their operations. Both are arithmetic on elements, with a scale and a zero point of the whole tensor
// or of each channel. Floats narrower than f32 are computed with in f32, and rounded once.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

/// The loops of the operation, with a body that is given an element of each in.
template <typename Op> Value forEach(PatternRewriter &rewriter, Op op, Body body) {
  SmallVector<AffineMap> maps;
  for (AffineMapAttr map : op.getIndexingMaps().template getAsRange<AffineMapAttr>())
    maps.push_back(map.getValue());
  const SmallVector<utils::IteratorType> iterators(maps.back().getNumDims(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange(op.getResult().getType()), op.getInputs(),
                                   ValueRange(op.getOutput()), maps, iterators,
                                   [&](OpBuilder &builder, Location loc, ValueRange elements) {
                                     ImplicitLocOpBuilder b(loc, builder);
                                     linalg::YieldOp::create(builder, loc, body(b, elements.drop_back()));
                                   })
      .getResult(0);
}

/// The type that elements are computed in.
FloatType widest(ImplicitLocOpBuilder &b, ValueRange elements, Type result) {
  const bool isDouble = result.isF64() || llvm::any_of(elements.getTypes(), [](Type type) { return type.isF64(); });
  return isDouble ? FloatType(b.getF64Type()) : FloatType(b.getF32Type());
}

Value toFloat(ImplicitLocOpBuilder &b, Value value, FloatType type, bool isUnsigned = false) {
  auto from = dyn_cast<FloatType>(value.getType());
  if (!from)
    return isUnsigned ? Value(arith::UIToFPOp::create(b, type, value)) : arith::SIToFPOp::create(b, type, value);
  if (from == type)
    return value;
  return from.getWidth() < type.getWidth() ? Value(arith::ExtFOp::create(b, type, value))
                                           : arith::TruncFOp::create(b, type, value);
}

Value toInteger(ImplicitLocOpBuilder &b, Value value, Type type, bool isUnsigned) {
  const unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return value;
  if (from > to)
    return arith::TruncIOp::create(b, type, value);
  return isUnsigned ? Value(arith::ExtUIOp::create(b, type, value)) : arith::ExtSIOp::create(b, type, value);
}

Value constantOf(ImplicitLocOpBuilder &b, FloatType type, int64_t value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, double(value)));
}

struct LowerQuantize : OpRewritePattern<linalg_ext::QuantizeAffineOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::QuantizeAffineOp op, PatternRewriter &rewriter) const override {
    const Type result = getElementTypeOrSelf(op.getResult().getType());
    const bool isUnsigned = op.getIsUnsigned();
    rewriter.replaceOp(op, forEach(rewriter, op, [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                         // Bounds of more than 24 bits are no f32.
                         const bool isWide = result.getIntOrFloatBitWidth() > 24;
                         const FloatType type = isWide ? FloatType(b.getF64Type()) : widest(b, x, b.getF32Type());
                         Value scaled = arith::DivFOp::create(b, toFloat(b, x[0], type), toFloat(b, x[1], type));
                         Value value = math::RoundEvenOp::create(b, scaled);
                         if (x.size() == 3)
                           value = arith::AddFOp::create(b, value, toFloat(b, x[2], type, op.getZpUnsigned()));
                         value = arith::MaxNumFOp::create(b, value, constantOf(b, type, *op.getQuantMin()));
                         value = arith::MinNumFOp::create(b, value, constantOf(b, type, *op.getQuantMax()));
                         return isUnsigned ? Value(arith::FPToUIOp::create(b, result, value))
                                           : arith::FPToSIOp::create(b, result, value);
                       }));
    return success();
  }
};

struct LowerDequantize : OpRewritePattern<linalg_ext::DequantizeAffineOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg_ext::DequantizeAffineOp op, PatternRewriter &rewriter) const override {
    const Type result = getElementTypeOrSelf(op.getResult().getType());
    const bool isUnsigned = op.getIsUnsigned();
    rewriter.replaceOp(
        op, forEach(rewriter, op, [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
          const FloatType type = widest(b, x, result);
          Value value;
          if (x.size() == 3 && !isa<FloatType>(x[2].getType())) {
            // One bit more than either has, and a width that there is.
            const unsigned bits =
                std::max(x[0].getType().getIntOrFloatBitWidth(), x[2].getType().getIntOrFloatBitWidth());
            const Type wide = b.getIntegerType(bits < 32 ? 32 : 64);
            Value zero = toInteger(b, x[2], wide, op.getZpUnsigned());
            value = toFloat(b, arith::SubIOp::create(b, toInteger(b, x[0], wide, isUnsigned), zero), type);
          } else {
            value = toFloat(b, x[0], type, isUnsigned);
            if (x.size() == 3)
              value = arith::SubFOp::create(b, value, toFloat(b, x[2], type));
          }
          return toFloat(b, arith::MulFOp::create(b, value, toFloat(b, x[1], type)), cast<FloatType>(result));
        }));
    return success();
  }
};

} // namespace

void addQuantizationPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerQuantize, LowerDequantize>(patterns.getContext());
}

} // namespace tenon::compiler::input
