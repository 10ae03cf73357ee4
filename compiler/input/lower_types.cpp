// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lower-types (Passes.td). What computes on elements that kernels do not hold first becomes linalg.generic; then
// every tensor changes its type in place, and the bodies convert what they read and yield.
#include "compiler/dialect/check/CheckOps.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/Passes.h"
#include "compiler/input/tensors/generalize.h"
#include "compiler/input/types/boundary.h"
#include "compiler/input/types/patterns.h"
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_LOWERTYPES
#include "compiler/input/Passes.h.inc"

namespace {

bool touchesOther(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isHeldAsOther) || llvm::any_of(op->getResultTypes(), isHeldAsOther);
}

bool isInBody(Operation *op) {
  return isa<linalg::LinalgOp>(op->getParentOp()) || linalg_ext::bodyOwner(op);
}

bool isForeignScalar(Type type) {
  return !isa<ShapedType>(type) && isForeign(type);
}

bool touchesForeignScalar(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isForeignScalar) || llvm::any_of(op->getResultTypes(), isForeignScalar);
}

bool hasOtherTypes(func::FuncOp function) {
  auto isOther = [](Type type) { return isHeldAsOther(type) || isForeignScalar(type); };
  return llvm::any_of(function.getArgumentTypes(), isOther) || llvm::any_of(function.getResultTypes(), isOther) ||
         function
             .walk([](Operation *op) {
               return touchesOther(op) || touchesForeignScalar(op) ? WalkResult::interrupt() : WalkResult::advance();
             })
             .wasInterrupted();
}

// --- What a test expects --------------------------------------------------------------------------------------------

/// Floats of 8 bits are compared as f32, complex numbers by their parts.
Value comparable(OpBuilder &b, Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return {};
  if (isSmallFloat(type.getElementType()) || isScale(type.getElementType()))
    return arith::ExtFOp::create(b, tensor.getLoc(), type.clone(b.getF32Type()), tensor);
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  if (!complex || !isHeldAsOther(type))
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return bitcastTensor(b, tensor, RankedTensorType::get(shape, complex.getElementType()));
}

ElementsAttr comparable(ElementsAttr wanted) {
  auto data = dyn_cast<DenseElementsAttr>(wanted);
  if (!data)
    return {};
  if (isSmallFloat(data.getElementType()) || isScale(data.getElementType())) {
    auto widen = [](const APFloat &value) {
      APFloat wide = value;
      bool isInexact;
      wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &isInexact);
      return wide.bitcastToAPInt();
    };
    return cast<DenseFPElementsAttr>(data).mapValues(Float32Type::get(wanted.getContext()), widen);
  }
  auto complex = dyn_cast<ComplexType>(data.getElementType());
  if (!complex || !isHeldAsOther(data.getType()))
    return {};
  SmallVector<Attribute> parts;
  for (std::complex<APFloat> value : data.getValues<std::complex<APFloat>>()) {
    parts.push_back(FloatAttr::get(complex.getElementType(), value.real()));
    parts.push_back(FloatAttr::get(complex.getElementType(), value.imag()));
  }
  SmallVector<int64_t> shape(data.getType().getShape());
  shape.push_back(2);
  return DenseElementsAttr::get(RankedTensorType::get(shape, complex.getElementType()), parts);
}

void compareAsFloats(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<check::CheckDialect>(op->getDialect()))
      return;
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = comparable(b, operand.get()))
        operand.set(value);
    if (auto wanted = op->getAttrOfType<ElementsAttr>("value"))
      if (ElementsAttr value = comparable(wanted))
        op->setAttr("value", value);
  });
}

// --- Everything that computes is linalg.generic ---------------------------------------------------------------------

void rewriteOther(func::FuncOp function, function_ref<void(RewritePatternSet &)> add) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (touchesOther(op) && (isa<linalg::LinalgOp, tensor::SplatOp>(op) || op->hasTrait<OpTrait::Elementwise>()))
      ops.push_back(op);
  });
  RewritePatternSet patterns(function.getContext());
  add(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps).setScope(&function.getBody());
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config); // verifyNoneLeft() names what is left
}

void generalizeOther(func::FuncOp function) {
  rewriteOther(function, addSplatPatterns);
  rewriteOther(function, [](RewritePatternSet &patterns) {
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    addNamedPatterns(patterns, /*keepsFill=*/false);
  });
  rewriteOther(function, linalg::populateInlineConstantOperandsPatterns);
}

// --- The types change -----------------------------------------------------------------------------------------------

