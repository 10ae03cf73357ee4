#include "linker/access/instance.h"

namespace tenon::linker {

void Instance::reset(Plan &of, std::vector<Cell> given) {
  plan = &of;
  arguments = std::move(given);
  returns.assign(of.returnCount, {});
  values.clear();
  round = 0;
  active = askedWhileActive = recorded = false;
}

void Instance::prepare() {
  values.assign(plan->registerCount + kValueConstants, Origins());
  values[plan->constant(ValueConstant::Number)] = Origins::number();
  values[plan->constant(ValueConstant::Local)] = Origins::of(kLocalMemory);
  values[plan->constant(ValueConstant::Shared)] = Origins::of(kSharedMemory);
  values[plan->constant(ValueConstant::Module)] = Origins::of(kModuleMemory);
  values[plan->constant(ValueConstant::Foreign)] = Origins::of(kForeign);
  values[plan->constant(ValueConstant::Param)] = Origins::of(kParamMemory);
  for (uint32_t reg : plan->undefined)
    values[reg] = Origins::number();
  cells.resize(plan->cellCount);
  for (size_t i = 0; i < cells.size(); ++i)
    if (i < arguments.size() && i < plan->parameterCount)
      cells[i] = arguments[i];
    else
      cells[i].clear();
  blockStates.assign(plan->flow.blocks.size() * plan->tracked.size(), Origins());
  trackedIndex.assign(plan->tracked.empty() ? 0 : plan->registerCount, 0);
  for (uint32_t i = 0; i < plan->tracked.size(); ++i)
    trackedIndex[plan->tracked[i]] = i + 1;
}

void Instance::enterBlock(size_t block) {
  const std::vector<uint32_t> &tracked = plan->tracked;
  for (size_t i = 0; i < tracked.size(); ++i)
    values[tracked[i]] = blockStates[block * tracked.size() + i];
}

bool Instance::leaveBlock(const ptx::BasicBlock &block) {
  const size_t width = plan->tracked.size();
  if (width == 0)
    return false;
  bool changed = false;
  auto joinBlock = [&](size_t successor) {
    for (size_t i = 0; i < width; ++i)
      changed |= joinInto(blockStates[successor * width + i], values[plan->tracked[i]]);
  };
  if (plan->flow.unknown.empty()) {
    for (uint32_t successor : plan->flow.successors(block))
      joinBlock(successor);
  } else { // nobody knows where it goes on
    for (size_t successor = 0; successor < plan->flow.blocks.size(); ++successor)
      joinBlock(successor);
  }
  return changed;
}

} // namespace tenon::linker
