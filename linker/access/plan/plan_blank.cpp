// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .param variables that a path leaves as they were. They are registers of the calling convention: an argument that
// nobody stores is what another call has left there, and a result that a function does not store may be its own
// argument.
#include "linker/access/plan/plan_builder.h"

#include <set>
#include <utility>

namespace tenon::linker {

static constexpr uint32_t kNowhere = UINT32_MAX, kInSeveral = UINT32_MAX - 1;
static constexpr size_t kMostPlaces = 256; // of one result that are looked at

/// The instruction at hand stores to a .param variable.
void PlanBuilder::noteStored(uint32_t cell) {
  if (cell >= plan_->firstPlaceCell)
    return;
  storedIn_.resize(plan_->firstPlaceCell, kNowhere);
  const uint32_t block = instruction_->predicate.empty() ? plan_->flow.blockOf[current_] : kInSeveral;
  storedIn_[cell] = storedIn_[cell] == kNowhere || storedIn_[cell] == block ? block : kInSeveral;
}

/// Whether the call at hand may find an argument as another one has left it. PTX wants stores of arguments right before
/// the call (ISA, "st"), in its block; a parameter of the function itself was stored by who calls it.
bool PlanBuilder::mayBeBlank(uint32_t cell) const {
  return cell >= plan_->parameterCount &&
         (cell >= storedIn_.size() || storedIn_[cell] != plan_->flow.blockOf[current_]);
}

/// Which results some path does not store all of.
void PlanBuilder::findBlankReturns() {
  plan_->returnMayBeBlank.assign(plan_->returnCount, false);
  for (uint32_t i = 0; i < plan_->returnCount; ++i) {
    const uint32_t cell = plan_->returnCell(i);
    std::set<std::pair<int64_t, uint32_t>> places; // offset, bytes
    for (const Step &step : plan_->steps)
      if (step.kind == StepKind::StoreCell && step.cell == cell && places.size() <= kMostPlaces)
        places.emplace(step.offset, step.bytes);
    int64_t end = 0; // all in front of it is stored
    if (places.size() <= kMostPlaces)
      for (const auto &[offset, bytes] : places)
        if (offset <= end && offset + int64_t(bytes) > end && isStoredOnEveryPath(cell, offset, bytes))
          end = offset + int64_t(bytes);
    plan_->returnMayBeBlank[i] = static_cast<uint64_t>(end) < plan_->cellBytes[cell];
  }
}

/// Forwards from the first block, as long as these bytes are not stored: does a path come to the end?
bool PlanBuilder::isStoredOnEveryPath(uint32_t cell, int64_t offset, uint64_t bytes) const {
  const ptx::ControlFlow &flow = plan_->flow;
  if (!flow.unknown.empty())
    return false;
  auto stores = [&](uint32_t block) {
    for (uint32_t i = plan_->firstStep[block]; i < plan_->firstStep[block + 1]; ++i)
      if (const Step &step = plan_->steps[i];
          step.kind == StepKind::StoreCell && step.cell == cell && !step.predicated && step.offset <= offset &&
          offset + static_cast<int64_t>(bytes) <= step.offset + static_cast<int64_t>(step.bytes))
        return true;
    return false;
  };
  auto returns = [&](const ptx::BasicBlock &block) {
    if (block.begin == block.end || function_->instructions[block.end - 1].facts.control == ptx::Control::Next ||
        function_->instructions[block.end - 1].facts.control == ptx::Control::Call)
      return block.edgeCount == 0; // behind the last instruction
    return function_->instructions[block.end - 1].opcode == "ret";
  };
  std::vector<bool> visited(flow.blocks.size(), false);
  std::vector<uint32_t> pending = {0};
  visited[0] = true;
  while (!pending.empty()) {
    const uint32_t at = pending.back();
    pending.pop_back();
    if (stores(at))
      continue;
    if (returns(flow.blocks[at]))
      return false;
    for (uint32_t next : flow.successors(flow.blocks[at]))
      if (!visited[next]) {
        visited[next] = true;
        pending.push_back(next);
      }
  }
  return true;
}

} // namespace tenon::linker
