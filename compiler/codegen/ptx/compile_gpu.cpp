// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/compile_gpu.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tenon::compiler::codegen {

namespace {

/// The only gpu.module, if the file is nothing else.
FailureOr<gpu::GPUModuleOp> onlyGpuModule(ModuleOp file) {
  gpu::GPUModuleOp found;
  for (Operation &op : *file.getBody()) {
    auto module = dyn_cast<gpu::GPUModuleOp>(op);
    if (!module)
      return op.emitError() << "'" << op.getName() << "' stands beside a gpu.module; an object holds device code alone";
    if (found)
      return module.emitError() << "a second gpu.module; an object holds one, with all of its kernels";
    found = module;
  }
  if (!found)
    return file.emitError() << "the object holds no gpu.module";
  return found;
}

/// Whether kernels have such a parameter, as one value of a launch.
bool isParameter(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref.hasStaticShape() && memref.getLayout().isIdentity();
  return type.isIntOrIndexOrFloat() || isa<LLVM::LLVMPointerType>(type);
}

LogicalResult checkKernels(gpu::GPUModuleOp module) {
  bool ok = true, hasKernel = false;
  auto check = [&](Operation *kernel, StringRef name, ArrayRef<Type> types) {
    hasKernel = true;
    for (auto [number, type] : llvm::enumerate(types))
      if (!isParameter(type)) {
        InFlightDiagnostic error = kernel->emitError()
                                   << "parameter " << number << " of kernel '" << name << "' is " << type
                                   << "; wanted: a number, !llvm.ptr, or a memref of static shape in "
                                      "row-major order";
        if (isa<MemRefType>(type))
          error.attachNote() << "fix: pass !llvm.ptr and the extents as numbers, or write the shape";
        ok = false;
      }
  };
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    if (kernel.isKernel())
      check(kernel, kernel.getName(), kernel.getArgumentTypes());
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      check(kernel, kernel.getName(), kernel.getArgumentTypes());
  if (!hasKernel && ok)
    return module.emitError() << "gpu.module @" << module.getName() << " holds no kernel: no gpu.func says `kernel`";
  return success(ok);
}

/// The hardware does it in one instruction, for which libdevice need not be there.
void useFusedMultiplyAdd(gpu::GPUModuleOp module) {
  module.walk([](math::FmaOp fma) {
    OpBuilder builder(fma);
    auto made = LLVM::FMAOp::create(builder, fma.getLoc(), fma.getType(), fma.getA(), fma.getB(), fma.getC());
    fma.replaceAllUsesWith(made.getResult());
    fma.erase();
  });
}

/// Operations on vectors that are sums of simpler ones become these.
struct LowerVectors : PassWrapper<LowerVectors, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerVectors)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorContractLoweringPatterns(patterns, vector::VectorContractLowering::OuterProduct);
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorMultiReductionLoweringPatterns(patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns)); // what is left is refused by name, at the end
  }
};

LogicalResult lowerToNvvm(ModuleOp file) {
  PassManager passes(file.getContext(), ModuleOp::getOperationName());
  OpPassManager &device = passes.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertNVGPUToNVVMPass());
  device.addPass(createLowerAffinePass());
  device.addPass(std::make_unique<LowerVectors>());
  device.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
  device.addPass(std::make_unique<LowerVectors>());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(arith::createArithExpandOpsPass());
  ConvertGpuOpsToNVVMOpsOptions toNvvm;
  toNvvm.indexBitwidth = 64;
  toNvvm.useBarePtrCallConv = true;
  device.addPass(createConvertGpuOpsToNVVMOps(toNvvm));
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(file);
}

/// What the back end takes: functions and globals in a module of their own.
FailureOr<OwningOpRef<ModuleOp>> takeDevice(gpu::GPUModuleOp module) {
  for (Operation &op : module.getBodyRegion().front())
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      return op.emitError() << "'" << op.getName() << "' in a gpu.module does not lower to NVVM";
  Operation *left = nullptr;
  module.walk([&](Operation *op) {
    if (op == module || isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    left = op; // casts stand around what did not lower
    return isa<UnrealizedConversionCastOp>(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (left)
    return left->emitError() << "'" << left->getName() << "' in a gpu.module does not lower to NVVM";
  OwningOpRef<ModuleOp> device = ModuleOp::create(module.getLoc());
  device->getBody()->getOperations().splice(device->getBody()->end(), module.getBodyRegion().front().getOperations());
  return std::move(device);
}

/// Findings of the emulator and of CUDA's tools name lines of the file.
LogicalResult addLines(ModuleOp device) {
  PassManager passes(device.getContext(), ModuleOp::getOperationName());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
  return passes.run(device);
}

} // namespace

FailureOr<std::string> compileGpuModule(ModuleOp file, abi::TargetArch arch, const PtxOptions &options) {
  FailureOr<gpu::GPUModuleOp> module = onlyGpuModule(file);
  if (failed(module) || failed(checkKernels(*module)))
    return failure();
  file.getContext()->loadDialect<LLVM::LLVMDialect>(); // which the file may have nothing of
  useFusedMultiplyAdd(*module);
  if (failed(lowerToNvvm(file)))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> device = takeDevice(*module);
  if (failed(device) || failed(addLines(**device)))
    return failure();
  // Somebody wrote it: what is to be fused says so, by math.fma or fastmath<contract>.
  PtxOptions asWritten = options;
  asWritten.contractProducts = false;
  asWritten.keepsAssemblyTogether = true;
  return emitPtx(**device, arch, asWritten);
}

void registerGpuDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  gpu::GPUDialect, index::IndexDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  nvgpu::NVGPUDialect, NVVM::NVVMDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  NVVM::registerConvertGpuToNVVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerGPUDialectTranslation(registry);
  registerPtxTranslation(registry);
}

} // namespace tenon::compiler::codegen
