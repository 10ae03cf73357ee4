// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/llvm_passes.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kManyElements = 128; // that instructions of a module load

PipelineTuningOptions tuning() {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = true;
  return tuning;
}

/// `text` with `to` for the first `from`; without one it stays.
void replace(std::string &text, StringRef from, StringRef to) {
  if (const size_t at = text.find(from.str()); at != std::string::npos)
    text.replace(at, from.size(), to.str());
}

/// -O3 of this LLVM, as it describes it, without the two searches.
std::string pipelineWithoutSearches(PassBuilder &builder, PassInstrumentationCallbacks &names) {
  std::string text;
  raw_string_ostream stream(text);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).printPipeline(stream, [&](StringRef type) {
    return names.getPassNameForClassName(type);
  });
  replace(text, ",gvn<>,", ",gvn<no-memdep>,");
  replace(text, ",loop-load-elim,", ",");
  return text;
}

/// What the optimiser has for it, run by the old pass manager.
class NumberValues : public FunctionPass {
public:
  static char ID;
  explicit NumberValues(TargetMachine &machine) : FunctionPass(ID), optimizer_(machine) {}

  StringRef getPassName() const override { return "Number values"; }
  bool runOnFunction(Function &function) override { return optimizer_.numberValues(function); }

private:
  Optimizer optimizer_;
};
char NumberValues::ID = 0;

bool isGvn(const Pass &pass) {
  const PassInfo *gvn = PassRegistry::getPassRegistry()->getPassInfo(StringRef("gvn"));
  return gvn && pass.getPassID() == gvn->getTypeInfo();
}

} // namespace

bool multipliesInRegisters(const Module &device) {
  unsigned elements = 0, products = 0;
  for (const Function &function : device)
    for (const Instruction &instruction : instructions(function)) {
      if (isa<LoadInst>(instruction)) {
        auto *vector = dyn_cast<FixedVectorType>(instruction.getType());
        elements += vector ? vector->getNumElements() : 1;
      }
      auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
      products += (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::fma) ||
                  (instruction.getOpcode() == Instruction::FMul && !instruction.use_empty());
    }
  return elements > kManyElements && products > elements;
}

Optimizer::Optimizer(TargetMachine &machine) : builder_(&machine, tuning(), std::nullopt, &names_) {
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(callGraph_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, callGraph_, modules_);
}

void Optimizer::unifyValues(Module &device) {
  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(EarlyCSEPass()));
  passes.run(device, modules_);
}

void Optimizer::optimize(Module &device, bool withSearches) {
  static const std::string text = pipelineWithoutSearches(builder_, names_);
  ModulePassManager passes;
  // The target's own first: in the text, the one that tells libdevice the architecture has forgotten it.
  builder_.invokePipelineStartEPCallbacks(passes, OptimizationLevel::O3);
  if (!withSearches && !errorToBool(builder_.parsePassPipeline(passes, text)))
    passes.run(device, modules_);
  else
    builder_.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(device, modules_);
}

bool Optimizer::numberValues(Function &function) {
  functions_.clear(); // passes that it knows nothing of were here
  return !GVNPass(GVNOptions().setMemDep(false)).run(function, functions_).areAllPreserved();
}

void BackEndPasses::add(Pass *pass) {
  if (!isGvn(*pass))
    return passes_.add(pass);
  delete pass;
  passes_.add(new NumberValues(machine_));
}

} // namespace tenon::compiler::codegen
