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

  uint32_t count() const { return count_; }
  const Origins &operator[](uint32_t i) const { return values_[sources_[i]]; }
  Origins join(uint32_t from) const {
    Origins value;
    for (uint32_t i = from; i < count_; ++i)
      value.join((*this)[i]);
    return value;
  }
  /// Any function of them.
  Origins blend(uint32_t from = 0) const {
    Origins value = Origins::number();
    for (uint32_t i = from; i < count_; ++i)
      value = linker::blend(value, (*this)[i]);
    return value;
  }
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

/// Where control goes on, or whether something is done, is decided by this value.
void KernelTracer::steer(const Origins &value, AccessPlace place) {
  if (!recording_)
    return;
  gaveUp_ |= !value.isKnown(); // computed from registers that nothing sets
  findings_.steered(value, place);
}

void KernelTracer::execute(Instance &instance, const Step &step, uint32_t depth) {
  const AccessPlace place{instance.plan->function, step.instruction};
  const Sources sources(instance, step);
  switch (step.kind) {
  case StepKind::Compute:
    return define(instance, step,
                  evaluate(step.transfer, step.sources, [&](uint32_t i) { return sources[i]; }, algebra_));
  case StepKind::SetCarry:
    sweepChanged_ |= joinInto(instance.carry, algebra_.narrowed(sources.blend()));
    return;
  case StepKind::AddCarry:
    return define(instance, step, blend(sources.blend(), instance.carry));
  case StepKind::TestLowBits:
    if (recording_)
      findings_.lowBitsTested(sources.join(0));
    return;
  case StepKind::Steer:
    return steer(sources[0], place);
  case StepKind::LoadCell:
    noteNamed(instance, step.cell);
    // Empty: a result that is not there yet; the call before it waits for its own arguments.
    if (instance.plan->isPlaceCell(step.cell) || !instance.cells[step.cell].empty())
      define(instance, step, loadCell(instance, step));
    instance.cellWasRead[step.cell] = true;
    return;
  case StepKind::StoreCell:
    return storeCell(instance, step, sources[0]);
  case StepKind::TakeCell:
    return takeCell(instance, step);
  case StepKind::Load:
    noteRead(sources[0], step, place);
    return step.results ? define(instance, step, loadBehind(sources[0], step)) : void();
  case StepKind::Store:
    return store(sources[0], sources.stored(), step, place);
  case StepKind::Atomic:
    store(sources[0], sources.stored(), step, place);
    return step.results ? define(instance, step, behind(sources[0], step.space, step.element)) : void();
  case StepKind::CopyToGlobal:
    return copyToGlobal(sources[0], sources.blend(1), step, place);
  case StepKind::CopyToShared:
    return copyToShared(sources[0], sources.blend(1), step, place);
  case StepKind::StoreToMap:
    return storeToMap(sources[0], sources.stored(), step, place);
  case StepKind::SharedProduct:
    return define(instance, step,
                  blend(algebra_.gathered(sources.blend()), contents(kSharedMemory).load(1, algebra_.secrets)));
  case StepKind::TensorLoad:
    slotsRead_ |= slotBit(kFurtherSlots + 1);
    return define(instance, step, blend(sources.blend(), memory_.tensor.load(1, algebra_.secrets)));
  case StepKind::TensorStore: {
    Origins value = algebra_.gathered(sources.blend());
    if (!value.isKnown()) {
      gaveUp_ |= recording_;
      return;
    }
    value.join(contents(kSharedMemory).load(1, algebra_.secrets));
    return note(memory_.tensor.store(1, value, algebra_.secrets), kFurtherSlots + 1);
  }
  case StepKind::Unknown:
    unknownOperation(sources.join(0), place);
    return define(instance, step, Origins(algebra_.gathered(sources.blend())).join(Origins::of(kForeign)));
  case StepKind::Call:
    return call(instance, instance.plan->calls[step.cell], step, depth);
  }
}

} // namespace tenon::linker