/// Whoever used `stored`, which was of `type`, uses the value that it holds.
void readFromStorage(OpBuilder &b, Location loc, Value stored, Type type) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : stored.getUses())
    uses.push_back(&use);
  Value value = fromStorage(b, loc, stored, type);
  for (OpOperand *use : uses)
    use->set(value);
}

/// Reads and yields of a body: its operands still have the types that it computes on.
void convertBody(linalg::GenericOp op) {
  Block &body = *op.getBody();
  OpBuilder b(&body, body.begin());
  for (auto [operand, argument] : llvm::zip_equal(op->getOpOperands(), body.getArguments())) {
    // A scalar of the host crosses into the body as what it is stored as, too; of index kernels have values.
    const bool isScalar = !isa<ShapedType>(operand.get().getType()) && !argument.getType().isIndex();
    Type storage = isScalar || isHeldAsOther(operand.get().getType()) ? storageOf(argument.getType()) : Type();
    if (!storage)
      continue;
    if (isScalar) {
      OpBuilder host(op);
      operand.set(toStorage(host, op.getLoc(), operand.get()));
    }
    Type type = argument.getType();
    argument.setType(storage);
    if (argument.use_empty())
      continue;
    readFromStorage(b, op.getLoc(), argument, type);
  }
  Operation *yield = body.getTerminator();
  b.setInsertionPoint(yield);
  for (auto [operand, init] : llvm::zip_equal(yield->getOpOperands(), op.getOutputs()))
    if (isHeldAsOther(init.getType()))
      operand.set(toStorage(b, op.getLoc(), operand.get()));
}

/// The same of an operation along a dimension, whose body takes and gives elements of its operands.
void convertAlong(Operation *op) {
  Block &body = op->getRegion(0).front();
  OpBuilder b(&body, body.begin());
  for (BlockArgument argument : body.getArguments()) {
    Type type = argument.getType(), storage = storageOf(type);
    if (!storage)
      continue;
    argument.setType(storage);
    if (!argument.use_empty())
      readFromStorage(b, op->getLoc(), argument, type);
  }
  b.setInsertionPoint(body.getTerminator());
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    if (storageOf(operand.get().getType()))
      operand.set(toStorage(b, op->getLoc(), operand.get()));
}

void convertRead(tensor::ExtractOp read) {
  if (!isHeldAsOther(read.getTensor().getType()))
    return;
  Type type = read.getType();
  read.getResult().setType(storageOf(type));
  OpBuilder b(read->getBlock(), std::next(read->getIterator()));
  readFromStorage(b, read.getLoc(), read.getResult(), type);
}

/// Scalars of the host go through branches, loops and calls as what they are stored as.
void convertHandedOn(func::FuncOp function) {
  auto storageOfScalar = [](Type type) { return isForeignScalar(type) ? storageOf(type) : Type(); };
  auto convert = [&](OpBuilder b, Value value) {
    const Type type = value.getType();
    if (Type storage = storageOfScalar(type)) {
      value.setType(storage);
      if (!value.use_empty())
        readFromStorage(b, value.getLoc(), value, type);
    }
  };
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isa<func::FuncDialect, scf::SCFDialect, cf::ControlFlowDialect>(op->getDialect()))
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      if (storageOfScalar(operand.get().getType()))
        operand.set(toStorage(b, op->getLoc(), operand.get()));
  }
  for (Operation *op : found) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          convert(OpBuilder::atBlockBegin(&block), argument);
    if (op == function)
      continue;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      convert(b, result);
  }
}

LogicalResult convertAttributes(Operation *op) {
  if (!isa<check::CheckDialect, util::UtilDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op))
    return success();
  for (NamedAttribute attribute : llvm::to_vector(op->getAttrs())) {
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue()); type && isHeldAsOther(type.getValue()))
      op->setAttr(attribute.getName(), TypeAttr::get(storageOfTensor(type.getValue())));
    auto value = dyn_cast<TypedAttr>(attribute.getValue());
    if (!value || !isHeldAsOther(value.getType()))
      continue;
    TypedAttr stored = storedConstant(value);
    if (!stored)
      return op->emitError() << "a constant of type " << value.getType()
                             << " is not supported here: its elements are not in the text; write dense<..>";
    op->setAttr(attribute.getName(), stored);
  }
  return success();
}

