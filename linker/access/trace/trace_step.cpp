// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/kernel_tracer.h"

namespace tenon::linker {
namespace {

/// The sources of a step, with what they hold.
class Sources {
public:
  Sources(const Instance &instance, const Step &step)
      : values_(instance.values.data()), sources_(instance.plan->values.data() + step.first + step.results),
        count_(step.sources) {}

  const Origins &operator[](uint32_t i) const { return values_[sources_[i]]; }
  Origins join(uint32_t from) const {
    Origins value;
    for (uint32_t i = from; i < count_; ++i)
      value.join((*this)[i]);
    return value;
  }
  Origins sum() const {
    Origins value = Origins::number();
    for (uint32_t i = 0; i < count_; ++i)
      value = linker::sum(value, (*this)[i]);
    return value;
  }
  Origins scaledSum(uint32_t count) const {
    Origins value = Origins::number();
    for (uint32_t i = 0; i < count; ++i)
      value = linker::sum(value, (*this)[i].scaled());
    return value;
  }
  Origins scaledSum() const { return scaledSum(count_); }
  Origins stored() const { return count_ > 1 ? join(1) : Origins::number(); } // discard stores nothing

private:
  const Origins *values_;
  const uint32_t *sources_;
  uint32_t count_;
};

} // namespace

void KernelTracer::define(Instance &instance, const Step &step, const Origins &value) {
  Plan &plan = *instance.plan;
  for (uint32_t i = 0; i < step.results; ++i) {
    const uint32_t reg = plan.values[step.first + i];
    Origins &held = instance.values[reg];
    if (instance.isTracked(reg)) {
      held = step.predicated ? Origins(held).join(value) : value;
      continue;
    }
    if (held == value)
      continue;
    const bool wasKnown = held.isKnown(), grew = joinInto(held, value);
    sweepChanged_ |= grew && (step.late || !alone_);
    // A number that joins a pointer, or two pointers that share a register: telling them apart may prove more. In the
    // last sweep of all, whatever differs from what was there disagrees with it.
    if (refining_ && (alone_ ? wasKnown : !grew) && plan.severalDefinitions[reg] &&
        (held.involved() & (findings_.pointerBits() | kPrivateBits)))
      plan.disagreeing.push_back(reg);
  }
}

void KernelTracer::execute(Instance &instance, const Step &step, uint32_t depth) {
  const AccessPlace place{instance.plan->function, step.instruction};
  const Sources sources(instance, step);
  switch (step.kind) {
  case StepKind::Copy:
    return define(instance, step, sources.join(0));
  case StepKind::Sum:
    return define(instance, step, sources.sum());
  case StepKind::Difference:
    return define(instance, step, sum(sources[0], sources[1].negated()));
  case StepKind::MultiplyAdd:
    return define(instance, step, sum(sources.scaledSum(2), sources[2]));
  case StepKind::Scale:
    return define(instance, step, sources.scaledSum());
  case StepKind::TestLowBits:
    if (recording_)
      findings_.lowBitsTested(sources.join(0));
    return;
  case StepKind::LoadCell:
    return loadCell(instance, step);
  case StepKind::StoreCell:
    return storeCell(instance, step, sources[0]);
  case StepKind::TakeCell:
    noteNamed(instance, step.cell);
    instance.cellWasRead[step.cell] = true;
    for (const CellEntry &entry : instance.cells[step.cell])
      remember(kParamMemory, entry.value);
    return;
  case StepKind::Load:
    noteRead(sources[0], step, place);
    return step.results ? define(instance, step, behind(sources[0], step.space)) : void();
  case StepKind::Store:
    return store(sources[0], sources.stored(), step, place);
  case StepKind::Atomic:
    store(sources[0], sources.stored(), step, place);
    return step.results ? define(instance, step, behind(sources[0], step.space)) : void();
  case StepKind::CopyToGlobal:
    return store(sources[0], contents(kSharedMemory), step, place);
  case StepKind::CopyToShared:
    return noteRead(sources[0], step, place);
  case StepKind::StoreToMap:
    if (recording_) {
      findings_.writesElsewhere();
      findings_.storedToMap(place);
    }
    noteRead(sources[0], step, place); // the map itself
    escape(sources.join(1), &ParameterAccess::stored, place);
    return escape(contents(kSharedMemory), &ParameterAccess::stored, place);
  case StepKind::Unknown:
    unknownOperation(sources.join(0), place);
    return define(instance, step, sum(sources.scaledSum(), Origins::of(kForeign)));
  case StepKind::Call:
    return call(instance, instance.plan->calls[step.cell], step, depth);
  }
}

void KernelTracer::loadCell(Instance &instance, const Step &step) {
  noteNamed(instance, step.cell);
  instance.cellWasRead[step.cell] = true;
  const Cell &cell = instance.cells[step.cell];
  if (instance.plan->isLocalCell(step.cell)) {
    slotsRead_ |= slotBit(kLocalMemory);
    return define(instance, step, loadFrom(cell, step.offset, step.bytes).join(memory_.scattered()));
  }
  if (!cell.empty()) // else a result that is not there yet: the call before it waits for its own arguments
    define(instance, step, loadFrom(cell, step.offset, step.bytes));
}

void KernelTracer::storeCell(Instance &instance, const Step &step, const Origins &value) {
  if (instance.plan->isLocalCell(step.cell)) {
    if (!value.isKnown()) {
      gaveUp_ |= recording_; // computed from registers that nothing sets
      return;
    }
    remember(kLocalMemory, value);
  }
  const bool grew = storeInto(instance.cells[step.cell], step.offset, step.bytes, value);
  sweepChanged_ |= grew && (instance.cellWasRead[step.cell] || !alone_);
}

/// `value` may stand in this private memory from now on. A kernel that calls nothing reads it again only where it has
/// read less.
void KernelTracer::remember(uint32_t slot, const Origins &value) {
  if (memory_.remember(slot, value) && (!alone_ || (slotsRead_ & slotBit(slot))))
    changed_ = sweepChanged_ = true;
}
void KernelTracer::scatter(uint32_t slot, const Origins &value) {
  if (memory_.scatter(slot, value) && (!alone_ || (slotsRead_ & slotBit(slot))))
    changed_ = sweepChanged_ = true;
}

const Origins &KernelTracer::contents(uint32_t slot) {
  slotsRead_ |= slotBit(slot);
  return memory_.at(slot);
}

Origins KernelTracer::behind(const Origins &address, ptx::StateSpace space) {
  slotsRead_ |= kPrivateBits; // or fewer: at worst there is one sweep more
  return memory_.behind(address, space);
}

void KernelTracer::store(const Origins &address, const Origins &value, const Step &step, AccessPlace place) {
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
    findings_.written(address, step, place);
  escape(value, &ParameterAccess::stored, place);
}

void KernelTracer::noteNamed(const Instance &instance, uint32_t cell) {
  if (recording_ && &instance == root_)
    findings_.named(cell);
}

void KernelTracer::noteRead(const Origins &address, const Step &step, AccessPlace place) {
  const bool global = step.space == ptx::StateSpace::Generic || step.space == ptx::StateSpace::Global;
  if (recording_ && global && address.isKnown())
    findings_.read(address, step, place);
}

/// The value goes where the trace does not follow.
void KernelTracer::escape(const Origins &value, MaybePlace ParameterAccess::*how, AccessPlace place) {
  if (!recording_)
    return;
  uint64_t bits = value.involved();
  for (uint32_t slot : kPrivateSlots) // an address takes along what it leads to
    if (bits & slotBit(slot))
      bits |= contents(slot).involved();
  findings_.escaped(bits, how, place);
}

void KernelTracer::unknownOperation(const Origins &value, AccessPlace place) {
  escape(value, &ParameterAccess::passed, place);
  if (recording_)
    findings_.writesElsewhere();
}

} // namespace tenon::linker
