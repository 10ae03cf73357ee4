// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that touch memory: what stands in it, and what is put down of an access.
#include "linker/access/trace/kernel_tracer.h"

#include <utility>

namespace tenon::linker {

/// Beyond the bytes of a variable the others of its memory stand, nobody knows which.
static bool isInside(const Plan &plan, uint32_t cell, int64_t offset, uint32_t bytes) {
  return offset >= 0 && uint64_t(offset) + bytes <= plan.cellBytes[cell];
}

/// What stands in a cell. Of the variables of a kernel functions know some places, too.
const Cell &KernelTracer::cellOf(const Instance &instance, uint32_t cell) const {
  return isTaken(instance, cell) ? taken_[cell] : instance.cells[cell];
}

bool KernelTracer::isTaken(const Instance &instance, uint32_t cell) const {
  return &instance == root_ && !entry_->placeSlots.empty() && entry_->isPlaceCell(cell);
}

void KernelTracer::storeTaken(uint32_t cell, int64_t offset, uint32_t bytes, const Origins &value) {
  if (storeInto(taken_[cell], offset, bytes, value))
    changed_ = sweepChanged_ = true;
}

/// The places that an address means one of, if it surely does; all `bytes` behind it are within their variables.
std::vector<VariablePlace> KernelTracer::placesBehind(const Origins &address, const Step &step) const {
  std::vector<VariablePlace> places;
  const bool isLocal = step.space == ptx::StateSpace::Local || step.space == ptx::StateSpace::Generic;
  if (!isLocal || !(address.surely() & kExact) || !(address.surely() & slotBit(kLocalMemory)) || step.element == 0 ||
      (address.involved() & algebra_.secrets.asked()))
    return places;
  for (uint32_t i = 0; i < entry_->placeSlots.size(); ++i)
    if (address.plus & slotBit(entry_->firstPlaceSlot + i)) {
      places.push_back(entry_->placeSlots[i].plus(static_cast<uint64_t>(step.offset)));
      if (!isInside(*entry_, places.back().cell, places.back().offset, step.bytes))
        return {};
    }
  return places;
}

/// What stands behind an address, and may be a struct in a variable of the kernel.
Origins KernelTracer::loadBehind(const Origins &address, const Step &step) {
  const std::vector<VariablePlace> places = placesBehind(address, step);
  if (places.empty())
    return behind(address, step.space, step.element);
  const Secrets &secrets = algebra_.secrets;
  const MemoryContents &anywhere = memory_.scattered(kLocalMemory);
  slotsRead_ |= slotBit(kLocalMemory);
  Origins value = anywhere.load(step.element, secrets);
  for (const VariablePlace &place : places) {
    const Cell &cell = taken_[place.cell];
    value.join(anywhere.over(step.bytes == step.element
                                 ? loadFrom(cell, place.offset, step.bytes, secrets)
                                 : loadSomewhere(cell, place.offset, step.bytes, step.element, secrets),
                             secrets));
  }
  return value;
}

/// A store to places of the kernel's variables. False: it may go anywhere.
bool KernelTracer::storeBehind(const Origins &address, const Origins &stored, const Step &step) {
  if (step.kind != StepKind::Store)
    return false;
  const std::vector<VariablePlace> places = placesBehind(address, step);
  const Origins value = keptIn(step.element, stored);
  for (const VariablePlace &place : places)
    for (uint32_t at = 0; at < step.bytes; at += step.element)
      storeTaken(place.cell, place.offset + at, step.element, value);
  if (!places.empty())
    remember(kLocalMemory, step.element, value);
  return !places.empty();
}

/// What is left of a value in so many bytes.
Origins KernelTracer::keptIn(uint32_t bytes, const Origins &stored) const {
  constexpr uint32_t kPointerBytes = 8;
  Origins value = bytes < kPointerBytes ? algebra_.secrets.truncated(stored) : stored;
  if (bytes == 1) { // a byte that is loaded may have a sign
    value.few |= value.index;
    value.index = 0;
  }
  return value;
}

Origins KernelTracer::loadCell(Instance &instance, const Step &step) {
  const uint32_t cell = step.cell, bytes = step.bytes;
  const int64_t offset = step.offset;
  const Plan &plan = *instance.plan;
  const uint32_t slot = plan.slotOfCell(cell);
  const Secrets &secrets = algebra_.secrets;
  slotsRead_ |= slotBit(slot);
  if (isInside(plan, cell, offset, bytes) && !step.mayBeBlank) {
    const MemoryContents &anywhere = memory_.scattered(slot);
    if (step.isSomewhere)
      return anywhere.over(loadSomewhere(cellOf(instance, cell), offset, bytes, step.element, secrets), secrets)
          .join(anywhere.load(step.element, secrets));
    Origins value = anywhere.over(loadFrom(cellOf(instance, cell), offset, bytes, secrets), secrets);
    if (slot == kParamMemory && !alone_ && !isStored(instance.cells[cell], offset, bytes))
      value.join(Origins::partOf(secrets.pointers)); // what another call has left there
    return step.isFilled && !memory_.isScattered(slot) ? value : value.join(anywhere.load(bytes, secrets));
  }
  Origins value = memory_.at(slot).load(bytes, secrets);
  for (uint32_t other = 0; slot == kParamMemory && other < plan.firstPlaceCell; ++other) {
    instance.cellWasRead[other] = true;
    value.join(loadAnywhere(instance.cells[other], secrets));
  }
  return value;
}

void KernelTracer::storeCell(Instance &instance, const Step &step, const Origins &stored) {
  const Plan &plan = *instance.plan;
  const uint32_t slot = plan.slotOfCell(step.cell);
  if (plan.isPlaceCell(step.cell) && !stored.isKnown()) {
    gaveUp_ |= recording_; // computed from registers that nothing sets
    return;
  }
  const Origins value = keptIn(step.bytes, step.isSomewhere ? algebra_.secrets.cut(stored) : stored);
  if (!isInside(plan, step.cell, step.offset, step.bytes))
    scatter(slot, step.bytes, value);
  else if (plan.isPlaceCell(step.cell))
    remember(slot, step.bytes, value);
  if (isTaken(instance, step.cell))
    return storeTaken(step.cell, step.offset, step.bytes, value);
  const bool grew = storeInto(instance.cells[step.cell], step.offset, step.bytes, value);
  sweepChanged_ |= grew && (instance.cellWasRead[step.cell] || !alone_);
}

/// The address of a parameter, or of a .param variable, leads to its neighbours as well.
void KernelTracer::takeCell(Instance &instance, const Step &step) {
  noteNamed(instance, step.cell);
  for (uint32_t cell = 0; cell < instance.plan->firstPlaceCell; ++cell) {
    instance.cellWasRead[cell] = true;
    for (const CellEntry &entry : instance.cells[cell])
      remember(kParamMemory, static_cast<uint32_t>(entry.bytes), entry.value);
  }
}

/// Something may stand in this private memory from now on. A kernel that calls nothing reads it again only where it has
/// read less.
void KernelTracer::note(bool isNew, uint32_t slot) {
  if (isNew && (!alone_ || (slotsRead_ & slotBit(slot))))
    changed_ = sweepChanged_ = true;
}
void KernelTracer::remember(uint32_t slot, uint32_t bytes, const Origins &value) {
  note(memory_.remember(slot, bytes, value), slot);
}
void KernelTracer::scatter(uint32_t slot, uint32_t bytes, const Origins &value) {
  note(memory_.scatter(slot, bytes, value), slot);
}

const MemoryContents &KernelTracer::contents(uint32_t slot) {
  slotsRead_ |= slotBit(slot);
  return memory_.at(slot);
}

Origins KernelTracer::behind(const Origins &address, ptx::StateSpace space, uint32_t bytes) {
  slotsRead_ |= kPrivateBits; // or fewer: at worst there is one sweep more
  return memory_.behind(address, space, bytes);
}

/// A store tells as well where it goes: whoever looks finds the place that has changed.
void KernelTracer::store(const Origins &address, const Origins &value, const Step &step, AccessPlace place) {
  if (!address.isKnown() || !value.isKnown()) {
    gaveUp_ |= recording_; // computed from registers that nothing sets
    return;
  }
  const Secrets &secrets = algebra_.secrets;
  Origins told = Origins::partOf(address.involved() & secrets.pointers);
  if (step.kind == StepKind::Atomic) // of many threads, one upon the other
    told.join(secrets.gathered(value));
  auto put = [&](uint32_t slot) {
    scatter(slot, step.element, value);
    if (told.involved())
      scatter(slot, step.element, told);
  };
  if (storeBehind(address, value, step)) {
    if (recording_ && step.space == ptx::StateSpace::Generic)
      findings_.writtenPrivately(address, place);
    return;
  }
  switch (step.space) {
  case ptx::StateSpace::Local:
    return put(kLocalMemory);
  case ptx::StateSpace::Shared:
    return put(kSharedMemory);
  case ptx::StateSpace::Param:
    return put(kParamMemory);
  case ptx::StateSpace::Generic:
  case ptx::StateSpace::Reg:
  case ptx::StateSpace::Sreg:
  case ptx::StateSpace::Const:
  case ptx::StateSpace::Global:
  case ptx::StateSpace::Tex:
    break;
  }
  if (step.space == ptx::StateSpace::Generic) {
    for (uint32_t slot : kPrivateSlots)
      if ((address.aimed() & slotBit(slot)) || ((address.aimed() & slotBit(kForeign)) && memory_.isLoadable(slot)))
        put(slot);
    if ((address.surely() & kPrivateBits) && ((address.aimed() | address.few) & secrets.pointers) == 0) {
      if (recording_)
        findings_.writtenPrivately(address, place);
      return;
    }
  }
  if (recording_)
    findings_.written(address, step, place);
  escape(value, &SlotAccess::stored, place);
}

/// Which bytes of shared memory go there tells what their address does.
void KernelTracer::copyToGlobal(const Origins &to, const Origins &from, const Step &step, AccessPlace place) {
  const Origins value = contents(kSharedMemory).all();
  store(to, from.isKnown() ? select(value, algebra_.secrets.told(from)) : from, step, place);
}

/// A map says where to: one that the kernel has made itself leads where it was told, one that it was passed where the
/// caller wants, and a described one to its binding.
void KernelTracer::storeToMap(const Origins &map, const Origins &value, const Step &step, AccessPlace place) {
  if (!map.isKnown() || !value.isKnown()) {
    gaveUp_ |= recording_;
    return;
  }
  const bool isPassed = (map.surely() & kExact) && (map.surely() & slotBit(kParamMemory)) && step.offset == 0;
  const Origins where = isPassed ? map : behind(map, ptx::StateSpace::Generic, 8);
  noteRead(map, step, place);
  escape(value, &SlotAccess::stored, place);
  escape(contents(kSharedMemory).all(), &SlotAccess::stored, place);
  if (!recording_)
    return;
  findings_.writesElsewhere();
  isPassed ? findings_.storedToKnownMap(place, map) : findings_.storedToMap(place, where);
}

/// An asynchronous copy puts into shared memory what is read, byte by byte.
void KernelTracer::copyToShared(const Origins &from, const Origins &how, const Step &step, AccessPlace place) {
  noteRead(from, step, place);
  if (step.space == ptx::StateSpace::Shared) { // whole words, since it moves 16 bytes at a time
    scatter(kSharedMemory, 8, contents(kSharedMemory).load(8, algebra_.secrets));
    scatter(kSharedMemory, 1, contents(kSharedMemory).load(1, algebra_.secrets));
  }
  if (!from.isKnown() || !how.isKnown()) {
    gaveUp_ |= recording_;
    return;
  }
  const Origins told =
      Origins::partOf((how.involved() | algebra_.secrets.told(from).involved()) & algebra_.secrets.pointers);
  scatter(kSharedMemory, 1, Origins::of(kForeign));
  scatter(kSharedMemory, 1, told);
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

/// The value goes where the trace does not follow. Little of a pointer may go: then what is loaded may tell it.
void KernelTracer::escape(const Origins &value, MaybePlace SlotAccess::*how, AccessPlace place) {
  uint64_t bits = value.aimed(), few = value.little();
  if ((bits & slotBit(kParamMemory)) && !std::exchange(memory_.parametersEscaped, true))
    changed_ = sweepChanged_ = true;
  for (uint32_t slot : kPrivateSlots) // an address takes along what it leads to
    if (bits & slotBit(slot))
      bits |= contents(slot).involved();
  if (!recording_)
    return;
  findings_.escaped(bits, how, place);
  if (how == &SlotAccess::stored)
    findings_.leaked(few);
  else
    findings_.escaped(few, how, place);
}

void KernelTracer::unknownOperation(const Origins &value, AccessPlace place) {
  escape(value, &SlotAccess::passed, place);
  if (recording_)
    findings_.writesElsewhere();
}

} // namespace tenon::linker
