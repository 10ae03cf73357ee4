// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-read-tosa (Passes.td): MLIR's own conversions, in the order in which they understand each other's results.
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/Passes.h"
#include "compiler/input/tensors/element_builder.h"
#include "compiler/input/tosa_casts.h"
#include "compiler/input/tosa_extremes.h"
#include "compiler/input/tosa_resize.h"
#include "compiler/input/tosa_transposed.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_READTOSA
#include "compiler/input/Passes.h.inc"

bool hasTosa(ModuleOp module) {
  if (!module.getContext()->getLoadedDialect("tosa"))
    return false;
  return module
      .walk([](Operation *op) {
        return isa<tosa::TosaDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

/// values_in[n, k, c], but input[n, w, c] where indices[n, w] = k: a scatter to (n, indices[n, w]), which TOSA says do
/// not repeat.
struct ReadScatter : OpRewritePattern<tosa::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::ScatterOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getValuesIn().getType());
    auto indices = dyn_cast<RankedTensorType>(op.getIndices().getType());
    if (!type || !indices || !isa<RankedTensorType>(op.getInput().getType()))
      return failure();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getIndices());
    sizes.push_back(rewriter.getIndexAttr(2));
    auto places = RankedTensorType::get({indices.getDimSize(0), indices.getDimSize(1), 2}, indices.getElementType());
    Value named = buildElements(rewriter, op.getLoc(), places, sizes, [&](OpBuilder &b, Location loc, ValueRange at) {
      Value isFirst =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at[2], arith::ConstantIndexOp::create(b, loc, 0));
      Value line = arith::IndexCastOp::create(b, loc, places.getElementType(), at[0]);
      Value index = readElement(b, loc, op.getIndices(), at.take_front(2));
      return arith::SelectOp::create(b, loc, isFirst, line, index).getResult();
    });
    auto scatter = linalg_ext::ScatterOp::create(rewriter, op.getLoc(), TypeRange(type),
                                                 ValueRange{op.getInput(), named}, ValueRange(op.getValuesIn()),
                                                 rewriter.getDenseI64ArrayAttr({0, 1}), rewriter.getBoolAttr(true));
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&scatter.getRegion(), {}, {type.getElementType(), type.getElementType()},
                                       {op.getLoc(), op.getLoc()});
    linalg_ext::YieldOp::create(rewriter, op.getLoc(), ValueRange(body->getArgument(0)));
    rewriter.setInsertionPointAfter(scatter);
    Value result = scatter->getResult(0);
    if (type != op.getType())
      result = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Where a call says how large two tensors are, and they must agree, it is asked.
void requireSameSize(Operation *op, Value a, Value b, int64_t dimension) {
  auto first = dyn_cast<RankedTensorType>(a.getType()), second = dyn_cast<RankedTensorType>(b.getType());
  if (!first || !second || (!first.isDynamicDim(dimension) && !second.isDynamicDim(dimension)))
    return;
  OpBuilder builder(op);
  Value one = tensor::DimOp::create(builder, op->getLoc(), a, dimension);
  Value other = tensor::DimOp::create(builder, op->getLoc(), b, dimension);
  Value isSame = arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::eq, one, other);
  cf::AssertOp::create(builder, op->getLoc(), isSame,
                       ("dimension " + Twine(dimension) + " of an operand of " + op->getName().getStringRef() +
                        " is not that of another")
                           .str());
}

void checkSizes(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (auto gather = dyn_cast<tosa::GatherOp>(op))
      requireSameSize(gather, gather.getIndices(), gather.getValues(), 0);
    auto concat = dyn_cast<tosa::ConcatOp>(op);
    auto type = concat ? dyn_cast<RankedTensorType>(concat.getInput1()[0].getType()) : RankedTensorType();
    for (int64_t dimension = 0; type && dimension < type.getRank(); ++dimension)
      for (Value part : concat.getInput1().drop_front())
        if (dimension != int64_t(concat.getAxis()))
          requireSameSize(concat, part, concat.getInput1()[0], dimension);
  });
}

