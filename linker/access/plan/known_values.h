// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What registers are known to hold while a body is planned, before anything runs: the value of their definitions, where
// that follows from known values. A register is known from its first definition on; one that was read before keeps its
// steps, since that reader waits for them.
//
// A register with several definitions is taken to hold what the first of them gives, as counters and pointers of loops
// do: `add %rd1, %rd1, 4` is inside the same buffer. When all definitions have given the same, that is the least
// fixpoint, for nothing was assumed that did not follow from a definition. Where one gives another value, what was read
// in between is wrong: the body is planned once more without that register.
//
// A register that some path reads before anything was put into it holds whatever stood there, a number: that is one of
// its values, too (ptxas takes such code; the emulator finds a zero). Where a definition is not seen to come before a
// read at once, the paths that lead to the read are gone through when all definitions are known.
#pragma once

#include "linker/access/origin_table.h"
#include "linker/access/plan/plan.h"
#include "ptx/def_use.h"

namespace tenon::linker {

/// A register, or a value that is known: an id of the table.
class PlannedValue {
public:
  static PlannedValue ofRegister(uint32_t reg) { return PlannedValue(reg); }
  static PlannedValue known(OriginTable::Id id) { return PlannedValue(id | kKnown); }
  bool isKnown() const { return bits_ & kKnown; }
  OriginTable::Id id() const { return bits_ & ~kKnown; }
  uint32_t reg() const { return bits_; }

private:
  static constexpr uint32_t kKnown = 1u << 31; // a body has fewer registers than it has bytes
  explicit PlannedValue(uint32_t bits) : bits_(bits) {}
  uint32_t bits_;
};

class KnownValues {
public:
  KnownValues() { nameConstants(); }

  OriginTable table;
  OriginTable::Id local = 0, shared = 0, module = 0, foreign = 0, param = 0; // addresses, and what memory holds

  /// For a body, with nothing assumed wrongly yet.
  void begin(const ptx::DefUse &uses, Plan &plan);
  /// For the same body once more.
  void beginAgain();
  /// Whether a register turned out to hold several values: the steps made since the beginning are wrong.
  bool assumedWrongly() const { return assumedWrongly_; }
  /// Where the reads and definitions that follow stand.
  void enterBlock(uint32_t block) { block_ = block; }
  void setGuarded(bool isGuarded) { isGuarded_ = isGuarded; }
  /// What a step or another definition reads.
  PlannedValue read(uint32_t reg) {
    Register &state = registers_[reg];
    if (state.isKnown) {
      noteRead(reg, state);
      return PlannedValue::known(state.value);
    }
    if (uses_->definitions[reg] == 0)
      return PlannedValue::known(OriginTable::kNumber);
    noteStepRead(reg, state);
    if (state.isDefined)
      noteRead(reg, state);
    else
      mayBeUndefined_[reg] = true; // in the order of the text
    return PlannedValue::ofRegister(reg);
  }
  /// What it is known to hold, which is nothing (kUnknown) for most that are not; a read only where something is known.
  OriginTable::Id peek(uint32_t reg) {
    Register &state = registers_[reg];
    noteRead(reg, state);
    return state.value;
  }
  /// Whether the register now counts as known to hold this; else a step has to define it.
  bool define(uint32_t reg, OriginTable::Id value, bool mayAssume) {
    Register &state = registers_[reg];
    if (value != OriginTable::kNumber) {
      if (mayBeUndefined_[reg])
        value = table.join(value, OriginTable::kNumber);
      noteDefinition(reg, state);
    }
    if (state.isKnown && state.value == value)
      return true;
    if (state.isKnown)
      return assumeNothing(reg);
    if (state.wasRead || state.isDefined || (uses_->definitions[reg] != 1 && (!mayAssume || assumesNothing(reg))))
      return false;
    state.value = value;
    state.isKnown = true;
    return true;
  }
  /// A step defines it. Whether it was read before.
  bool defineLater(uint32_t reg) {
    Register &state = registers_[reg];
    noteDefinition(reg, state);
    if (state.isKnown)
      assumeNothing(reg);
    state.isDefined = true;
    return state.wasRead;
  }
  bool hasOneDefinition(uint32_t reg) const { return uses_->definitions[reg] == 1; }
  /// The number that a step knows the value by.
  uint32_t numberOf(PlannedValue value);
  /// At the end of the body: which registers may be read before they are defined.
  void findUndefined();

private:
  struct Register {
    OriginTable::Id value = OriginTable::kUnknown;
    bool isKnown = false, wasRead = false, isDefined = false;
    uint32_t definedIn = kNoBlock; // the block of the last definition that is not guarded
    uint32_t checkedIn = kNoBlock; // the block of the last read that was noted
  };
  struct PlaceOf {
    uint32_t reg = 0, block = 0;
  };

  /// A read in the block of a definition, or of what the first block defines, is behind it.
  void noteRead(uint32_t reg, Register &state) {
    if (state.definedIn != 0 && state.definedIn != block_ && state.checkedIn != block_)
      noteFarRead(reg, state);
  }
  void noteFarRead(uint32_t reg, Register &state);
  /// A step waits for the register.
  void noteStepRead(uint32_t reg, Register &state) {
    if (!state.wasRead)
      stepReads_.push_back(reg);
    state.wasRead = true;
  }
  void noteDefinition(uint32_t reg, Register &state) {
    if (isGuarded_ || state.definedIn == 0)
      return;
    state.definedIn = block_;
    if (block_ != 0)
      definitions_.push_back({reg, block_});
  }
  bool isDefinedOnEveryPathTo(uint32_t reg, uint32_t block);
  void findPredecessors();

  bool assumesNothing(uint32_t reg) const { return assumesNothing_[reg] || rounds_ > kMostRounds; }
  bool assumeNothing(uint32_t reg);
  void nameConstants();

  static constexpr uint32_t kMostRounds = 3;
  static constexpr uint32_t kMostRoundsForUndefined = 8;
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  const ptx::DefUse *uses_ = nullptr;
  Plan *plan_ = nullptr;
  std::vector<Register> registers_;
  std::vector<bool> assumesNothing_; // registers that were found to hold several values
  std::vector<bool> mayBeUndefined_; // registers that some path reads before they are defined
  uint32_t block_ = 0;
  bool isGuarded_ = false;
  std::vector<PlaceOf> reads_, definitions_; // of registers; definitions behind the first block
  std::vector<uint32_t> stepReads_;          // registers that are read by steps
  std::vector<uint32_t> predecessors_, firstPredecessor_, visited_, pending_;
  uint32_t visit_ = 0;
  uint32_t rounds_ = 0;
  bool assumedWrongly_ = false;
  std::vector<uint32_t> constantOf_;  // by id: position among the plan's constants + 1
  std::vector<OriginTable::Id> used_; // ids that have one
};

} // namespace tenon::linker
