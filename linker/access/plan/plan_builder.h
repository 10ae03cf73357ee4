// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns the instructions of a body into the steps of its plan (plan.h), one after the other. What an instruction does
// is told by its form; what its operands stand for, by `ptx::DefUse`; what they are known to hold, by KnownValues.
#pragma once

#include "linker/access/cell.h"
#include "linker/access/plan/effect.h"
#include "linker/access/plan/halves.h"
#include "linker/access/plan/known_values.h"
#include "linker/access/plan/place_addresses.h"
#include "linker/access/plan/plan.h"
#include "linker/access/plan/whole_pointers.h"
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
  /// Fills `plan` for a function that has its body.
  /// @param names  of all that the body may name
  /// @param slots  of a kernel's parameters; of another function, none
  void run(const ptx::Module &module, const ptx::Function &function, const ptx::ModuleNames &names,
           const ParameterSlots &slots, Plan &plan);
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
  void addSourcesOf(uint32_t from, uint32_t to);
  Step begin(StepKind kind) const;
  bool writesPart() const;
  void addResult(Step &step, uint32_t reg);
  void addSources(Step &step, std::span<const PlannedValue> sources);
  /// Adds a step with these sources; its results are those of the leaves, which are all of the instruction's where none
  /// are given.
  void finish(Step step, std::span<const PlannedValue> sources, std::span<const Leaf> leaves);
  void finish(Step step, std::span<const PlannedValue> sources) { finish(step, sources, leaves_); }

  // plan_values.cpp: results that follow from operands
  bool defineFromKnown();
  OriginTable::Id knownOperand(uint32_t operand, const ptx::NameRef *&name);
  void defineAs(OriginTable::Id value) { defineAs(value, leaves_); }
  void defineAs(OriginTable::Id value, std::span<const Leaf> leaves);
  void compute(Transfer transfer, std::span<const PlannedValue> sources, std::span<const Leaf> leaves);
  void addComputed();
  void addMove();
  void addTestOfLowBits();
  bool addMovedHalf(std::span<const PlannedValue> others);
  bool addJoinedHalves();
  void addCarryOut(std::span<const PlannedValue> sources);

  // plan_refine.cpp: operands that tell more than their origins
  std::optional<uint64_t> numberIn(uint32_t reg) const;
  std::optional<Refined> refined() const;
  void noteWholePointer(uint32_t result, const Origins &value);
  void followWholePointer();
  bool comparesWholePointers();

  // plan_control.cpp: what decides where control goes on
  void addGuard();
  void addSteer(PlannedValue value);

  // plan_memory.cpp: accesses and calls
  void noteAddress(uint32_t operand);
  std::optional<VariablePlace> placeOf(const Leaf &leaf);
  std::optional<VariablePlace> followPlace();
  void addMemory(const EffectOf &effect);
  bool loadKnown(const EffectOf &effect);
  void addCopyToGlobal(Step step, PlannedValue at, const Leaf *base);
  void addLoad(Step step, PlannedValue address);
  OriginTable::Id foreignBehind(OriginTable::Id address);
  Origins loadArgument(uint32_t parameter, int64_t offset, uint32_t bytes) const;
  bool isFilled(const Step &step) const;
  void noteFilled(Step &step);
  void addCellAccess(bool loads, uint32_t cell, int64_t offset);
  void noteLoaded(uint32_t parameter, int64_t offset, uint32_t bytes);
  void addKernelParameter(std::span<const Leaf> elements, uint32_t parameter, int64_t offset, uint32_t bytes);
  void addCall();

  // plan_places.cpp: places in the parameters and in .local variables that the text names
  Origins addressOf(VariablePlace place) const;
  Origins addressInParameters(VariablePlace place) const;
  void takePlace(VariablePlace place);
  bool isAddressOf(OriginTable::Id value, uint32_t cell) const;
  bool keepsExactly(uint32_t cell) const;
  bool defineAsPlace(const std::optional<VariablePlace> &place);

  // plan_blank.cpp: .param variables that some path does not store to
  void noteStored(uint32_t cell, int64_t offset, uint64_t bytes);
  std::vector<BlankBytes> blankOf(uint32_t argument) const;
  void findBlankReturns();
  bool isStoredOnEveryPath(uint32_t cell, int64_t offset, uint64_t bytes) const;

  /// Of the operands of the instruction at hand.
  const ptx::NameRef *names() const {
    return uses_->namesOf(current_).data() + (instruction_->predicate.empty() ? 0 : 1);
  }
  // plan_ahead.cpp: places behind a pointer as it was passed
  std::array<const ptx::NameRef *, 4> registersOf(uint32_t index) const;
  /// Whether `visit` is content with each instruction that defines the register.
  template <typename Visit> bool allDefinitions(uint32_t reg, Visit visit) {
    const auto count = static_cast<uint32_t>(function_->instructions.size());
    uint32_t left = uses_->definitions[reg];
    for (uint32_t i = 0; i < count && left != 0; ++i) {
      if (++lookedAt_ > kMostLookedAt)
        return false;
      for (const ptx::NameRef &name : uses_->namesOf(i))
        if (name.isDefinition && name.kind == ptx::NameRef::Kind::Register && name.index == reg) {
          --left;
          if (!visit(i))
            return false;
          break;
        }
    }
    return left == 0;
  }
  bool isDistance(uint32_t reg, uint32_t use);
  bool isAhead(uint32_t reg, std::optional<uint32_t> &slot, std::vector<uint32_t> &path, size_t fixed);
  bool comparesPlacesAhead();

  // plan_bounds.cpp: indices, and the bytes that an address means one of
  struct PlaceRange {
    VariablePlace place; // the first of them
    uint64_t span = 0;   // how far behind it the last one is
  };
  std::optional<uint32_t> definitionBefore(uint32_t reg, uint32_t use);
  std::optional<uint64_t> boundOfSpecial(std::string_view name) const;
  std::optional<uint64_t> boundOf(uint32_t index, size_t operand, uint32_t depth);
  std::optional<uint64_t> boundOfRegister(uint32_t reg, uint32_t use, uint32_t depth);
  std::optional<PlaceRange> rangeOf(const Leaf &leaf, uint32_t use, uint32_t depth);
  bool addRangeAccess(bool loads, const Leaf &base, int64_t offset);

  bool isAddress(uint32_t operand) const { return instruction_->operands[operand].kind == ptx::Operand::Kind::Address; }

  const ptx::Module *module_ = nullptr;
  const ptx::Function *function_ = nullptr;
  ptx::DefUseFinder useFinder_;
  ptx::ControlFlowBuilder flowBuilder_;
  FormTable forms_;
  KnownValues known_;
  const ptx::DefUse *uses_ = nullptr;
  const ParameterSlots *slots_ = nullptr;
  std::vector<Cell> arguments_; // [parameters] of a kernel
  Plan *plan_ = nullptr;
  bool takesPlaces_ = false;                // a kernel that calls
  uint64_t placeBits_ = 0;                  // slots that stand for addresses of places, kExact among them
  bool parametersAreKnown_ = false;         // of a kernel that does not write its own
  bool writesParameters_ = false;           // it does, which only a call or text that ptxas refuses can do
  std::vector<uint32_t> cellOfDeclaration_; // [declarations]; UINT32_MAX: no cell
  PlaceAddresses places_;
  struct Filled {
    uint32_t cell = 0, block = 0;
    int64_t offset = 0;
    uint64_t bytes = 0;
  };
  std::vector<Filled> filled_; // places of variables that were stored to
  std::vector<Filled> stored_; // .param variables, in the last block that stores to one
  Halves halves_;
  WholePointers whole_;
  static constexpr uint64_t kMostLookedAt = 1 << 20;
  uint64_t lookedAt_ = 0; // instructions, for definitions of registers

  // Of the instruction at hand.
  uint32_t current_ = 0;
  const ptx::Instruction *instruction_ = nullptr;
  const Form *form_ = nullptr;
  const ptx::NameRef *nextName_ = nullptr;
  std::vector<Leaf> leaves_;
  std::vector<PlannedValue> sources_, rest_;
};

} // namespace tenon::linker
