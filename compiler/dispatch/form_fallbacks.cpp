// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-form-fallbacks (Passes.td): the function is copied beside the export, checked against its declaration, and
// brought into the form of a kernel function.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/dispatch_rules.h"
#include "compiler/dialect/shared/assembly.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/prepare/equal_values.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "support/text/nearest_names.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

#define GEN_PASS_DEF_FORMFALLBACKS
#include "compiler/dispatch/Passes.h.inc"

namespace {

/// One fallback: a copy of the function that becomes the kernel.
class Fallback {
public:
  Fallback(hal::ExecutableExportOp declared, func::FuncOp function) : declared_(declared), function_(function) {}

  /// Every way in which the function is no fallback of the export is an error at the function, with a note at the
  /// export.
  LogicalResult form();

private:
  LogicalResult verifySignature();
  LogicalResult verifySizes();
  LogicalResult readTies();
  void replaceSizes();
  void fillSplatStarts();
  LogicalResult verifyBody();
  Value sizeOf(OpBuilder &b, Location loc, BlockArgument tensor, int64_t dimension);

  InFlightDiagnostic error(Location where) {
    InFlightDiagnostic diagnostic = mlir::emitError(where);
    diagnostic << "no fallback can be generated for '" << declared_.getSymName() << "': ";
    return diagnostic;
  }
  LogicalResult refuse(InFlightDiagnostic &&diagnostic) {
    diagnostic.attachNote(declared_.getLoc()) << "'" << declared_.getSymName() << "' is declared here";
    return failure();
  }

  hal::ExecutableExportOp declared_;
  func::FuncOp function_;
  SmallVector<int64_t> ties_; // [results] argument, or -1
};

LogicalResult Fallback::readTies() {
  if (function_.getNumResults() == 0)
    return refuse(error(function_.getLoc()) << "the function has no result: return what the kernel writes, tied to the "
                                               "argument that it overwrites ({tenon.tied = N : i64}) where it does");
  for (unsigned result = 0; result < function_.getNumResults(); ++result) {
    Attribute tied = function_.getResultAttr(result, kTiedAttr);
    auto argument = dyn_cast_or_null<IntegerAttr>(tied);
    const int64_t number = argument ? argument.getInt() : -1;
    if (tied && (!argument || number < 0 || number >= int64_t(function_.getNumArguments())))
      return refuse(error(function_.getLoc()) << "'" << kTiedAttr << "' of result " << result << " is " << tied
                                              << ", the number of an argument of the function is wanted: name the "
                                                 "tensor that the result overwrites, or leave it out where the result "
                                                 "is a binding of its own");
    ties_.push_back(number);
  }
  return success();
}

/// A kernel gets pointers; how long what they point to is, only its constants say.
LogicalResult Fallback::verifySizes() {
  bool ok = true;
  for (BlockArgument argument : function_.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    Attribute attribute = function_.getArgAttr(argument.getArgNumber(), kDimsAttr);
    if (!type || (type.hasStaticShape() && !attribute))
      continue;
    auto positions = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
    if (!positions || positions.size() != int64_t(type.getNumDynamicDims())) {
      InFlightDiagnostic diagnostic = error(function_.getLoc());
      diagnostic << "argument " << argument.getArgNumber() << " is " << type << ", and '" << kDimsAttr << "' ";
      if (attribute)
        diagnostic << "is " << attribute;
      else
        diagnostic << "does not say which arguments hold its sizes";
      ok = succeeded(refuse(std::move(diagnostic)
                            << ": a kernel is passed pointers and constants only; name an integer argument for each "
                               "dynamic dimension, {tenon.dims = array<i64: 0, ..>}, or make the shape static"));
      continue;
    }
    for (int64_t position : positions.asArrayRef()) {
      const bool exists = position >= 0 && position < int64_t(function_.getNumArguments());
      Type found = exists ? function_.getArgument(position).getType() : Type();
      if (exists && (found.isIndex() || (found.isInteger() && !found.isInteger(1))))
        continue;
      InFlightDiagnostic diagnostic = error(function_.getLoc());
      diagnostic << "'" << kDimsAttr << "' of argument " << argument.getArgNumber() << " names argument " << position;
      if (exists)
        diagnostic << ", which is " << found;
      else
        diagnostic << " of " << function_.getNumArguments();
      ok = succeeded(refuse(std::move(diagnostic) << ": an integer argument of the function is wanted"));
    }
  }
  return success(ok);
}

LogicalResult Fallback::verifySignature() {
  if (failed(readTies()))
    return failure();
  auto dims = [](TypeRange types) {
    unsigned total = 0;
    for (Type type : types)
      total += dynamicDimCount(type);
    return total;
  };
  DispatchShape shape{.arguments = function_.getArgumentTypes(),
                      .results = function_.getResultTypes(),
                      .tied = ties_,
                      .argumentDims = dims(function_.getArgumentTypes()),
                      .resultDims = dims(function_.getResultTypes())};
  if (failed(verifyDispatchShape(function_, shape)))
    return failure();
  bool ok = succeeded(
      verifyOperandsAgainst(function_, shape, declared_.getSymName(), declared_.getLayout(), declared_.getLoc()));
  ok &= succeeded(verifySizes());
  return success(ok);
}

/// The size of an argument's dimension as the kernel knows it: read as unsigned, no size is negative.
Value Fallback::sizeOf(OpBuilder &b, Location loc, BlockArgument tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return arith::ConstantIndexOp::create(b, loc, type.getDimSize(dimension));
  auto positions = cast<DenseI64ArrayAttr>(function_.getArgAttr(tensor.getArgNumber(), kDimsAttr));
  const auto before = llvm::count_if(type.getShape().take_front(dimension), ShapedType::isDynamic);
  Value size = function_.getArgument(positions[before]);
  return size.getType().isIndex() ? size : arith::IndexCastUIOp::create(b, loc, b.getIndexType(), size).getResult();
}

void Fallback::replaceSizes() {
  for (auto dim : llvm::to_vector(function_.getOps<tensor::DimOp>())) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> dimension = dim.getConstantIndex();
    if (!argument || !isa<RankedTensorType>(argument.getType()) || !dimension || *dimension < 0 ||
        *dimension >= cast<RankedTensorType>(argument.getType()).getRank())
      continue;
    OpBuilder b(dim);
    dim.replaceAllUsesWith(sizeOf(b, dim.getLoc(), argument, *dimension));
    dim.erase();
  }
}

