// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/known_values.h"

#include <algorithm>
#include <span>

namespace tenon::linker {

static constexpr size_t kMostKept = 4096; // values of one body that the next one finds again

void KnownValues::begin(const ptx::DefUse &uses, Plan &plan) {
  uses_ = &uses;
  plan_ = &plan;
  assumesNothing_.assign(uses.registerCount, false);
  mayBeUndefined_.assign(uses.registerCount, false);
  rounds_ = 0;
  beginAgain();
  if (table.size() > kMostKept) {
    table.clear();
    nameConstants();
  }
}

void KnownValues::beginAgain() {
  registers_.assign(uses_->registerCount, Register());
  for (OriginTable::Id id : used_)
    constantOf_[id] = 0;
  used_.clear();
  reads_.clear();
  stepReads_.clear();
  definitions_.clear();
  block_ = 0;
  isGuarded_ = false;
  ++rounds_;
  assumedWrongly_ = false;
}

bool KnownValues::assumeNothing(uint32_t reg) {
  assumesNothing_[reg] = assumedWrongly_ = true;
  noteStepRead(reg, registers_[reg]);
  registers_[reg] = {.wasRead = true};
  return false;
}

void KnownValues::noteFarRead(uint32_t reg, Register &state) {
  if (state.value == OriginTable::kNumber || state.value == foreign ||
      (state.value == OriginTable::kUnknown && !state.isDefined))
    return;
  state.checkedIn = block_;
  reads_.push_back({reg, block_});
}

void KnownValues::nameConstants() {
  local = table.idOf(Origins::of(kLocalMemory));
  shared = table.idOf(Origins::of(kSharedMemory));
  module = table.idOf(Origins::of(kModuleMemory));
  foreign = table.idOf(Origins::of(kForeign));
  param = table.idOf(Origins::of(kParamMemory));
}

uint32_t KnownValues::numberOf(PlannedValue value) {
  if (!value.isKnown())
    return value.reg();
  const OriginTable::Id id = value.id();
  if (id >= constantOf_.size())
    constantOf_.resize(table.size(), 0);
  uint32_t &constant = constantOf_[id];
  if (constant == 0) {
    plan_->constants.push_back(table[id]);
    constant = static_cast<uint32_t>(plan_->constants.size());
    used_.push_back(id);
  }
  return plan_->registerCount + constant - 1;
}

/// By block: which blocks lead to it.
void KnownValues::findPredecessors() {
  const ptx::ControlFlow &flow = plan_->flow;
  firstPredecessor_.assign(flow.blocks.size() + 1, 0);
  for (const ptx::BasicBlock &block : flow.blocks)
    for (uint32_t successor : flow.successors(block))
      ++firstPredecessor_[successor + 1];
  for (size_t i = 0; i < flow.blocks.size(); ++i)
    firstPredecessor_[i + 1] += firstPredecessor_[i];
  predecessors_.resize(firstPredecessor_.back());
  std::vector<uint32_t> next(firstPredecessor_.begin(), firstPredecessor_.end() - 1);
  for (uint32_t i = 0; i < flow.blocks.size(); ++i)
    for (uint32_t successor : flow.successors(flow.blocks[i]))
      predecessors_[next[successor]++] = i;
  visited_.assign(flow.blocks.size(), 0);
  visit_ = 0;
}

/// Backwards from the block: does a path reach the first one without a definition?
bool KnownValues::isDefinedOnEveryPathTo(uint32_t reg, uint32_t block) {
  if (!plan_->flow.unknown.empty())
    return false;
  ++visit_;
  const auto [begin, end] = std::ranges::equal_range(definitions_, reg, {}, &PlaceOf::reg);
  for (const PlaceOf &definition : std::span(begin, end))
    if (definition.block != block)
      visited_[definition.block] = visit_; // paths end here
  pending_.assign(1, block);
  while (!pending_.empty()) {
    const uint32_t at = pending_.back();
    pending_.pop_back();
    if (at == 0)
      return false;
    for (uint32_t i = firstPredecessor_[at]; i < firstPredecessor_[at + 1]; ++i) {
      const uint32_t before = predecessors_[i];
      const bool defines = before == block && std::ranges::find(begin, end, block, &PlaceOf::block) != end;
      if (visited_[before] == visit_ || defines || !plan_->flow.blocks[before].reachable)
        continue;
      visited_[before] = visit_;
      pending_.push_back(before);
    }
  }
  return true;
}

void KnownValues::findUndefined() {
  if (!reads_.empty()) {
    findPredecessors();
    std::ranges::sort(definitions_, {}, &PlaceOf::reg);
    for (const PlaceOf &read : reads_) {
      if (mayBeUndefined_[read.reg] || registers_[read.reg].definedIn == 0 ||
          isDefinedOnEveryPathTo(read.reg, read.block))
        continue;
      mayBeUndefined_[read.reg] = true;
      assumedWrongly_ |= registers_[read.reg].isKnown;
    }
    if (assumedWrongly_ && rounds_ > kMostRoundsForUndefined)
      mayBeUndefined_.assign(mayBeUndefined_.size(), true);
  }
  for (uint32_t reg : stepReads_)
    if (mayBeUndefined_[reg] || !registers_[reg].isDefined)
      plan_->undefined.push_back(reg);
  std::ranges::sort(plan_->undefined);
}

} // namespace tenon::linker
