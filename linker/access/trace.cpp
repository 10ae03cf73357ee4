#include "linker/access/trace.h"

#include "linker/access/findings.h"
#include "linker/access/instance.h"
#include "linker/access/private_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tenon::linker {
namespace {

constexpr uint32_t kMaxRounds = 32;     // over all functions
constexpr uint32_t kMaxSweeps = 64;     // over one function
constexpr uint32_t kMaxRefinements = 4; // times that disagreeing registers are told apart
constexpr uint32_t kMaxCallDepth = 64;
constexpr size_t kMaxInstances = 8;         // argument sets of one function; further ones share the last
constexpr size_t kMaxBlockStates = 1 << 20; // registers told apart times blocks, of one function

} // namespace

class KernelTracer::Tracing {
public:
  KernelTrace run(const ptx::Module &module, Plans &plans, Plan &entry, const std::vector<bool> &pointers) {
    module_ = &module;
    plans_ = &plans;
    entry_ = &entry;
    findings_.emplace(entry.parameterCount, pointers);
    recording_ = gaveUp_ = false;
    for (uint32_t i = 0;; ++i) {
      refining_ = i < kMaxRefinements;
      reset();
      if (!converge())
        return giveUp();
      if (!refining_ || !splitDisagreeing())
        break;
    }
    recording_ = true;
    record(*root_, 0);
    return gaveUp_ ? giveUp() : findings_->take();
  }

private:
  KernelTrace giveUp() {
    findings_->gaveUp();
    return findings_->take();
  }

  void reset() {
    instances_.clear();
    for (std::unique_ptr<Instance> &instance : order_)
      spare_.push_back(std::move(instance));
    order_.clear();
    memory_.reset();
    const std::vector<ptx::Variable> &parameters = module_->functions[entry_->function].parameters;
    std::vector<Cell> arguments(parameters.size());
    for (uint32_t i = 0; i < arguments.size(); ++i)
      storeInto(arguments[i], 0, std::max<uint64_t>(8, parameters[i].bytes()), Origins::of(Findings::slotOf(i)));
    root_ = &newInstance(*entry_, std::move(arguments));
  }