/// result[n, w, c] = values[n, indices[n, w], c], where an index that is outside stands for the nearest that is not, as
/// in tensor.gather. MLIR's conversion reads there, and asks the values for what is dynamic, whatever else knows how
/// large it is.
struct ReadGather : OpRewritePattern<tosa::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::GatherOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto values = dyn_cast<RankedTensorType>(op.getValues().getType());
    auto indices = dyn_cast<RankedTensorType>(op.getIndices().getType());
    if (!type || !values || !indices)
      return failure();
    const OpFoldResult lines = tensor::getMixedSize(rewriter, op.getLoc(), op.getValues(), 1);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getIndices());
    sizes.push_back(tensor::getMixedSize(rewriter, op.getLoc(), op.getValues(), 2));
    if (indices.isDynamicDim(0))
      sizes[0] = tensor::getMixedSize(rewriter, op.getLoc(), op.getValues(), 0);
    for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
      if (!ShapedType::isDynamic(known))
        size = rewriter.getIndexAttr(known);
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto found = RankedTensorType::get(shape, type.getElementType());
    Value result = buildElements(rewriter, op.getLoc(), found, sizes, [&](OpBuilder &b, Location loc, ValueRange at) {
      Value index = readElement(b, loc, op.getIndices(), at.take_front(2));
      return readElement(b, loc, op.getValues(), {at[0], clampIndex(b, loc, index, lines), at[2]});
    });
    if (found != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The input, over and over in each dimension: result[i] = input[i mod size].
struct ReadTile : OpRewritePattern<tosa::TileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::TileOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    SmallVector<int64_t> multiples;
    if (!type || !isa<RankedTensorType>(op.getInput1().getType()) || failed(op.getConstantMultiples(multiples)))
      return failure();
    const SmallVector<OpFoldResult> inputSizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getInput1());
    SmallVector<OpFoldResult> sizes;
    for (auto [size, multiple] : llvm::zip_equal(inputSizes, multiples))
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          rewriter, op.getLoc(), AffineMap::get(0, 1, rewriter.getAffineSymbolExpr(0) * multiple), {size}));
    Value result =
        buildElements(rewriter, op.getLoc(), type, sizes, [&](OpBuilder &b, Location loc, ValueRange indices) {
          SmallVector<Value> places;
          for (auto [index, size, multiple] : llvm::zip_equal(indices, inputSizes, multiples))
            places.push_back(multiple == 1 ? index : remainderIndex(b, loc, index, size));
          return readElement(b, loc, op.getInput1(), places);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A result as its operands tell its sizes, where what it is declared as says more: MLIR's conversions ask the operands
/// for what is dynamic in them, and the result for how many such there are. The rest is a cast.
void loosenResults(ModuleOp module) {
  module.walk([](InferShapedTypeOpInterface op) {
    if (!isa<tosa::TosaDialect>(op->getDialect()) || op->getNumResults() != 1)
      return;
    auto declared = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<ShapedTypeComponents> found;
    if (!declared || llvm::all_of(declared.getShape(), ShapedType::isDynamic) ||
        failed(op.inferReturnTypeComponents(op->getContext(), op->getLoc(), op->getOperands(),
                                            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                            op->getRegions(), found)) ||
        found.size() != 1 || !found.front().hasRank())
      return;
    const ArrayRef<int64_t> sizes = found.front().getDims();
    auto isLess = [](auto pair) {
      return ShapedType::isDynamic(std::get<0>(pair)) && !ShapedType::isDynamic(std::get<1>(pair));
    };
    auto fits = [](auto pair) {
      const auto [size, said] = pair;
      return size == said || ShapedType::isDynamic(size) || ShapedType::isDynamic(said);
    };
    if (sizes.size() != declared.getShape().size() || llvm::none_of(llvm::zip(sizes, declared.getShape()), isLess) ||
        !llvm::all_of(llvm::zip(sizes, declared.getShape()), fits))
      return;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    op->getResult(0).setType(RankedTensorType::get(sizes, declared.getElementType()));
    auto cast = tensor::CastOp::create(builder, op->getLoc(), declared, op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(cast, cast);
  });
}

template <typename From, typename To> struct IndexToArith : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op->getResultTypes(), op->getOperands());
    return success();
  }
};

struct IndexConstantToArith : OpRewritePattern<index::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(index::ConstantOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, op.getValueAttr());
    return success();
  }
};

