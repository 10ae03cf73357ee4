// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-form-dispatches. Before:
//
//   %1 = arith.addf %0, %arg1 : tensor<?xf32>
//
// After, with %d the size of %0:
//
//   hal.executable.source private @f_dispatch_0 attributes {tenon.generated} {
//     hal.executable.export public @f_dispatch_0 ordinal(0) layout(#hal.pipeline.layout<constants = [i64],
//         bindings = [<storage_buffer, ReadOnly>, <storage_buffer, ReadOnly>, <storage_buffer>]>)
//         count(%device: !hal.device, %workload: index) -> (index, index, index) { ceildiv(%workload, 1024), 1, 1 }
//         attributes {workgroup_size = [256, 1, 1]}
//     builtin.module { func.func @f_dispatch_0(%n: i64, %x: tensor<?xf32>, ...) -> tensor<?xf32> { ... } }
//   }
//   %1 = flow.dispatch @f_dispatch_0::@f_dispatch_0[%d](%n, %0, %arg1)
//       : (i64, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
//
// The workload is the number of elements. Kernels that are equal to the letter are outlined once.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dispatch/host_operations.h"
#include "compiler/dispatch/kernel_config.h"
#include "compiler/dispatch/outline_kernel.h"
#include "compiler/dispatch/passes.h"
#include "compiler/dispatch/prepare.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr StringLiteral kPlaceholderName = "kernel";

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

/// A name that is a symbol in MLIR and an identifier in PTX.
std::string kernelName(StringRef function, unsigned number) {
  std::string name;
  for (char c : function)
    name += llvm::isAlnum(c) || c == '_' || c == '$' ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "_");
  return name + "_dispatch_" + std::to_string(number);
}

hal::PipelineLayoutAttr layoutOf(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  SmallVector<Type> constants;
  SmallVector<hal::PipelineBindingAttr> bindings;
  auto addBinding = [&](bool readOnly) {
    bindings.push_back(hal::PipelineBindingAttr::get(context, abi::BindingKind::StorageBuffer, readOnly,
                                                     /*indirect=*/false, /*alignment=*/0));
  };
  for (Type type : kernel.getArgumentTypes()) {
    if (isa<RankedTensorType>(type))
      addBinding(/*readOnly=*/true);
    else
      constants.push_back(type);
  }
  for (unsigned result = 0; result < kernel.getNumResults(); ++result)
    addBinding(/*readOnly=*/false);
  return hal::PipelineLayoutAttr::get(context, constants.size(), constants, bindings, /*indirect=*/false);
}

/// count(%device, %workload) -> (ceildiv(%workload, elements of a workgroup), 1, 1)
void buildCount(Region &region, Location loc, int64_t elementsPerWorkgroup) {
  OpBuilder b(region.getContext());
  Block *block = b.createBlock(&region);
  block->addArgument(hal::DeviceType::get(b.getContext()), loc);
  Value workload = block->addArgument(b.getIndexType(), loc);
  AffineMap map = AffineMap::get(0, 1, b.getAffineSymbolExpr(0).ceilDiv(elementsPerWorkgroup));
  Value groups = affine::AffineApplyOp::create(b, loc, map, workload);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  hal::ReturnOp::create(b, loc, ValueRange{groups, one, one});
}

struct FormDispatchesPass : PassWrapper<FormDispatchesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormDispatchesPass)

  StringRef getArgument() const override { return "tenon-form-dispatches"; }
  StringRef getDescription() const override {
    return "turn tensor code of host functions into dispatches of generated executables";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, flow::FlowDialect, func::FuncDialect, hal::HalDialect,
                    linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::StringMap<std::string> known; // text of a kernel -> its executable
    bool good = true;
    for (func::FuncOp function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      good &= succeeded(prepareFunction(function)) && succeeded(formIn(function, symbols, known)) &&
              succeeded(verifyHostFunction(function));
    }
    if (!good)
      signalPassFailure();
  }

private:
  LogicalResult formIn(func::FuncOp function, SymbolTable &symbols, llvm::StringMap<std::string> &known) {
    generalizeFills(function);
    bool good = true;
    unsigned number = 0;
    for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>())) {
      FailureOr<OutlinedKernel> kernel = outlineKernel(op, kPlaceholderName);
      if (failed(kernel)) {
        good = false;
        continue;
      }
      std::string &executable = known[textOf(*kernel->module)];
      if (executable.empty())
        executable = buildExecutable(*kernel, kernelName(function.getName(), number++), symbols);
      replaceByDispatch(op, *kernel, executable);
    }
    if (good) {
      eraseDeadOperations(function);
      shareEqualValues(function);
    }
    return success(good);
  }

  std::string buildExecutable(OutlinedKernel &kernel, std::string name, SymbolTable &symbols) {
    OpBuilder b(&getContext());
    const Location loc = kernel.function.getLoc();
    auto source = hal::ExecutableSourceOp::create(b, loc, b.getStringAttr(name), b.getStringAttr("private"),
                                                  hal::ExecutableObjectsAttr());
    source->setAttr(kGeneratedAttr, b.getUnitAttr());
    symbols.insert(source); // makes the name unique
    name = source.getSymName().str();
    Block *body = &source.getBody().emplaceBlock();
    b.setInsertionPointToStart(body);
    auto kernelExport = hal::ExecutableExportOp::create(
        b, loc, b.getStringAttr(name), b.getStringAttr("public"), b.getIndexAttr(0), layoutOf(kernel.function),
        b.getIndexArrayAttr({kThreadsPerWorkgroup, 1, 1}), IntegerAttr(), IntegerAttr(), FlatSymbolRefAttr());
    auto elements = kernel.function->getAttrOfType<IntegerAttr>(kElementsPerThreadAttr).getInt();
    buildCount(kernelExport.getWorkgroupCount(), loc, elements * kThreadsPerWorkgroup);
    kernel.function.setName(name);
    body->push_back(kernel.module.release());
    return name;
  }

  void replaceByDispatch(linalg::GenericOp op, OutlinedKernel &kernel, StringRef executable) {
    OpBuilder b(op);
    auto entryPoint =
        SymbolRefAttr::get(b.getContext(), executable, {FlatSymbolRefAttr::get(b.getContext(), executable)});
    SmallVector<Value> arguments = kernel.scalars;
    llvm::append_range(arguments, kernel.tensors);
    auto dispatch = flow::DispatchOp::create(b, op.getLoc(), entryPoint, kernel.workload, op.getResultTypes(),
                                             kernel.resultDims, arguments, kernel.tensorDims);
    op.replaceAllUsesWith(dispatch.getResults());
    op.erase();
  }
};

} // namespace

std::unique_ptr<Pass> createFormDispatchesPass() {
  return std::make_unique<FormDispatchesPass>();
}

void registerDispatchPasses() {
  registerPass(createFormFallbacksPass);
  registerPass(createFormDispatchesPass);
}

} // namespace tenon::compiler::dispatch
