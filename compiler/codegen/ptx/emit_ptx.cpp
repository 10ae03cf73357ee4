// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/emit_ptx.h"

#include "abi/arch_table.h"
#include "compiler/codegen/ptx/libdevice.h"
#include "compiler/codegen/ptx/llvm_passes.h"
#include "compiler/codegen/ptx/ptxas_errors.h"
#include "compiler/codegen/ptx/rewrites/cache_hints.h"
#include "compiler/codegen/ptx/rewrites/contract.h"
#include "compiler/codegen/ptx/rewrites/early_launch.h"
#include "compiler/codegen/ptx/rewrites/fast_math.h"
#include "compiler/codegen/ptx/rewrites/named_numbers.h"
#include "compiler/codegen/ptx/rewrites/narrow_to_bool.h"
#include "compiler/codegen/ptx/rewrites/pair_sums.h"
#include "compiler/codegen/ptx/rewrites/round_bf16.h"
#include "compiler/codegen/ptx/rewrites/shared_divisors.h"
#include "compiler/codegen/ptx/rewrites/target_queries.h"
#include "compiler/codegen/ptx/rewrites/widen_bf16.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
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

FailureOr<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(ModuleOp module, abi::TargetArch arch,
                                                                  bool fastMath) {
  const uint16_t isa = std::max(generatedIsa(arch), isaNeededBy(module, arch));
  if (generatedIsa(arch) == 0)
    return module.emitError() << "unknown target '" << arch.toString() << "'; known targets: " << abi::knownArchList();
  initializeNvptx();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError() << "this build of LLVM has no NVPTX back end: " << error;
  llvm::TargetOptions options;
  // Strict: what is to be fused is fused by name (ptx/rewrites/contract.h), and nothing else, neither here nor in
  // ptxas.
  options.AllowFPOpFusion = fastMath ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
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

/// The operation that a call of libdevice came from, and its place.
struct Cause {
  std::string operation; // "'math.exp'"
  Location where;
};

Cause causeOf(LLVM::CallOp call) {
  if (auto named = dyn_cast<NameLoc>(call.getLoc()))
    return {"'" + named.getName().str() + "'", named.getChildLoc()};
  return {"an operation", call.getLoc()};
}

/// Path of libdevice, which `call` needs.
FailureOr<std::string> requireLibdevice(LLVM::CallOp call, const PtxOptions &options) {
  const std::vector<std::string> candidates = libdeviceCandidates(options.cudaPath);
  if (std::optional<std::string> path = findLibdevice(candidates))
    return std::move(*path);
  const Cause cause = causeOf(call);
  InFlightDiagnostic error = emitError(cause.where) << cause.operation << " calls '" << *call.getCallee()
                                                    << "' of libdevice, and libdevice.10.bc was not found";
  for (const std::string &candidate : candidates)
    error.attachNote() << "tried " << candidate;
  error.attachNote() << "fix: give the root of a CUDA toolkit with --cuda-path=DIR or CUDA_HOME";
  return error;
}

/// What went wrong; nothing: the functions that `device` calls are in it.
std::optional<std::string> linkLibdevice(llvm::Module &device, const std::string &path) {
  llvm::SMDiagnostic parse;
  std::unique_ptr<llvm::Module> library = llvm::getLazyIRFileModule(path, parse, device.getContext());
  if (!library)
    return "'" + path + "' cannot be read: " + parse.getMessage().str();
  library->setTargetTriple(device.getTargetTriple());
  library->setDataLayout(device.getDataLayout());
  const bool refused = llvm::Linker::linkModules(device, std::move(library), llvm::Linker::LinkOnlyNeeded,
                                                 [](llvm::Module &linked, const llvm::StringSet<> &fromLibrary) {
                                                   llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
                                                     return !value.hasName() || !fromLibrary.contains(value.getName());
                                                   });
                                                 });
  if (refused)
    return "'" + path + "' cannot be linked into the kernel";
  for (const llvm::Function &function : device)
    if (function.isDeclaration() && function.getName().starts_with("__nv_"))
      return "'" + path + "' has no '" + function.getName().str() + "'";
  return std::nullopt;
}

/// Assembly with effects runs where it stands, by all threads that come there, as `bar.sync` and wgmma want it.
void keepAssemblyTogether(llvm::Module &device) {
  for (llvm::Function &function : device)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
          call && call->isInlineAsm() && llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->hasSideEffects()) {
        call->setConvergent();
        function.setConvergent();
      }
}

class Job : public PtxJob {
public:
  Job(ModuleOp module, abi::TargetArch arch, std::unique_ptr<llvm::TargetMachine> machine, const PtxOptions &options)
      : arch_(arch), where_(module.getLoc()), machine_(std::move(machine)), options_(options) {
    context_->setDiagnosticHandler(std::make_unique<BackendErrors>(errors_));
  }

  LogicalResult translate(ModuleOp module) {
    device_ = translateModuleToLLVMIR(module, *context_, "kernels");
    if (!device_)
      return failure(); // translation has said why
    device_->setTargetTriple(machine_->getTargetTriple());
    device_->setDataLayout(machine_->createDataLayout());
    if (options_.keepsAssemblyTogether)
      keepAssemblyTogether(*device_);
    LLVM::CallOp call = firstLibdeviceCall(module);
    if (!call)
      return success();
    FailureOr<std::string> path = requireLibdevice(call, options_);
    if (failed(path))
      return failure();
    libdevice_ = std::move(*path);
    cause_ = causeOf(call);
    return success();
  }

