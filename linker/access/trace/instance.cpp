// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/instance.h"

namespace tenon::linker {

void Instance::reset(Plan &of) {
  plan = &of;
  returns.assign(of.returnCount, {});
  round = 0;
  isPrepared = active = askedWhileActive = recorded = false;
}

void Instance::prepare() {
  isPrepared = true;
  values.assign(plan->registerCount, Origins());
  values.insert(values.end(), plan->constants.begin(), plan->constants.end());
  for (uint32_t reg : plan->undefined)
    values[reg] = Origins::number();
  cells.resize(plan->cellCount);
  for (size_t i = 0; i < cells.size(); ++i)
    if (i < arguments.size() && i < plan->parameterCount)
      cells[i] = arguments[i];
    else
      cells[i].clear();
  cellWasRead.assign(plan->cellCount, false);
  carry = Origins::number();
  blockStates.assign(plan->flow.blocks.size() * plan->tracked.size(), Origins());
  for (size_t i = 0; i < plan->tracked.size(); ++i)
    blockStates[i] = Origins::number(); // what stands in a register before anything is put into it
  trackedIndex.assign(plan->tracked.empty() ? 0 : plan->registerCount, 0);
  for (uint32_t i = 0; i < plan->tracked.size(); ++i)
    trackedIndex[plan->tracked[i]] = i + 1;
}

void Instance::enterBlock(size_t block) {
  const std::vector<uint32_t> &tracked = plan->tracked;
  for (size_t i = 0; i < tracked.size(); ++i)
    values[tracked[i]] = blockStates[block * tracked.size() + i];
}

Instance::Growth Instance::leaveBlock(uint32_t block) {
  Growth growth;
  const size_t width = plan->tracked.size();
  if (width == 0)
    return growth;
  auto joinBlock = [&](size_t successor) {
    bool grew = false;
    for (size_t i = 0; i < width; ++i)
      grew |= joinInto(blockStates[successor * width + i], values[plan->tracked[i]]);
    growth.any |= grew;
    growth.behind |= grew && successor <= block;
  };
  if (plan->flow.unknown.empty()) {
    for (uint32_t successor : plan->flow.successors(plan->flow.blocks[block]))
      joinBlock(successor);
  } else { // nobody knows where it goes on
    for (size_t successor = 0; successor < plan->flow.blocks.size(); ++successor)
      joinBlock(successor);
  }
  return growth;
}

} // namespace tenon::linker