LogicalResult convertTypes(func::FuncOp function, ArrayRef<Value> kept) {
  bool ok = true;
  llvm::SmallDenseSet<Value> same(kept.begin(), kept.end());
  auto convert = [&](Value value) {
    if (!same.contains(value) && isHeldAsOther(value.getType()))
      value.setType(storageOfTensor(value.getType()));
  };
  convertHandedOn(function);
  function.walk([](linalg::GenericOp op) { convertBody(op); });
  function.walk([](Operation *op) {
    if (linalg_ext::isAlongOp(op))
      convertAlong(op);
  });
  function.walk([](tensor::ExtractOp op) { convertRead(op); });
  function.walk([&](Operation *op) {
    ok &= succeeded(convertAttributes(op));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), convert);
    if (op != function)
      llvm::for_each(op->getResults(), convert);
  });
  auto boundary = [&](Type type) {
    if (isForeignScalar(type) && storageOf(type))
      return storageOf(type);
    RankedTensorType stored = storageOfTensor(type);
    return stored && !(function.isPublic() && cast<RankedTensorType>(type).getElementType().isIndex()) ? Type(stored)
                                                                                                       : type;
  };
  SmallVector<Type> arguments(llvm::map_range(function.getArgumentTypes(), boundary)),
      results(llvm::map_range(function.getResultTypes(), boundary));
  function.setType(FunctionType::get(function.getContext(), arguments, results));
  return success(ok);
}

/// How a body of linalg.generic reads an element that the code generator widens.
bool isWidening(Operation *op) {
  if (!isa<linalg::GenericOp>(op->getParentOp()))
    return false;
  if (isa<arith::ExtFOp>(op))
    return isWidenedInKernels(op->getOperand(0).getType());
  return isa<arith::BitcastOp>(op) && op->getOperand(0).getType().isInteger(8) &&
         isWidenedInKernels(op->getResult(0).getType()) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<arith::ExtFOp>(user); });
}

/// Expectations compare what a program holds; others than scalars are held in another type.
LogicalResult verifyExpectations(func::FuncOp function) {
  bool ok = true;
  function.walk([&](Operation *op) {
    if (!isa<check::CheckDialect>(op->getDialect()))
      return;
    const auto *found =
        llvm::find_if(op->getOpOperands(), [](OpOperand &operand) { return isForeignScalar(operand.get().getType()); });
    if (found == op->getOpOperands().end())
      return;
    op->emitOpError() << "compares a value of type " << found->get().getType() << ", which a program cannot hold";
    ok = false;
  });
  return success(ok);
}

LogicalResult verifyNoneLeft(func::FuncOp function) {
  auto leftType = [](Operation *op) -> Type {
    if (isWidening(op))
      return {};
    const bool isBody = isInBody(op);
    for (Type type : llvm::to_vector(
             llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))))
      if (isForeign(type) && (isBody || isa<TensorType>(type)))
        return type;
    return {};
  };
  // Conversions around an operation stay because of it.
  Operation *found = nullptr;
  function.walk([&](Operation *op) {
    if (!leftType(op))
      return WalkResult::advance();
    const bool isConversion = isa<arith::TruncIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp, arith::ExtFOp,
                                  arith::BitcastOp, complex::BitcastOp, UnrealizedConversionCastOp>(op);
    if (!found || !isConversion)
      found = op;
    return isConversion ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (!found)
    return success();
  return found->emitError() << "'" << found->getName() << "' is not supported on values of type " << leftType(found);
}

struct LowerTypes : impl::LowerTypesBase<LowerTypes> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isPublic() && !mayBePublic(function))
        return; // tenon-verify-signatures refuses it, beside all others
      if (hasOtherTypes(function))
        functions.push_back(function);
    }
    for (func::FuncOp function : llvm::to_vector(functions))
      if (func::FuncOp inner = splitCalled(function))
        functions.push_back(inner);
    bool ok = true;
    for (func::FuncOp function : functions)
      ok &= succeeded(lower(function));
    for (auto global : getOperation().getOps<util::GlobalOp>())
      ok &= succeeded(convertAttributes(global));
    if (!ok)
      signalPassFailure();
  }

private:
  LogicalResult lower(func::FuncOp function) {
    SmallVector<Value> kept;
    if (!function.isExternal()) {
      lowerPackedBitcasts(function);
      if (function.isPublic())
        convertBoundary(function, kept);
      compareAsFloats(function);
      generalizeOther(function);
    }
    if (failed(verifyExpectations(function)) || failed(convertTypes(function, kept)))
      return failure();
    RewritePatternSet patterns(&getContext());
    addSmallFloatPatterns(patterns);
    addNarrowIntegerPatterns(patterns);
    arith::populateExpandScalingExtTruncPatterns(patterns);
    arith::populateExpandF8E8M0Patterns(patterns);
    if (failed(lowerComplexNumbers(function)))
      return failure();
    (void)applyPatternsGreedily(function, std::move(patterns));
    return verifyNoneLeft(function);
  }
};

} // namespace

} // namespace tenon::compiler::input
