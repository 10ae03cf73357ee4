// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where control goes on: a path that is chosen by bits of a pointer tells them, as a value would.
#include "linker/access/plan/plan_builder.h"

namespace tenon::linker {

/// The predicate of an instruction, and the index of a branch through a table.
void PlanBuilder::addGuard() {
  for (const ptx::NameRef &name : uses_->namesOf(current_)) {
    if (name.kind == ptx::NameRef::Kind::Register)
      addSteer(known_.read(name.index));
    if (instruction_->facts.control != ptx::Control::TableBranch)
      return; // the predicate stands first
  }
}

void PlanBuilder::addSteer(PlannedValue value) {
  if (value.isKnown()) {
    if (value.id() == OriginTable::kNumber)
      return;
    const uint64_t involved = known_.table[value.id()].involved();
    if ((involved & slotBit(kForeign)) && plan_->foreignSteer == kNoInstruction)
      plan_->foreignSteer = current_;
    if ((involved & known_.table.secrets().pointers) == 0)
      return;
  }
  finish({.kind = StepKind::Steer, .instruction = current_}, {&value, 1}, {});
}

} // namespace tenon::linker
