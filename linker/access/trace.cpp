#include "linker/access/trace.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tenon::linker {
namespace {

constexpr uint32_t kMaxRounds = 32;     // over all functions
constexpr uint32_t kMaxSweeps = 64;     // over one function
constexpr uint32_t kMaxRefinements = 4; // times that disagreeing registers are told apart
constexpr uint32_t kMaxCallDepth = 64;
constexpr size_t kMaxInstances = 8;         // argument sets of one function; further ones share the last
constexpr size_t kMaxCellEntries = 64;      // places within one .param variable that are told apart
constexpr size_t kMaxBlockStates = 1 << 20; // registers told apart times blocks, of one function

/// Contents of a .param variable: what stands where.
struct CellEntry {
  int64_t offset = 0;
  uint64_t bytes = 0;
  Origins value;
  bool operator==(const CellEntry &) const = default;
};
using Cell = std::vector<CellEntry>;

/// Contents of a .param variable of which nobody knows what stands where.
constexpr int64_t kAnyOffset = INT64_MIN / 2;
constexpr uint64_t kAnyBytes = UINT64_MAX;
Cell anywhere(const Origins &value) {
  return {{kAnyOffset, kAnyBytes, value}};
}

bool joinInto(Origins &into, const Origins &value) {
  Origins before = into;
  into.join(value);
  return !(into == before);
}

bool storeInto(Cell &cell, int64_t offset, uint64_t bytes, const Origins &value) {
  for (CellEntry &entry : cell)
    if (entry.offset == offset && entry.bytes == bytes)
      return joinInto(entry.value, value);
  if (cell.size() == kMaxCellEntries) { // from here on, one place for all
    Origins all = value;
    for (const CellEntry &entry : cell)
      all.join(entry.value);
    cell = anywhere(all);
    return true;
  }
  if (cell.size() == 1 && cell.front().bytes == kAnyBytes)
    return joinInto(cell.front().value, value);
  cell.push_back({offset, bytes, value});
  return true;
}

Origins loadFrom(const Cell &cell, int64_t offset, uint64_t bytes) {
  Origins value;
  bool found = false;
  for (const CellEntry &entry : cell) {
    // Offsets are those of one variable, below 2^63 bytes; the difference is exact in unsigned arithmetic.
    const bool overlaps = offset >= entry.offset ? uint64_t(offset) - uint64_t(entry.offset) < entry.bytes
                                                 : uint64_t(entry.offset) - uint64_t(offset) < bytes;
    if (overlaps) {
      value.join(entry.value);
      found = true;
    }
  }
  return found ? value : Origins::number();
}

bool joinInto(Cell &into, const Cell &from) {
  bool changed = false;
  for (const CellEntry &entry : from)
    changed |= storeInto(into, entry.offset, entry.bytes, entry.value);
  return changed;
}

/// One function with one set of argument origins.
struct Instance {
  Plan *plan = nullptr;
  std::vector<Cell> arguments, returns;
  std::vector<Origins> values;        // registers, then constants
  std::vector<Cell> cells;            // [plan.cellCount]
  std::vector<Origins> blockStates;   // [blocks x tracked] at the beginning of each block
  std::vector<uint32_t> trackedIndex; // register -> position among tracked + 1; empty: none is tracked
  uint32_t round = 0;
  bool active = false, askedWhileActive = false, recorded = false;
};

} // namespace

class Tracing {
public:
  Tracing(PlanCache &plans, const ptx::Function &entry, const std::vector<bool> &pointers)
      : plans_(plans), entry_(entry) {
    result_.parameters.resize(entry.parameters.size());
    for (uint32_t i = 0; i < entry.parameters.size(); ++i)
      if (i < pointers.size() && pointers[i])
        pointerBits_ |= slotBit(slotOf(i));
  }

  KernelTrace run() {
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
    return gaveUp_ ? giveUp() : std::move(result_);
  }

private:
  static uint32_t slotOf(uint32_t parameter) { return parameter < kTrackedParameters ? parameter : kFurtherParameters; }

  KernelTrace giveUp() {
    result_.gaveUp = true;
    return std::move(result_);
  }

  void reset() {
    instances_.clear();
    order_.clear();
    memory_.fill(Origins::number());
    memory_[kSharedMemory - kParamMemory].join(Origins::of(kForeign));
    std::vector<Cell> arguments(entry_.parameters.size());
    for (uint32_t i = 0; i < arguments.size(); ++i)
      storeInto(arguments[i], 0, std::max<uint64_t>(8, entry_.parameters[i].bytes()), Origins::of(slotOf(i)));
    root_ = &newInstance(plans_.planOf(entry_), std::move(arguments));
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
    order_.push_back(std::make_unique<Instance>());
    Instance &instance = *order_.back();
    instance.plan = &plan;
    instance.arguments = std::move(arguments);
    instance.returns.resize(plan.function->returns.size());
    instances_[plan.function].push_back(&instance);
    return instance;
  }

