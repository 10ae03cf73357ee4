// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns the instructions of a body into the steps of its plan (plan.h), one after the other. What an instruction does
// is told by its form; what its operands stand for, by `ptx::DefUse`; what they are known to hold, by KnownValues.
#pragma once

#include "linker/access/plan/known_values.h"
#include "linker/access/plan/local_addresses.h"
#include "linker/access/plan/plan.h"
#include "ptx/control_flow.h"
#include "ptx/def_use.h"

#include <optional>
#include <span>

namespace tenon::linker {

/// Makes plans, one after the other; keeps its memory in between.
class PlanBuilder {
public:
  /// To be called before the functions of another parse.
  void startModule() { forms_.startModule(); }
  /// Fills `plan` for a function that has its body. `names`: of all that the body may name.
  void run(const ptx::Module &module, const ptx::Function &function, const ptx::ModuleNames &names, Plan &plan);
  /// What every name of the body planned last stands for.
  const ptx::DefUse &uses() const { return *uses_; }

private:
  /// One name or number of an operand; names that are written are results.
  struct Leaf {
    ptx::NameRef ref;
    uint32_t operand = 0;
    bool isImmediate = false;
    uint64_t bits = 0;

    bool isRegister() const { return !isImmediate && ref.kind == ptx::NameRef::Kind::Register; }
    bool isResult() const { return isRegister() && ref.isDefinition; }
  };

  // plan_builder.cpp: the body, and what its names stand for
  void planSteps();
  void reset();
  void numberCells();
  void addInstruction(uint32_t index);
  void addLeaves(const ptx::Operand &operand, uint32_t number);
  std::optional<uint32_t> cellOf(const Leaf &leaf) const;
  PlannedValue valueOf(const Leaf &leaf);
  PlannedValue valueOf(ptx::StateSpace space) const;
  std::span<const PlannedValue> sourcesOf(uint32_t from, uint32_t to);
  Step begin(StepKind kind) const;
  bool writesPart() const;
  void addResult(Step &step, uint32_t reg);
  void addSources(Step &step, std::span<const PlannedValue> sources);
  /// Adds a step with these sources; its results are those of the leaves, which are all of the instruction's where none
  /// are given.
  void finish(Step step, std::span<const PlannedValue> sources, std::span<const Leaf> leaves);
  void finish(Step step, std::span<const PlannedValue> sources) { finish(step, sources, leaves_); }

  // plan_values.cpp: results that follow from operands
  bool defineFromKnown(const EffectOf &effect);
  OriginTable::Id knownOperand(uint32_t operand, const ptx::NameRef *&name) const;
  void defineAs(OriginTable::Id value) { defineAs(value, leaves_); }
  void defineAs(OriginTable::Id value, std::span<const Leaf> leaves);
  template <typename Sources, typename Add>
  void addFolded(const Sources &sources, OriginTable::Id nothing, Add add, StepKind kind, StepKind one);
  void addCopy(const EffectOf &effect);
  void addSum(std::span<const PlannedValue> sources);
  void addScale(std::span<const PlannedValue> sources);
  void addDifference();
  void addMultiplyAdd();
  void addMask();

  // plan_memory.cpp: accesses and calls
  void noteAddress(uint32_t operand);
  std::optional<LocalPlace> localPlaceOf(const Leaf &leaf) const;
  void followLocalAddress();
  void addMemory(const EffectOf &effect);
  bool loadKnown(const EffectOf &effect);
  void addLoad(Step step, PlannedValue address);
  void addCellAccess(bool loads, uint32_t cell, int64_t offset);
  void addKernelParameter(std::span<const Leaf> elements, uint32_t parameter, int64_t offset, uint32_t bytes);
  void addCall();

  bool isAddress(uint32_t operand) const { return instruction_->operands[operand].kind == ptx::Operand::Kind::Address; }

  const ptx::Module *module_ = nullptr;
  const ptx::Function *function_ = nullptr;
  ptx::DefUseFinder useFinder_;
  ptx::ControlFlowBuilder flowBuilder_;
  FormTable forms_;
  KnownValues known_;
  const ptx::DefUse *uses_ = nullptr;
  Plan *plan_ = nullptr;
  bool parametersAreKnown_ = false;         // of a kernel that does not write its own
  bool writesParameters_ = false;           // it does, which only a call or text that ptxas refuses can do
  std::vector<uint32_t> cellOfDeclaration_; // [declarations]; UINT32_MAX: neither .param nor .local
  LocalAddresses localAddresses_;

  // Of the instruction at hand.
  uint32_t current_ = 0;
  const ptx::Instruction *instruction_ = nullptr;
  const Form *form_ = nullptr;
  const ptx::NameRef *nextName_ = nullptr;
  std::vector<Leaf> leaves_;
  std::vector<PlannedValue> sources_, rest_;
};

} // namespace tenon::linker
