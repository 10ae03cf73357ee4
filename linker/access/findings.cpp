#include "linker/access/findings.h"

#include <bit>

namespace tenon::linker {

Findings::Findings(size_t parameters, const std::vector<bool> &pointers) {
  trace_.parameters.resize(parameters);
  for (uint32_t i = 0; i < parameters && i < pointers.size(); ++i)
    if (pointers[i])
      pointerBits_ |= slotBit(slotOf(i));
}

template <typename Function> void Findings::forEachParameter(uint64_t bits, Function function) {
  if (bits == 0)
    return;
  for (uint32_t i = 0; i < trace_.parameters.size(); ++i)
    if (bits & slotBit(slotOf(i)))
      function(trace_.parameters[i]);
}

void Findings::named(uint32_t parameter) {
  if (parameter < trace_.parameters.size())
    trace_.parameters[parameter].named = true;
}

void Findings::lowBitsTested(const Origins &value) {
  forEachParameter(value.plus, [](ParameterAccess &access) { access.lowBitsTested = true; });
}

void Findings::addressed(const Origins &address, const Step &step, AccessPlace place) {
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

void Findings::escaped(uint64_t bits, std::optional<AccessPlace> ParameterAccess::*how, AccessPlace place) {
  forEachParameter(bits & pointerBits_, [&](ParameterAccess &access) {
    access.addressed = true;
    if (!(access.*how))
      access.*how = place;
  });
}

} // namespace tenon::linker
