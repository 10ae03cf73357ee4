// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/kernel_tracer.h"

#include <algorithm>
#include <utility>

namespace tenon::linker {

static constexpr uint32_t kMaxRounds = 32;     // over all functions
static constexpr uint32_t kMaxSweeps = 64;     // over one function
static constexpr uint32_t kMaxRefinements = 4; // times that disagreeing registers are told apart
static constexpr uint32_t kMaxCallDepth = 64;
static constexpr size_t kMaxInstances = 8;         // argument sets of one function; further ones share the last
static constexpr size_t kMaxBlockStates = 1 << 20; // registers told apart times blocks, of one function

KernelTrace KernelTracer::run(const ptx::Module &module, PlanTable &plans, Plan &entry, const ParameterSlots &slots) {
  module_ = &module;
  plans_ = &plans;
  entry_ = &entry;
  alone_ = entry.calls.empty();
  slots_ = &slots;
  findings_.reset(slots);
  algebra_.secrets = secretsOf(slots);
  recording_ = gaveUp_ = false;
  for (uint32_t i = 0;; ++i) {
    refining_ = i < kMaxRefinements;
    reset();
    if (!(alone_ ? sweepAlone() : converge())) {
      gaveUp_ = true;
      return take();
    }
    if (!refining_ || !splitDisagreeing())
      break;
  }
  if (!alone_) {
    recording_ = true;
    record(*root_, 0);
  }
  return take();
}

KernelTrace KernelTracer::take() {
  for (uint32_t i = 0; i < entry_->notes.size(); ++i)
    findings_.noted(i, entry_->notes[i]);
  if (gaveUp_)
    findings_.gaveUp();
  return findings_.take();
}

void KernelTracer::reset() {
  instances_.clear();
  for (std::unique_ptr<Instance> &instance : order_)
    spare_.push_back(std::move(instance));
  order_.clear();
  memory_.reset(algebra_.secrets);
  taken_.assign(entry_->placeSlots.empty() ? 0 : entry_->cellCount, {});
  root_ = &newInstance(*entry_);
  const std::vector<ptx::Variable> &parameters = module_->functions[entry_->function].parameters;
  root_->arguments.resize(parameters.size());
  for (uint32_t i = 0; i < parameters.size(); ++i) {
    kernelArgument(*slots_, i, parameters[i].bytes(), root_->arguments[i]);
    for (const CellEntry &entry : root_->arguments[i])
      memory_.remember(kParamMemory, static_cast<uint32_t>(entry.bytes), entry.value);
  }
}

/// What a sweep reads was put down before it in the same sweep or in one before; when that holds to the end, and what
/// was read has not grown since, its findings are those of the fixpoint.
bool KernelTracer::sweepAlone() {
  root_->prepare();
  recording_ = true;
  for (uint32_t sweep = 0; sweep < kMaxSweeps; ++sweep) {
    gaveUp_ = false;
    entry_->disagreeing.clear();
    slotsRead_ = 0;
    findings_.clear();
    sweepOnce(*root_, 0);
    if (!sweepChanged_)
      return true;
  }
  return false;
}

bool KernelTracer::converge() {
  for (round_ = 1; round_ <= kMaxRounds; ++round_) {
    changed_ = false;
    runInstance(*root_, 0);
    if (gaveUp_)
      return false;
    if (!changed_)
      return true;
  }
  return false;
}

/// Registers whose definitions disagree get a value of their own per block. Whether there were any.
bool KernelTracer::splitDisagreeing() {
  bool split = false;
  for (const std::unique_ptr<Instance> &instance : order_) {
    Plan &plan = *instance->plan;
    std::vector<uint32_t> &found = plan.disagreeing;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (!found.empty() && (plan.tracked.size() + found.size()) * plan.flow.blocks.size() <= kMaxBlockStates) {
      plan.tracked.insert(plan.tracked.end(), found.begin(), found.end());
      std::sort(plan.tracked.begin(), plan.tracked.end());
      split = true;
    }
    found.clear();
  }
  return split;
}

Instance &KernelTracer::newInstance(Plan &plan) {
  if (spare_.empty())
    spare_.push_back(std::make_unique<Instance>());
  order_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  order_.back()->reset(plan);
  return *order_.back();
}

/// The instance for these arguments; beyond a number of them, the last one takes them in.
Instance &KernelTracer::instanceFor(uint32_t function, Plan &plan, std::vector<Cell> arguments) {
  std::vector<Instance *> &known = instances_[function];
  for (Instance *instance : known)
    if (instance->arguments == arguments)
      return *instance;
  if (known.size() < kMaxInstances) {
    known.push_back(&newInstance(plan));
    known.back()->arguments = std::move(arguments);
    return *known.back();
  }
  Instance &last = *known.back();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (joinInto(last.arguments[i], arguments[i])) {
      changed_ = true;
      last.round = 0;
    }
  return last;
}

void KernelTracer::runInstance(Instance &instance, uint32_t depth) {
  if (instance.active) {
    instance.askedWhileActive = true;
    return;
  }
  if (instance.round == round_)
    return;
  if (depth > kMaxCallDepth) {
    gaveUp_ = true;
    return;
  }
  instance.round = round_;
  instance.active = true;
  std::vector<Cell> before = instance.returns;
  instance.prepare();
  const bool outerChanged = std::exchange(sweepChanged_, true);
  for (uint32_t sweep = 0; sweepChanged_; ++sweep) {
    if (sweep == kMaxSweeps || gaveUp_) {
      gaveUp_ = true;
      break;
    }
    sweepOnce(instance, depth);
  }
  for (size_t i = 0; i < instance.returns.size(); ++i)
    joinInto(instance.returns[i], instance.cells[instance.plan->returnCell(i)]);
  sweepChanged_ = outerChanged;
  instance.active = false;
  if (instance.askedWhileActive && instance.returns != before)
    changed_ = true;
}

void KernelTracer::sweepOnce(Instance &instance, uint32_t depth) {
  sweepChanged_ = false;
  const Plan &plan = *instance.plan;
  if (recording_ && plan.foreignSteer != kNoInstruction)
    findings_.steered(Origins::of(kForeign), {plan.function, plan.foreignSteer});
  for (uint32_t i = 0; i < plan.flow.blocks.size(); ++i) {
    if (!plan.flow.blocks[i].reachable)
      continue;
    instance.enterBlock(i);
    for (uint32_t step = plan.firstStep[i]; step < plan.firstStep[i + 1]; ++step)
      execute(instance, plan.steps[step], depth);
    const Instance::Growth growth = instance.leaveBlock(i);
    sweepChanged_ |= alone_ ? growth.behind : growth.any;
  }
}

/// One more pass over a function whose values are final, to note what its instructions do.
void KernelTracer::record(Instance &instance, uint32_t depth) {
  if (std::exchange(instance.recorded, true))
    return;
  if (!instance.isPrepared || depth > kMaxCallDepth) { // cannot be: the run before met the same calls
    gaveUp_ = true;
    return;
  }
  sweepOnce(instance, depth);
}

} // namespace tenon::linker