  /// The instance for these arguments; beyond a number of them, the last one takes them in.
  Instance &instanceFor(const ptx::Function &function, std::vector<Cell> arguments) {
    std::vector<Instance *> &known = instances_[&function];
    for (Instance *instance : known)
      if (instance->arguments == arguments)
        return *instance;
    if (known.size() < kMaxInstances)
      return newInstance(plans_.planOf(function), std::move(arguments));
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
    prepare(instance);
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

  void prepare(Instance &instance) {
    const Plan &plan = *instance.plan;
    instance.values.assign(plan.registerCount + kValueConstants, Origins());
    instance.values[plan.constant(ValueConstant::Number)] = Origins::number();
    instance.values[plan.constant(ValueConstant::Local)] = Origins::of(kLocalMemory);
    instance.values[plan.constant(ValueConstant::Shared)] = Origins::of(kSharedMemory);
    instance.values[plan.constant(ValueConstant::Module)] = Origins::of(kModuleMemory);
    instance.values[plan.constant(ValueConstant::Foreign)] = Origins::of(kForeign);
    instance.values[plan.constant(ValueConstant::Param)] = Origins::of(kParamMemory);
    for (uint32_t reg : plan.undefined)
      instance.values[reg] = Origins::number();
    instance.cells.assign(plan.cellCount, {});
    for (size_t i = 0; i < instance.arguments.size() && i < plan.function->parameters.size(); ++i)
      instance.cells[i] = instance.arguments[i];
    instance.blockStates.assign(plan.flow.blocks.size() * plan.tracked.size(), Origins());
    instance.trackedIndex.assign(plan.tracked.empty() ? 0 : plan.registerCount, 0);
    for (uint32_t i = 0; i < plan.tracked.size(); ++i)
      instance.trackedIndex[plan.tracked[i]] = i + 1;
  }

  void enterBlock(Instance &instance, size_t block) {
    const std::vector<uint32_t> &tracked = instance.plan->tracked;
    for (size_t i = 0; i < tracked.size(); ++i)
      instance.values[tracked[i]] = instance.blockStates[block * tracked.size() + i];
  }

  void leaveBlock(Instance &instance, const ptx::BasicBlock &block) {
    const Plan &plan = *instance.plan;
    const size_t width = plan.tracked.size();
    if (width == 0)
      return;
    auto joinBlock = [&](size_t successor) {
      for (size_t i = 0; i < width; ++i)
        sweepChanged_ |= joinInto(instance.blockStates[successor * width + i], instance.values[plan.tracked[i]]);
    };
    if (plan.flow.unknown.empty()) {
      for (uint32_t successor : plan.flow.successors(block))
        joinBlock(successor);
    } else { // nobody knows where it goes on
      for (size_t successor = 0; successor < plan.flow.blocks.size(); ++successor)
        joinBlock(successor);
    }
  }

  void sweepOnce(Instance &instance, uint32_t depth) {
    sweepChanged_ = false;
    const Plan &plan = *instance.plan;
    for (size_t i = 0; i < plan.flow.blocks.size(); ++i) {
      if (!plan.flow.blocks[i].reachable)
        continue;
      enterBlock(instance, i);
      for (uint32_t step = plan.firstStep[i]; step < plan.firstStep[i + 1]; ++step)
        execute(instance, plan.steps[step], depth);
      leaveBlock(instance, plan.flow.blocks[i]);
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
      if (!instance.trackedIndex.empty() && instance.trackedIndex[reg]) {
        held = step.predicated ? Origins(held).join(value) : value;
        continue;
      }
      if (held == value)
        continue;
      const bool grew = joinInto(held, value);
      sweepChanged_ |= grew;
      // A number that joins a pointer, or two pointers that share a register: telling them apart may prove more.
      if (refining_ && !grew && plan.severalDefinitions[reg] && (held.involved() & (pointerBits_ | kPrivateBits)))
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
        forEachParameter(joinOf(instance, step, 0).plus, [](ParameterAccess &access) { access.lowBitsTested = true; });
      return define(instance, step, Origins::number());
    case StepKind::LoadCell:
      noteNamed(instance, step.cell);
      // A result that is not there yet: the call before it waits for its own arguments.
      if (instance.cells[step.cell].empty())
        return;
      return define(instance, step, loadFrom(instance.cells[step.cell], step.offset, step.bytes));
    case StepKind::StoreCell:
      sweepChanged_ |= storeInto(instance.cells[step.cell], step.offset, step.bytes, source(instance, step, 0));
      return;
    case StepKind::TakeCell:
      noteNamed(instance, step.cell);
      for (const CellEntry &entry : instance.cells[step.cell])
        remember(kParamMemory, entry.value);
      return;
    case StepKind::Load:
      noteRead(source(instance, step, 0), step, place);
      return define(instance, step, contentsBehind(source(instance, step, 0), step.space));
    case StepKind::Store:
      return store(source(instance, step, 0), storedBy(instance, step), step, place);
    case StepKind::Atomic:
      store(source(instance, step, 0), storedBy(instance, step), step, place);
      return define(instance, step, contentsBehind(source(instance, step, 0), step.space));
    case StepKind::CopyToGlobal:
      return store(source(instance, step, 0), memory(kSharedMemory), step, place);
    case StepKind::CopyToShared:
      return noteRead(source(instance, step, 0), step, place);
    case StepKind::StoreToMap:
      if (recording_) {
        result_.writesElsewhere = true;
        if (!result_.storedToMap)
          result_.storedToMap = place;
      }
      noteRead(source(instance, step, 0), step, place); // the map itself
      escape(joinOf(instance, step, 1), &ParameterAccess::stored, place);
      return escape(memory(kSharedMemory), &ParameterAccess::stored, place);
    case StepKind::Unknown:
      unknownOperation(joinOf(instance, step, 0), place);
      return define(instance, step, sum(scaledSumOf(instance, step, step.sources), Origins::of(kForeign)));
    case StepKind::Call:
      return call(instance, instance.plan->calls[step.cell], step, depth);
    }
  }

  // ------------------------------------------------------------------------------------------------------ memory

  Origins &memory(uint32_t slot) { return memory_[slot - kParamMemory]; }

  /// `value` may stand in this private memory from now on.
  void remember(uint32_t slot, const Origins &value) {
    if (joinInto(memory(slot), value))
      changed_ = sweepChanged_ = true;
  }

  Origins contentsBehind(const Origins &address, ptx::StateSpace space) {
    Origins value;
    switch (space) {
    case ptx::StateSpace::Local:
      return memory(kLocalMemory);
    case ptx::StateSpace::Shared:
      return memory(kSharedMemory);
    case ptx::StateSpace::Param:
      return memory(kParamMemory);
    case ptx::StateSpace::Generic:
      break;
    case ptx::StateSpace::Reg:
    case ptx::StateSpace::Sreg:
    case ptx::StateSpace::Const:
    case ptx::StateSpace::Global:
    case ptx::StateSpace::Tex:
      return Origins::of(kForeign);
    }
    if (!address.isKnown())
      return value;
    const uint64_t bits = address.involved();
    const bool anywhere = bits & slotBit(kForeign); // an address from memory may be one of private memory
    for (uint32_t slot : {kParamMemory, kLocalMemory, kSharedMemory})
      if (anywhere || (bits & slotBit(slot)))
        value.join(memory(slot));
    if (!(address.surely() & kPrivateBits))
      value.join(Origins::of(kForeign));
    return value;
  }

  void store(const Origins &address, const Origins &value, const Step &step, AccessPlace place) {
    if (!address.isKnown() || !value.isKnown()) {
      gaveUp_ |= recording_; // computed from registers that nothing sets
      return;
    }
    switch (step.space) {
    case ptx::StateSpace::Local:
      return remember(kLocalMemory, value);
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
      for (uint32_t slot : {kParamMemory, kLocalMemory, kSharedMemory})
        if (bits & (slotBit(slot) | slotBit(kForeign)))
          remember(slot, value);
    if (step.space == ptx::StateSpace::Generic && (address.surely() & kPrivateBits))
      return;
    noteWrite(address, step, place);
    escape(value, &ParameterAccess::stored, place);
  }

  // ----------------------------------------------------------------------------------------------------- findings

  template <typename Function> void forEachParameter(uint64_t bits, Function function) {
    for (uint32_t i = 0; i < result_.parameters.size(); ++i)
      if (bits & slotBit(slotOf(i)))
        function(result_.parameters[i]);
  }

  void noteNamed(const Instance &instance, uint32_t cell) {
    if (recording_ && &instance == root_ && cell < result_.parameters.size())
      result_.parameters[cell].named = true;
  }

  void noteAddress(const Origins &address, const Step &step, AccessPlace place) {
    forEachParameter(address.involved() & pointerBits_, [](ParameterAccess &access) { access.addressed = true; });
    const uint64_t pointers = pointerBits_ | ~kParameterBits;
    if ((address.involved() & pointers) == 0)
      forEachParameter(address.plus, [&](ParameterAccess &access) {
        access.addressed = true;
        if (!access.aloneInAddress)
          access.aloneInAddress = place;
      });
    if (step.bytes > 8)
      forEachParameter(address.plus & pointerBits_, [&](ParameterAccess &access) {
        if (step.bytes > access.widestBytes) {
          access.widestBytes = step.bytes;
          access.widest = place;
        }
      });
  }

  void noteRead(const Origins &address, const Step &step, AccessPlace place) {
    const bool global = step.space == ptx::StateSpace::Generic || step.space == ptx::StateSpace::Global;
    if (!recording_ || !global || !address.isKnown())
      return;
    noteAddress(address, step, place);
    if (step.nonCoherent)
      forEachParameter(address.plus & pointerBits_, [&](ParameterAccess &access) {
        if (!access.nonCoherent)
          access.nonCoherent = place;
      });
  }

  void noteWrite(const Origins &address, const Step &step, AccessPlace place) {
    if (!recording_)
      return;
    noteAddress(address, step, place);
    const uint64_t involved = address.involved() & pointerBits_;
    // Surely one buffer: its pointer stands in the address on every path, or nothing else that is an address does.
    const uint64_t based = address.plus & pointerBits_;
    const bool single = std::has_single_bit(based) && based != slotBit(kFurtherParameters);
    const bool onlyBase =
        involved == based && !(address.involved() & ~kParameterBits) && !((address.minus | address.other) & based);
    const uint64_t sure = single && ((address.surely() & based) || onlyBase) ? based : 0;
    forEachParameter(sure, [&](ParameterAccess &access) {
      if (!access.written)
        access.written = place;
    });
    forEachParameter(involved & ~sure, [&](ParameterAccess &access) {
      if (!access.maybeWritten)
        access.maybeWritten = place;
    });
    if (!sure)
      result_.writesElsewhere = true;
  }

  /// The value goes where the trace does not follow.
  void escape(const Origins &value, std::optional<AccessPlace> ParameterAccess::*how, AccessPlace place) {
    if (!recording_)
      return;
    uint64_t bits = value.involved();
    for (uint32_t slot : {kParamMemory, kLocalMemory, kSharedMemory}) // an address takes along what it leads to
      if (bits & slotBit(slot))
        bits |= memory(slot).involved();
    forEachParameter(bits & pointerBits_, [&](ParameterAccess &access) {
      access.addressed = true;
      if (!(access.*how))
        access.*how = place;
    });
  }

  void unknownOperation(const Origins &value, AccessPlace place) {
    escape(value, &ParameterAccess::passed, place);
    if (recording_)
      result_.writesElsewhere = true;
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
    if (!instance.trackedIndex.empty() && instance.trackedIndex[result.index])
      held = step.predicated ? Origins(held).join(all) : all;
    else
      sweepChanged_ |= joinInto(held, all);
  }

  void call(Instance &instance, const CallSite &site, const Step &step, uint32_t depth) {
    const AccessPlace place{instance.plan->function, step.instruction};
    const ptx::Function *callee = site.callee;
    if (!callee || callee->isDeclaration || callee->parameters.size() != site.arguments.size() ||
        callee->returns.size() != site.results.size())
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
    Instance &called = instanceFor(*callee, std::move(arguments));
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
    const bool reads = site.callee && (site.name == "vprintf" || site.name == "__assertfail");
    if (!reads) {
      for (const Passed &passed : site.arguments)
        for (const CellEntry &entry : passedValue(instance, passed))
          escape(entry.value, &ParameterAccess::passed, place);
      if (recording_ && site.name != "malloc")
        result_.writesElsewhere = true;
    }
    Origins value = Origins::of(kForeign);
    if (!reads && site.name != "malloc")
      for (const Passed &passed : site.arguments) // it may hand back what it was given
        for (const CellEntry &entry : passedValue(instance, passed))
          value.join(entry.value);
    for (const Passed &result : site.results)
      receive(instance, result, anywhere(value), step);
  }

  PlanCache &plans_;
  const ptx::Function &entry_;
  uint64_t pointerBits_ = 0;
  KernelTrace result_;
  std::unordered_map<const ptx::Function *, std::vector<Instance *>> instances_; // for lookup only
  std::vector<std::unique_ptr<Instance>> order_;
  Instance *root_ = nullptr;
  std::array<Origins, 3> memory_; // what parameter, local and shared memory may hold
  uint32_t round_ = 0;
  bool changed_ = false;      // something that other functions saw before
  bool sweepChanged_ = false; // something within the function at hand
  bool refining_ = false, recording_ = false;
  bool gaveUp_ = false; // too deep, too many sweeps, or registers that nothing sets
};

AccessTracer::AccessTracer(const ptx::Module &module) : plans_(module) {}
AccessTracer::~AccessTracer() = default;

KernelTrace AccessTracer::trace(const ptx::Function &entry, const std::vector<bool> &pointers) {
  KernelTrace trace = Tracing(plans_, entry, pointers).run();
  plans_.drop(entry);
  return trace;
}

} // namespace tenon::linker
