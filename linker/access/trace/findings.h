// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel does with the memory behind its parameters, put down while its last sweep goes by.
#pragma once

#include "linker/access/origins.h"
#include "linker/access/parameter_slot.h"
#include "linker/access/plan/plan.h"
#include "linker/access/trace/kernel_trace.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tenon::linker {

class Findings {
public:
  /// For a kernel with these slots, which outlive the trace.
  void reset(const ParameterSlots &slots);

  /// Slots that are declared as pointers.
  uint64_t pointerBits() const { return pointerBits_; }

  void named(uint32_t parameter);
  void noted(uint32_t slot, const SlotNote &note);
  void lowBitsTested(const Origins &value);
  void read(const Origins &address, const Step &step, AccessPlace place);
  void written(const Origins &address, const Step &step, AccessPlace place);
  /// An address of private memory: what was loaded may lead out of it.
  void writtenPrivately(const Origins &address, AccessPlace place) {
    if ((address.involved() & slotBit(kForeign)) && !foreignWrite_)
      foreignWrite_ = place;
  }
  /// Pointers of these slots go where the trace does not follow.
  void escaped(uint64_t bits, MaybePlace SlotAccess::*how, AccessPlace place);
  /// Which instructions run depends on this value.
  void steered(const Origins &value, AccessPlace place);
  /// Some bits of these pointers stand in memory that everybody sees: whatever is loaded from there may tell them.
  void leaked(uint64_t bits) { leaked_ |= bits & pointerBits_; }
  /// @param where what the map holds, if the kernel may have made it
  void storedToMap(AccessPlace place, const Origins &where) {
    if (!trace_.storedToMap)
      trace_.storedToMap = place;
    storedWhere(place, where);
  }
  /// @param map  the address of one of the tensor maps that it tells, or of one that no slot stands for
  void storedToKnownMap(AccessPlace place, const Origins &map);
  void writesElsewhere() { trace_.writesElsewhere = true; }
  void gaveUp() { trace_.gaveUp = true; }
  /// Forgets all that was put down.
  void clear();
  KernelTrace take();

private:
  template <typename Function> void forEachSlot(uint64_t bits, Function function);
  /// A tensor map leads where this tells.
  void storedWhere(AccessPlace place, const Origins &where) {
    escaped(where.involved(), &SlotAccess::maybeWritten, place);
    if ((where.involved() & slotBit(kForeign)) && !foreignWrite_)
      foreignWrite_ = place;
  }
  void addressed(const Origins &address, const Step &step, AccessPlace place);

  void settleLeaks();

  uint64_t pointerBits_ = 0, mapBits_ = 0; // slots that are declared as pointers; that are addresses of tensor maps
  uint64_t leaked_ = 0;
  MaybePlace foreignWrite_, foreignSteer_; // the first write, the first branch that loaded values have a say in
  uint64_t soleBases_ = 0, jointBases_ = 0, choiceBases_ = 0; // SlotAccess::soleBase and so on: slots
  const ParameterSlots *slots_ = nullptr;
  KernelTrace trace_;
};

} // namespace tenon::linker
