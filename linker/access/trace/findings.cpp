// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/findings.h"

#include <bit>

namespace tenon::linker {

void Findings::reset(size_t parameters, const std::vector<bool> &pointers) {
  clear();
  trace_.parameters.resize(parameters);
  pointerBits_ = 0;
  for (uint32_t i = 0; i < parameters && i < pointers.size(); ++i)
    if (pointers[i])
      pointerBits_ |= slotBit(slotOf(i));
}

void Findings::clear() {
  std::vector<ParameterAccess> parameters = std::move(trace_.parameters);
  parameters.assign(parameters.size(), ParameterAccess());
  trace_ = {};
  trace_.parameters = std::move(parameters);
  soleBases_ = jointBases_ = 0;
}

template <typename Function> void Findings::forEachParameter(uint64_t bits, Function function) {
  const size_t count = trace_.parameters.size();
  for (uint64_t left = bits & (slotBit(kFurtherParameters) - 1); left != 0; left &= left - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(left));
    if (slot >= count)
      return;
    function(trace_.parameters[slot]);
  }
  if (bits & slotBit(kFurtherParameters))
    for (size_t i = kTrackedParameters; i < count; ++i)
      function(trace_.parameters[i]);
}

void Findings::named(uint32_t parameter) {
  if (parameter < trace_.parameters.size())
    trace_.parameters[parameter].named = true;
}

void Findings::noted(uint32_t parameter, const ParameterNote &note) {
  ParameterAccess &access = trace_.parameters[parameter];
  access.named |= note.named;
  access.loadedAsFloat |= note.loadedAsFloat;
  access.soleBase |= note.soleBase;
  access.jointBase |= note.jointBase;
}

void Findings::lowBitsTested(const Origins &value) {
  forEachParameter(value.plus, [](ParameterAccess &access) { access.lowBitsTested = true; });
}

void Findings::addressed(const Origins &address, const Step &step, AccessPlace place) {
  forEachParameter(address.involved() & pointerBits_, [](ParameterAccess &access) { access.addressed = true; });
  const uint64_t bases = address.plus & kParameterBits;
  (std::has_single_bit(bases) && bases != slotBit(kFurtherParameters) ? soleBases_ : jointBases_) |= bases;
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

void Findings::read(const Origins &address, const Step &step, AccessPlace place) {
  addressed(address, step, place);
  if (step.nonCoherent)
    forEachParameter(address.plus & pointerBits_, [&](ParameterAccess &access) {
      if (!access.nonCoherent)
        access.nonCoherent = place;
    });
}

void Findings::written(const Origins &address, const Step &step, AccessPlace place) {
  addressed(address, step, place);
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
    trace_.writesElsewhere = true;
  if ((address.plus & slotBit(kModuleMemory)) && !trace_.writesModule)
    trace_.writesModule = place;
}

void Findings::escaped(uint64_t bits, MaybePlace ParameterAccess::*how, AccessPlace place) {
  forEachParameter(bits & pointerBits_, [&](ParameterAccess &access) {
    access.addressed = true;
    if (!(access.*how))
      access.*how = place;
  });
}

KernelTrace Findings::take() {
  forEachParameter(soleBases_, [](ParameterAccess &access) { access.soleBase = true; });
  forEachParameter(jointBases_, [](ParameterAccess &access) { access.jointBase = true; });
  return std::move(trace_);
}

} // namespace tenon::linker