/// Fourier transforms count in the dialect `index`.
void addIndexPatterns(RewritePatternSet &patterns) {
  patterns.add<IndexToArith<index::AddOp, arith::AddIOp>, IndexToArith<index::SubOp, arith::SubIOp>,
               IndexToArith<index::MulOp, arith::MulIOp>, IndexToArith<index::DivUOp, arith::DivUIOp>,
               IndexToArith<index::DivSOp, arith::DivSIOp>, IndexToArith<index::RemUOp, arith::RemUIOp>,
               IndexToArith<index::RemSOp, arith::RemSIOp>, IndexToArith<index::CastUOp, arith::IndexCastUIOp>,
               IndexToArith<index::CastSOp, arith::IndexCastOp>, IndexConstantToArith>(patterns.getContext());
}

/// Constants are not folded: MLIR does some of TOSA's wrong (tosa_casts).
void rewrite(ModuleOp module, function_ref<void(RewritePatternSet &)> add) {
  RewritePatternSet patterns(module.getContext());
  add(patterns);
  (void)applyPatternsGreedily(module, std::move(patterns), GreedyRewriteConfig().enableFolding(false));
}

LogicalResult refuse(Operation *op) {
  return op->emitError() << "'" << op->getName()
                         << "' is not supported: there is no conversion to linalg for it with these types";
}

/// What no conversion knows, whatever its types are.
bool isUnknown(Operation *op) {
  return isa<tosa::CustomOp, tosa::CastFromBlockScaledOp, tosa::VariableOp, tosa::VariableReadOp, tosa::VariableWriteOp,
             tosa::CastToBlockScaledOp, tosa::MatmulTBlockScaledOp>(op);
}

/// Conversions report an operation that they cannot convert in the words of their driver.
class ConversionErrors : public ScopedDiagnosticHandler {
public:
  explicit ConversionErrors(MLIRContext *context) : ScopedDiagnosticHandler(context) {
    setHandler([](mlir::Diagnostic &diagnostic) {
      constexpr StringLiteral kFailed = "failed to legalize operation ";
      const std::string text = diagnostic.str();
      if (!StringRef(text).starts_with(kFailed))
        return failure();
      const std::string name = StringRef(text).drop_front(kFailed.size()).str();
      emitError(diagnostic.getLocation()) << name << " is not supported: there is no conversion to linalg for it with "
                                          << "these types";
      return success();
    });
  }
};

struct ReadTosa : impl::ReadTosaBase<ReadTosa> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool isKnown = true;
    module.walk([&](Operation *op) {
      if (isUnknown(op))
        isKnown = succeeded(refuse(op));
    });
    if (!isKnown)
      return signalPassFailure();
    OpPassManager manager(ModuleOp::getOperationName());
    OpPassManager &functions = manager.nest<func::FuncOp>();
    functions.addPass(tosa::createTosaOptionalDecompositionsPass());
    functions.addPass(tosa::createTosaInferShapesPass());
    functions.addPass(tosa::createTosaMakeBroadcastablePass());
    functions.addPass(tosa::createTosaToLinalgNamed());
    functions.addPass(createCanonicalizerPass());
    functions.addPass(tosa::createTosaLayerwiseConstantFoldPass());
    functions.addPass(tosa::createTosaMakeBroadcastablePass());
    functions.addPass(createTosaToSCFPass());
    functions.addPass(tosa::createTosaToLinalg());
    functions.addPass(createTosaToTensorPass());
    TosaToArithPassOptions arithmetic;
    arithmetic.includeApplyRescale = true;
    functions.addPass(createTosaToArithPass(arithmetic));
    functions.addPass(createCanonicalizerPass());

    auto addOwn = [](RewritePatternSet &patterns) {
      patterns.add<ReadGather, ReadScatter, ReadTile>(patterns.getContext());
      addCastPatterns(patterns);
      addExtremePatterns(patterns);
      addResizePatterns(patterns);
      addTransposedPatterns(patterns);
    };
    const llvm::StringSet<> fallbacks = fallbackFunctionsOf(module); // kernels, which cannot fail
    for (auto function : module.getOps<func::FuncOp>())
      if (!fallbacks.contains(function.getName()))
        checkSizes(function);
    ConversionErrors errors(&getContext());
    loosenResults(module);
    rewrite(module, addOwn);
    if (failed(runPipeline(manager, module)))
      return signalPassFailure();
    rewrite(module, addIndexPatterns);
    module.walk([&](Operation *op) {
      if (isa<tosa::TosaDialect>(op->getDialect()) && failed(refuse(op)))
        signalPassFailure();
    });
  }
};

} // namespace

} // namespace tenon::compiler::input
