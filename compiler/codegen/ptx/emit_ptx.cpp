// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/emit_ptx.h"

#include "compiler/codegen/ptx/libdevice.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <algorithm>

using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tenon::compiler::codegen {
namespace {

constexpr uint16_t kOldestIsa = 63;

void initializeNvptx() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

/// Errors of the back end (unsupported constructs) arrive here instead of ending the process.
struct BackendErrors : llvm::DiagnosticHandler {
  explicit BackendErrors(std::vector<std::string> &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    errors.push_back(text);
    return true;
  }
  std::vector<std::string> &errors;
};

FailureOr<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(ModuleOp module, abi::TargetArch arch) {
  const uint16_t isa = generatedIsa(arch);
  if (isa == 0)
    return module.emitError() << "unknown target '" << arch.toString() << "'; known targets: " << abi::knownArchList();
  initializeNvptx();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError() << "this build of LLVM has no NVPTX back end: " << error;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, arch.toString(), "+ptx" + std::to_string(isa), options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(arch.toString()))
    return module.emitError() << "target '" << arch.toString() << "' is not known to LLVM's NVPTX back end";
  return std::move(machine);
}

/// The operation whose lowering called libdevice: the code generator names it in the location of the call.
LLVM::CallOp firstLibdeviceCall(ModuleOp module) {
  LLVM::CallOp found;
  module.walk([&](LLVM::CallOp call) {
    if (!call.getCallee() || !call.getCallee()->starts_with("__nv_"))
      return WalkResult::advance();
    found = call;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult linkLibdevice(ModuleOp module, llvm::Module &device, const PtxOptions &options) {
  LLVM::CallOp call = firstLibdeviceCall(module);
  if (!call)
    return success();
  Location where = call.getLoc();
  std::string operation = "an operation";
  if (auto named = dyn_cast<NameLoc>(where)) {
    operation = "'" + named.getName().str() + "'";
    where = named.getChildLoc();
  }
  const std::vector<std::string> candidates = libdeviceCandidates(options.cudaPath);
  std::optional<std::string> path = findLibdevice(candidates);
  if (!path) {
    InFlightDiagnostic error = emitError(where) << operation << " calls '" << *call.getCallee()
                                                << "' of libdevice, and libdevice.10.bc was not found";
    for (const std::string &candidate : candidates)
      error.attachNote() << "tried " << candidate;
    error.attachNote() << "fix: give the root of a CUDA toolkit with --cuda-path=DIR or CUDA_HOME";
    return error;
  }
  llvm::SMDiagnostic parse;
  std::unique_ptr<llvm::Module> library = llvm::getLazyIRFileModule(*path, parse, device.getContext());
  if (!library)
    return emitError(where) << operation << " calls libdevice, and '" << *path
                            << "' cannot be read: " << parse.getMessage();
  library->setTargetTriple(device.getTargetTriple());
  library->setDataLayout(device.getDataLayout());
  const bool refused = llvm::Linker::linkModules(device, std::move(library), llvm::Linker::LinkOnlyNeeded,
                                                 [](llvm::Module &linked, const llvm::StringSet<> &fromLibrary) {
                                                   llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
                                                     return !value.hasName() || !fromLibrary.contains(value.getName());
                                                   });
                                                 });
  if (refused)
    return emitError(where) << "'" << *path << "' cannot be linked into the kernel";
  for (const llvm::Function &function : device)
    if (function.isDeclaration() && function.getName().starts_with("__nv_"))
      return emitError(where) << "'" << *path << "' has no '" << function.getName() << "'";
  return success();
}

void optimize(llvm::Module &device, llvm::TargetMachine &machine) {
  device.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", uint32_t(0));
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(device, modules);
}

} // namespace

uint16_t generatedIsa(abi::TargetArch arch) {
  const abi::ArchInfo *info = abi::findArch(arch);
  return info ? std::max(info->minimumIsa, kOldestIsa) : 0;
}

FailureOr<std::string> emitPtx(ModuleOp module, abi::TargetArch arch, const PtxOptions &options) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine = makeTargetMachine(module, arch);
  if (failed(machine))
    return failure();
  llvm::LLVMContext context;
  std::vector<std::string> errors;
  context.setDiagnosticHandler(std::make_unique<BackendErrors>(errors));
  std::unique_ptr<llvm::Module> device = translateModuleToLLVMIR(module, context, "kernels");
  if (!device)
    return failure(); // translation has said why
  device->setTargetTriple((*machine)->getTargetTriple());
  device->setDataLayout((*machine)->createDataLayout());
  if (failed(linkLibdevice(module, *device, options)))
    return failure();
  optimize(*device, **machine);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError() << "LLVM's NVPTX back end cannot print assembly";
  passes.run(*device);
  for (const std::string &error : errors)
    module.emitError() << "no code for '" << arch.toString() << "': " << error;
  if (!errors.empty())
    return failure();
  return text.str().str();
}

void registerPtxTranslation(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

} // namespace tenon::compiler::codegen