  bool converge() {
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
  bool splitDisagreeing() {
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

  Instance &newInstance(Plan &plan, std::vector<Cell> arguments) {
    if (spare_.empty())
      spare_.push_back(std::make_unique<Instance>());
    order_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    order_.back()->reset(plan, std::move(arguments));
    return *order_.back();
  }

  /// The instance for these arguments; beyond a number of them, the last one takes them in.
  Instance &instanceFor(uint32_t function, Plan &plan, std::vector<Cell> arguments) {
    std::vector<Instance *> &known = instances_[function];
    if (&plan == entry_ && known.empty())
      known.push_back(root_);
    for (Instance *instance : known)
      if (instance->arguments == arguments)
        return *instance;
    if (known.size() < kMaxInstances) {
      known.push_back(&newInstance(plan, std::move(arguments)));
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

  // ------------------------------------------------------------------------------------------------ one function

  void runInstance(Instance &instance, uint32_t depth) {
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

  void sweepOnce(Instance &instance, uint32_t depth) {
    sweepChanged_ = false;
    const Plan &plan = *instance.plan;
    for (size_t i = 0; i < plan.flow.blocks.size(); ++i) {
      if (!plan.flow.blocks[i].reachable)
        continue;
      instance.enterBlock(i);
      for (uint32_t step = plan.firstStep[i]; step < plan.firstStep[i + 1]; ++step)
        execute(instance, plan.steps[step], depth);
      sweepChanged_ |= instance.leaveBlock(plan.flow.blocks[i]);
    }
  }

  /// One more pass over a function whose values are final, to note what its instructions do.
  void record(Instance &instance, uint32_t depth) {
    if (std::exchange(instance.recorded, true))
      return;
    if (instance.values.empty() || depth > kMaxCallDepth) { // cannot be: the run before met the same calls
      gaveUp_ = true;
      return;
    }
    sweepOnce(instance, depth);
  }

  // --------------------------------------------------------------------------------------------------- one step

  void define(Instance &instance, const Step &step, const Origins &value) {
    Plan &plan = *instance.plan;
    for (uint32_t i = 0; i < step.results; ++i) {
      const uint32_t reg = plan.values[step.firstResult + i];
      Origins &held = instance.values[reg];
      if (instance.isTracked(reg)) {
        held = step.predicated ? Origins(held).join(value) : value;
        continue;
      }
      if (held == value)
        continue;
      const bool grew = joinInto(held, value);
      sweepChanged_ |= grew;
      // A number that joins a pointer, or two pointers that share a register: telling them apart may prove more.
      if (refining_ && !grew && plan.severalDefinitions[reg] &&
          (held.involved() & (findings_->pointerBits() | kPrivateBits)))
        plan.disagreeing.push_back(reg);
    }
  }

  const Origins &source(const Instance &instance, const Step &step, uint32_t i) const {
    return instance.values[instance.plan->values[step.firstSource + i]];
  }

  Origins joinOf(const Instance &instance, const Step &step, uint32_t from) const {
    Origins value;
    for (uint32_t i = from; i < step.sources; ++i)
      value.join(source(instance, step, i));
    return value;
  }

  Origins storedBy(const Instance &instance, const Step &step) const {
    return step.sources > 1 ? joinOf(instance, step, 1) : Origins::number(); // discard stores nothing
  }

  Origins scaledSumOf(const Instance &instance, const Step &step, uint32_t count) const {
    Origins value = Origins::number();
    for (uint32_t i = 0; i < count; ++i)
      value = sum(value, source(instance, step, i).scaled());
    return value;
  }

  void execute(Instance &instance, const Step &step, uint32_t depth) {
    const AccessPlace place{instance.plan->function, step.instruction};
    switch (step.kind) {
    case StepKind::Copy:
      return define(instance, step, joinOf(instance, step, 0));
    case StepKind::Sum: {
      Origins value = Origins::number();
      for (uint32_t i = 0; i < step.sources; ++i)
        value = sum(value, source(instance, step, i));
      return define(instance, step, value);
    }
    case StepKind::Difference:
      return define(instance, step, sum(source(instance, step, 0), source(instance, step, 1).negated()));
    case StepKind::MultiplyAdd:
      return define(instance, step, sum(scaledSumOf(instance, step, 2), source(instance, step, 2)));
    case StepKind::Scale:
      return define(instance, step, scaledSumOf(instance, step, step.sources));
    case StepKind::TestLowBits:
      if (recording_)
        findings_->lowBitsTested(joinOf(instance, step, 0));
      return define(instance, step, Origins::number());
    case StepKind::LoadCell:
      noteNamed(instance, step.cell);
      if (instance.plan->isLocalCell(step.cell))
        return define(instance, step,
                      loadFrom(instance.cells[step.cell], step.offset, step.bytes).join(memory_.scattered()));
      // A result that is not there yet: the call before it waits for its own arguments.
      if (instance.cells[step.cell].empty())
        return;
      return define(instance, step, loadFrom(instance.cells[step.cell], step.offset, step.bytes));
    case StepKind::StoreCell:
      if (!source(instance, step, 0).isKnown() && instance.plan->isLocalCell(step.cell)) {
        gaveUp_ |= recording_; // computed from registers that nothing sets
        return;
      }
      if (instance.plan->isLocalCell(step.cell))
        remember(kLocalMemory, source(instance, step, 0));
      sweepChanged_ |= storeInto(instance.cells[step.cell], step.offset, step.bytes, source(instance, step, 0));
      return;
    case StepKind::TakeCell:
      noteNamed(instance, step.cell);
      for (const CellEntry &entry : instance.cells[step.cell])
        remember(kParamMemory, entry.value);
      return;
    case StepKind::Load:
      noteRead(source(instance, step, 0), step, place);
      return define(instance, step, memory_.behind(source(instance, step, 0), step.space));
    case StepKind::Store:
      return store(source(instance, step, 0), storedBy(instance, step), step, place);
    case StepKind::Atomic:
      store(source(instance, step, 0), storedBy(instance, step), step, place);
      return define(instance, step, memory_.behind(source(instance, step, 0), step.space));
    case StepKind::CopyToGlobal:
      return store(source(instance, step, 0), memory_.at(kSharedMemory), step, place);
    case StepKind::CopyToShared:
      return noteRead(source(instance, step, 0), step, place);
    case StepKind::StoreToMap:
      if (recording_) {
        findings_->writesElsewhere();
        findings_->storedToMap(place);
      }
      noteRead(source(instance, step, 0), step, place); // the map itself
      escape(joinOf(instance, step, 1), &ParameterAccess::stored, place);
      return escape(memory_.at(kSharedMemory), &ParameterAccess::stored, place);
    case StepKind::Unknown:
      unknownOperation(joinOf(instance, step, 0), place);
      return define(instance, step, sum(scaledSumOf(instance, step, step.sources), Origins::of(kForeign)));
    case StepKind::Call:
      return call(instance, instance.plan->calls[step.cell], step, depth);
    }
  }

  // ------------------------------------------------------------------------------------------------------ memory

  /// `value` may stand in this private memory from now on.
  void remember(uint32_t slot, const Origins &value) {
    if (memory_.remember(slot, value))
      changed_ = sweepChanged_ = true;
  }
  void scatter(uint32_t slot, const Origins &value) {
    if (memory_.scatter(slot, value))
      changed_ = sweepChanged_ = true;
  }

  void store(const Origins &address, const Origins &value, const Step &step, AccessPlace place) {
    if (!address.isKnown() || !value.isKnown()) {
      gaveUp_ |= recording_; // computed from registers that nothing sets
      return;
    }
    switch (step.space) {
    case ptx::StateSpace::Local:
      return scatter(kLocalMemory, value);
    case ptx::StateSpace::Shared:
      return remember(kSharedMemory, value);
    case ptx::StateSpace::Param:
      return remember(kParamMemory, value);
    case ptx::StateSpace::Generic:
    case ptx::StateSpace::Reg:
    case ptx::StateSpace::Sreg:
    case ptx::StateSpace::Const:
    case ptx::StateSpace::Global:
    case ptx::StateSpace::Tex:
      break;
    }
    const uint64_t bits = address.involved();
    if (step.space == ptx::StateSpace::Generic)
      for (uint32_t slot : kPrivateSlots)
        if (bits & (slotBit(slot) | slotBit(kForeign)))
          scatter(slot, value);
    if (step.space == ptx::StateSpace::Generic && (address.surely() & kPrivateBits))
      return;
    if (recording_)
      findings_->written(address, step, place);
    escape(value, &ParameterAccess::stored, place);
  }

  // ----------------------------------------------------------------------------------------------------- findings

  void noteNamed(const Instance &instance, uint32_t cell) {
    if (recording_ && &instance == root_)
      findings_->named(cell);
  }

  void noteRead(const Origins &address, const Step &step, AccessPlace place) {
    const bool global = step.space == ptx::StateSpace::Generic || step.space == ptx::StateSpace::Global;
    if (recording_ && global && address.isKnown())
      findings_->read(address, step, place);
  }

  /// The value goes where the trace does not follow.
  void escape(const Origins &value, std::optional<AccessPlace> ParameterAccess::*how, AccessPlace place) {
    if (!recording_)
      return;
    uint64_t bits = value.involved();
    for (uint32_t slot : kPrivateSlots) // an address takes along what it leads to
      if (bits & slotBit(slot))
        bits |= memory_.at(slot).involved();
    findings_->escaped(bits, how, place);
  }

  void unknownOperation(const Origins &value, AccessPlace place) {
    escape(value, &ParameterAccess::passed, place);
    if (recording_)
      findings_->writesElsewhere();
  }

  // -------------------------------------------------------------------------------------------------------- calls

  Cell passedValue(const Instance &instance, const Passed &passed) const {
    if (passed.isCell)
      return instance.cells[passed.index];
    return {{0, 8, instance.values[passed.index]}};
  }

  void receive(Instance &instance, const Passed &result, const Cell &value, const Step &step) {
    if (result.isCell) {
      sweepChanged_ |= joinInto(instance.cells[result.index], value);
      return;
    }
    Origins all;
    for (const CellEntry &entry : value)
      all.join(entry.value);
    Plan &plan = *instance.plan;
    if (result.index >= plan.registerCount)
      return;
    Origins &held = instance.values[result.index];
    if (instance.isTracked(result.index))
      held = step.predicated ? Origins(held).join(all) : all;
    else
      sweepChanged_ |= joinInto(held, all);
  }

  /// The plan of a function's definition, wherever in the module that stands; null without one.
  Plan *planOf(uint32_t function) {
    if (function == kNoFunction)
      return nullptr;
    if (module_->functions[function].isDeclaration)
      function = plans_->names.find(module_->functions[function].name).index;
    return function == entry_->function ? entry_ : plans_->find(function);
  }

  void call(Instance &instance, const CallSite &site, const Step &step, uint32_t depth) {
    const AccessPlace place{instance.plan->function, step.instruction};
    Plan *callee = planOf(site.callee);
    if (!callee || callee->parameterCount != site.arguments.size() || callee->returnCount != site.results.size())
      return callUnknown(instance, site, step, place);
    std::vector<Cell> arguments;
    for (const Passed &passed : site.arguments) {
      arguments.push_back(passedValue(instance, passed));
      for (const CellEntry &entry : arguments.back())
        if (!entry.value.isKnown()) { // not computed yet: a later sweep comes by
          gaveUp_ |= recording_;
          return;
        }
    }
    Instance &called = instanceFor(callee->function, *callee, std::move(arguments));
    if (recording_)
      record(called, depth + 1);
    else
      runInstance(called, depth + 1);
    for (size_t i = 0; i < site.results.size(); ++i) {
      receive(instance, site.results[i], called.returns[i], step);
      if (called.returns[i].empty() && !called.active)
        receive(instance, site.results[i], anywhere(Origins::number()), step);
    }
  }

  /// printf and assert read their arguments; what any other unknown code does is unknown.
  void callUnknown(Instance &instance, const CallSite &site, const Step &step, AccessPlace place) {
    const bool reads = site.callee != kNoFunction && (site.name == "vprintf" || site.name == "__assertfail");
    if (!reads) {
      for (const Passed &passed : site.arguments)
        for (const CellEntry &entry : passedValue(instance, passed))
          escape(entry.value, &ParameterAccess::passed, place);
      if (recording_ && site.name != "malloc")
        findings_->writesElsewhere();
    }
    Origins value = Origins::of(kForeign);
    if (!reads && site.name != "malloc")
      for (const Passed &passed : site.arguments) // it may hand back what it was given
        for (const CellEntry &entry : passedValue(instance, passed))
          value.join(entry.value);
    for (const Passed &result : site.results)
      receive(instance, result, anywhere(value), step);
  }

  const ptx::Module *module_ = nullptr;
  Plans *plans_ = nullptr;
  Plan *entry_ = nullptr;
  std::optional<Findings> findings_;
  std::unordered_map<uint32_t, std::vector<Instance *>> instances_; // of called functions; for lookup only
  std::vector<std::unique_ptr<Instance>> order_, spare_;
  Instance *root_ = nullptr;
  PrivateMemory memory_;
  uint32_t round_ = 0;
  bool changed_ = false;      // something that other functions saw before
  bool sweepChanged_ = false; // something within the function at hand
  bool refining_ = false, recording_ = false;
  bool gaveUp_ = false; // too deep, too many sweeps, or registers that nothing sets
};

KernelTracer::KernelTracer() : tracing_(std::make_unique<Tracing>()) {}
KernelTracer::~KernelTracer() = default;

KernelTrace KernelTracer::run(const ptx::Module &module, Plans &plans, Plan &entry, const std::vector<bool> &pointers) {
  return tracing_->run(module, plans, entry, pointers);
}

} // namespace tenon::linker