  void run() override {
    answerTargetQueries(*device_, arch_);
    loadNamedNumbers(*device_);
    if (options_.waitsForEarlierLaunches && !options_.waits)
      waitForEarlierLaunches(*device_, arch_);
    if (options_.contractProducts && !options_.fastMath) {
      Optimizer(*machine_).unifyValues(*device_);
      contractProducts(*device_, arch_);
    }
    if (!libdevice_.empty())
      libdeviceError_ = linkLibdevice(*device_, libdevice_);
    if (!libdeviceError_)
      print();
    // Only the text is kept: there may be hundreds of jobs.
    device_.reset();
    context_.reset();
    machine_.reset();
  }

  FailureOr<std::string> take() override {
    if (libdeviceError_)
      return emitError(cause_->where) << cause_->operation << " calls libdevice, and " << *libdeviceError_;
    if (cannotPrint_)
      return emitError(where_) << "LLVM's NVPTX back end cannot print assembly";
    for (const std::string &error : errors_)
      emitError(where_) << "no code for '" << arch_.toString() << "': " << error;
    if (!errors_.empty())
      return failure();
    return options_.waits ? writeWaits(text_, *options_.waits) : text_.str().str();
  }

  const std::string &llvmIr() const override { return llvmIr_; }

private:
  void print() {
    device_->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", uint32_t(options_.fastMath));
    if (options_.fastMath)
      flushDenormals(*device_);
    if (generatedIsa(arch_) >= kCacheHintsIsa)
      addCacheHints(*device_);
    keepWholeLoads(*device_);
    // What somebody wrote may load twice.
    const bool withSearches = options_.keepsAssemblyTogether || !multipliesInRegisters(*device_);
    Optimizer(*machine_).optimize(*device_, withSearches);
    divideByNamedNumbers(*device_);
    widenWords(*device_);
    if (!options_.fastMath)
      shareDivisors(*device_);
    roundByPairs(*device_, arch_);
    narrowToBool(*device_);
    splitPairSums(*device_);
    if (options_.keepLlvmIr) {
      llvm::raw_string_ostream text(llvmIr_);
      device_->print(text, nullptr);
    }
    llvm::raw_svector_ostream stream(text_);
    llvm::legacy::PassManager passes;
    BackEndPasses withoutSearches(*machine_, passes);
    llvm::legacy::PassManagerBase *added = &withoutSearches;
    if (withSearches)
      added = &passes;
    cannotPrint_ = machine_->addPassesToEmitFile(*added, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
    if (cannotPrint_)
      return;
    passes.run(*device_);
    writeAroundPtxasErrors(text_);
  }

  abi::TargetArch arch_;
  Location where_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  PtxOptions options_;
  std::string libdevice_;      // path; empty: not needed
  std::optional<Cause> cause_; // of libdevice
  std::vector<std::string> errors_;
  std::unique_ptr<llvm::LLVMContext> context_ = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> device_;
  // What run() leaves for take().
  std::optional<std::string> libdeviceError_;
  bool cannotPrint_ = false;
  llvm::SmallString<0> text_;
  std::string llvmIr_;
};

} // namespace

uint16_t generatedIsa(abi::TargetArch arch) {
  const abi::ArchInfo *info = abi::findArch(arch);
  return info ? std::max(info->minimumIsa, kOldestIsa) : 0;
}

uint16_t isaNeededBy(ModuleOp module, abi::TargetArch arch) {
  constexpr uint16_t kMatricesOfTuring = 65, kTransposes = 78, kCopiesOfHopper = 80, kStoresFromAfar = 81, kF8 = 84;
  // What sm_90 has, and not yet in the first version that knows it.
  constexpr StringLiteral kOfHopper[] = {"cp.async.bulk", "expect_tx",          "fence.proxy.async",
                                         "mbarrier_init", "prefetch.tensormap", "release.cluster"};
  uint16_t needed = 0;
  module.walk([&](Operation *op) {
    if (isa<NVVM::MmaOp, NVVM::LdMatrixOp>(op))
      needed = std::max(needed, kMatricesOfTuring);
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
        call && (call.getIntrin().contains("e4m3") || call.getIntrin().contains("e5m2")))
      needed = std::max(needed, kF8);
    auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
    if (assembly && assembly.getAsmString().contains("movmatrix"))
      needed = std::max(needed, kTransposes);
    if (!assembly || !abi::hasClusters(arch.number)) // older ones leave out what has clusters
      return;
    if (llvm::any_of(kOfHopper, [&](StringRef text) { return assembly.getAsmString().contains(text); }))
      needed = std::max(needed, kCopiesOfHopper);
    if (assembly.getAsmString().contains("st.async"))
      needed = std::max(needed, kStoresFromAfar);
  });
  return needed;
}

FailureOr<std::unique_ptr<PtxJob>> PtxJob::create(ModuleOp module, abi::TargetArch arch, const PtxOptions &options) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine = makeTargetMachine(module, arch, options.fastMath);
  if (failed(machine))
    return failure();
  auto job = std::make_unique<Job>(module, arch, std::move(*machine), options);
  if (failed(job->translate(module)))
    return failure();
  return std::unique_ptr<PtxJob>(std::move(job));
}

FailureOr<std::string> emitPtx(ModuleOp module, abi::TargetArch arch, const PtxOptions &options) {
  FailureOr<std::unique_ptr<PtxJob>> job = PtxJob::create(module, arch, options);
  if (failed(job))
    return failure();
  (*job)->run();
  return (*job)->take();
}

void registerPtxTranslation(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

} // namespace tenon::compiler::codegen
