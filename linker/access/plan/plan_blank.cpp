// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes of .param variables that a path leaves as they were. They are registers of the calling convention: an argument
// that nobody stores is what another call has left there, and a result that a function does not store may be its own
// argument.
#include "linker/access/plan/plan_builder.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tenon::linker {

static constexpr size_t kMostPlaces = 256; // of one result that are looked at

/// What is left of so many bytes between places, which are sorted by their offsets.
template <typename Places> static std::vector<BlankBytes> bytesBetween(const Places &places, uint64_t size) {
  std::vector<BlankBytes> blank;
  const auto last = static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX));
  int64_t end = 0; // all in front of it is stored, or blank
  for (const auto &[offset, bytes] : places) {
    if (offset >= last)
      break;
    if (end < offset)
      blank.push_back({end, static_cast<uint64_t>(offset - end)});
    end = std::max(end, offset + static_cast<int64_t>(bytes));
  }
  if (end < last)
    blank.push_back({end, static_cast<uint64_t>(last - end)});
  return blank;
}

/// The instruction at hand stores to a .param variable.
void PlanBuilder::noteStored(uint32_t cell, int64_t offset, uint64_t bytes) {
  if (cell >= plan_->firstPlaceCell || !instruction_->predicate.empty())
    return;
  const uint32_t block = plan_->flow.blockOf[current_];
  if (!stored_.empty() && stored_.front().block != block)
    stored_.clear();
  stored_.push_back({cell, block, offset, bytes});
}

/// Which bytes of an argument the call at hand may find as another one has left them. PTX wants stores of arguments
/// right before the call (ISA, "st"), in its block; a parameter of the function itself was stored by who calls it.
std::vector<BlankBytes> PlanBuilder::blankOf(uint32_t argument) const {
  if (argument < plan_->parameterCount)
    return {};
  std::vector<std::pair<int64_t, uint64_t>> places; // offset, bytes
  for (const Filled &place : stored_)
    if (place.cell == argument && place.block == plan_->flow.blockOf[current_])
      places.emplace_back(place.offset, place.bytes);
  std::ranges::sort(places);
  return bytesBetween(places, plan_->cellBytes[argument]);
}

/// Which bytes of results some path does not store.
void PlanBuilder::findBlankReturns() {
  plan_->blankReturns.assign(plan_->returnCount, {});
  for (uint32_t i = 0; i < plan_->returnCount; ++i) {
    const uint32_t cell = plan_->returnCell(i);
    std::set<std::pair<int64_t, uint64_t>> places; // offset, bytes
    for (const Step &step : plan_->steps)
      if (step.kind == StepKind::StoreCell && step.cell == cell && places.size() <= kMostPlaces)
        places.emplace(step.offset, step.bytes);
    if (places.size() > kMostPlaces)
      places.clear();
    std::erase_if(places, [&](const auto &place) { return !isStoredOnEveryPath(cell, place.first, place.second); });
    plan_->blankReturns[i] = bytesBetween(places, plan_->cellBytes[cell]);
  }
}

/// Forwards from the first block, as long as these bytes are not stored: does a path come to the end?
bool PlanBuilder::isStoredOnEveryPath(uint32_t cell, int64_t offset, uint64_t bytes) const {
  const ptx::ControlFlow &flow = plan_->flow;
  if (!flow.unknown.empty())
    return false;
  auto stores = [&](uint32_t block) {
    for (uint32_t i = plan_->firstStep[block]; i < plan_->firstStep[block + 1]; ++i)
      if (const Step &step = plan_->steps[i]; step.kind == StepKind::StoreCell && step.cell == cell &&
                                              !step.predicated && isWithin(offset, bytes, step.offset, step.bytes))
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