/// A constant tensor to start from becomes a fill.
void Fallback::fillSplatStarts() {
  for (auto op : function_.getOps<linalg::GenericOp>())
    for (OpOperand &init : op.getDpsInitsMutable()) {
      DenseElementsAttr data;
      if (!matchPattern(init.get(), m_Constant(&data)) || !data.isSplat())
        continue;
      OpBuilder b(op);
      Value empty = tensor::EmptyOp::create(b, op.getLoc(), init.get().getType(), ValueRange());
      auto scalar = arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(data.getSplatValue<Attribute>()));
      init.set(linalg::FillOp::create(b, op.getLoc(), scalar.getResult(), empty).getResult(0));
    }
}

/// One linalg.generic, which is all that a kernel can be, and arithmetic on scalars around it.
LogicalResult Fallback::verifyBody() {
  bool ok = true;
  auto kernels = llvm::to_vector(function_.getOps<linalg::GenericOp>());
  for (linalg::GenericOp op : kernels)
    ok &= succeeded(verifyKernelOp(op));
  for (Operation &op : function_.front())
    if (!isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(op) &&
        !isScalarOp(&op))
      ok = succeeded(refuse(error(op.getLoc()) << "'" << op.getName() << "' is not supported in a kernel: "
                                               << "write elementwise code, or one linalg operation on tensors"));
  if (!ok)
    return failure();
  if (kernels.size() > 1) {
    InFlightDiagnostic diagnostic = error(kernels[1].getLoc());
    diagnostic << "the function takes " << kernels.size() << " kernels, one launch is all there is: write it as "
               << "elementwise code that fuses, or as one linalg operation";
    diagnostic.attachNote(kernels[0].getLoc()) << "the first kernel computes this";
    return refuse(std::move(diagnostic));
  }
  auto returned = function_.front().getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(returned)) {
    const bool isComputed = isa_and_nonnull<linalg::GenericOp>(value.getDefiningOp());
    if (isComputed && llvm::count(returned, value) == 1)
      continue;
    return refuse(error(function_.front().getTerminator()->getLoc())
                  << "result " << i << (isComputed ? " is returned twice" : " is returned as it came")
                  << ": each result must be computed "
                  << "by the kernel; copy a tensor with linalg.copy");
  }
  return success();
}

