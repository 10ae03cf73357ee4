// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's passes: the optimiser (-O3) and the NVPTX back end.
//
// Where there are no tensor cores for it, a product of matrices is hundreds of loads and multiplications of what is in
// registers, and two searches take half of LLVM's time there: numbering values (GVN, once in the optimiser, twice in
// the back end) asks of every load which store or load before it was of the same memory, and loop-load-elim asks of
// every pair of accesses in a loop whether one forwards to the other. Such a kernel loads nothing twice, so it goes
// without. In others both searches are cheap, and find something: where an aligned and an unaligned path load the same.
#pragma once

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tenon::compiler::codegen {

/// Whether `device` multiplies so much in registers that nobody looks for loads that are not needed.
bool multipliesInRegisters(const llvm::Module &device);

/// The new pass manager, with what its passes ask for. One for each pipeline that is run.
class Optimizer {
public:
  /// @param machine outlives this
  explicit Optimizer(llvm::TargetMachine &machine);

  /// Equal operations of a function become one, so that a value's uses are all its uses.
  void unifyValues(llvm::Module &device);
  /// -O3, with or without searches for loads that are not needed.
  void optimize(llvm::Module &device, bool withSearches);
  /// Numbers the values of a function, and looks for no loads.
  bool numberValues(llvm::Function &function);

private:
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager callGraph_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassInstrumentationCallbacks names_; // of passes
  llvm::PassBuilder builder_;
};

/// Hands the back end's passes on to `passes`, as TargetMachine::addPassesToEmitFile adds them, without such searches.
class BackEndPasses : public llvm::legacy::PassManagerBase {
public:
  /// @param machine,passes outlive this; `machine` outlives the passes
  BackEndPasses(llvm::TargetMachine &machine, llvm::legacy::PassManager &passes) : machine_(machine), passes_(passes) {}

  void add(llvm::Pass *pass) override;

private:
  llvm::TargetMachine &machine_;
  llvm::legacy::PassManager &passes_;
};

} // namespace tenon::compiler::codegen
