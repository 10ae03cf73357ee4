// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/known_values.h"

namespace tenon::linker {

static constexpr size_t kMostKept = 4096; // values of one body that the next one finds again

void KnownValues::begin(const ptx::DefUse &uses, Plan &plan) {
  uses_ = &uses;
  plan_ = &plan;
  assumesNothing_.assign(uses.registerCount, false);
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
  ++rounds_;
  assumedWrongly_ = false;
}

bool KnownValues::assumeNothing(uint32_t reg) {
  assumesNothing_[reg] = assumedWrongly_ = true;
  registers_[reg] = {.wasRead = true};
  return false;
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

void KnownValues::findUndefined() {
  for (uint32_t reg = 0; reg < registers_.size(); ++reg)
    if (registers_[reg].wasRead && !registers_[reg].isDefined)
      plan_->undefined.push_back(reg);
}

} // namespace tenon::linker