LogicalResult Fallback::form() {
  if (function_.isExternal())
    return refuse(error(function_.getLoc()) << "'" << function_.getName() << "' has no body");
  if (!function_.getBody().hasOneBlock())
    return refuse(error(function_.getLoc())
                  << "'" << function_.getName() << "' has control flow, tensor code is wanted");
  if (failed(verifySignature()) || failed(prepareFunction(function_, /*isOneKernel=*/true)))
    return failure();
  generalizeFills(function_);
  fillSplatStarts();
  replaceSizes();
  eraseDeadOperations(function_);
  shareEqualValues(function_);
  if (failed(verifyBody()))
    return failure();
  OpBuilder b(function_.getContext());
  SmallVector<int32_t> workgroup;
  for (auto extent : declared_.getWorkgroupSizeAttr().getAsRange<IntegerAttr>())
    workgroup.push_back(int32_t(extent.getInt()));
  workgroup.resize(3, 1);
  // Scalar constants are those of the function, in order.
  if (!declared_.getLayout().getParameters().empty() ||
      llvm::any_of(declared_.getLayout().getConstantTypes(),
                   [](Type type) { return isa<TupleType, hal::TensorMapType>(type); }))
    function_->setAttr(kLayoutAttr, declared_.getLayout());
  function_->setAttr(kElementsPerThreadAttr, b.getI64IntegerAttr(1));
  function_->setAttr(kWorkgroupSizeAttr, b.getDenseI32ArrayAttr(workgroup));
  return success();
}

struct FormFallbacks : impl::FormFallbacksBase<FormFallbacks> {
  void runOnOperation() override {
    const llvm::StringSet<> names = fallbackFunctionsOf(getOperation());
    if (names.empty())
      return;
    bool good = true;
    SymbolTable symbols(getOperation());
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      good &= succeeded(formIn(source, symbols));
    if (!good)
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isPublic() && names.contains(function.getName()))
        function.erase();
  }

private:
  static LogicalResult formIn(hal::ExecutableSourceOp source, SymbolTable &symbols) {
    auto exports = llvm::to_vector(llvm::make_filter_range(source.getBody().getOps<hal::ExecutableExportOp>(),
                                                           [](Operation *op) { return op->hasAttr(kFallbackAttr); }));
    if (exports.empty())
      return success();
    auto modules = source.getBody().getOps<ModuleOp>();
    if (!modules.empty())
      return (*modules.begin()).emitError() << "'" << source.getSymName()
                                            << "' has both a module of device code and 'tenon.fallback', a fallback of "
                                               "objects is wanted: remove one of them";
    auto b = OpBuilder::atBlockEnd(&source.getBody().front());
    auto module = ModuleOp::create(b, source.getLoc());
    module->setAttr(kFallbackAttr, b.getUnitAttr());
    bool ok = true;
    for (hal::ExecutableExportOp op : exports) {
      func::FuncOp function = findFunction(op, symbols);
      if (!function) {
        ok = false;
        continue;
      }
      b.setInsertionPointToEnd(module.getBody());
      auto kernel = cast<func::FuncOp>(b.clone(*function));
      kernel.setName(op.getSymName());
      kernel.setPublic();
      ok &= succeeded(Fallback(op, kernel).form());
    }
    return success(ok);
  }

  static func::FuncOp findFunction(hal::ExecutableExportOp op, SymbolTable &symbols) {
    auto name = op->getAttrOfType<FlatSymbolRefAttr>(kFallbackAttr);
    auto function = name ? symbols.lookup<func::FuncOp>(name.getValue()) : func::FuncOp();
    if (function)
      return function;
    InFlightDiagnostic diagnostic = op.emitError();
    diagnostic << "'" << kFallbackAttr << "' of '" << op.getSymName() << "' is " << op->getAttr(kFallbackAttr)
               << ", a function of the module is wanted";
    std::vector<std::string> known;
    for (auto other : symbols.getOp()->getRegion(0).getOps<func::FuncOp>())
      known.push_back(other.getName().str());
    if (name)
      if (std::vector<std::string> near = nearestNames(std::string_view(name.getValue()), known); !near.empty())
        diagnostic << ": did you mean " << quotedList(near, "or") << "?";
    return {};
  }
};

} // namespace

} // namespace tenon::compiler::dispatch
