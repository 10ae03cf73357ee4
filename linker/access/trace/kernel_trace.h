// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel does with the memory behind each slot of its parameters (parameter_slot.h): the answer of the trace
// (kernel_tracer.h). Rules K-13 and K-14 are decided on it.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::linker {

struct AccessPlace {
  uint32_t function = 0; // into Module::functions: the kernel, or a function that it calls
  uint32_t instruction = 0;
};

/// A place, or none: there are many of them, and most are none.
class MaybePlace {
public:
  MaybePlace() = default;
  MaybePlace(AccessPlace place) : place_(place) {}
  explicit operator bool() const { return place_.function != kNone; }
  const AccessPlace &operator*() const { return place_; }
  const AccessPlace *operator->() const { return &place_; }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  AccessPlace place_ = {kNone, 0};
};

/// What is done with one slot. A place is that of the first such instruction, in the order of the body. Of the address
/// of a tensor map: `written` and `maybeWritten` are stores through it.
struct SlotAccess {
  bool named = false;         // some instruction reads it
  bool addressed = false;     // it is, or may be, the base of an address
  bool lowBitsTested = false; // `and` with a small mask: the kernel looks at its alignment itself
  bool loadedAsFloat = false; // ld.param.f32 and the like
  bool soleBase = false;      // base of an address, also of a converted one, into which no other slot goes
  bool jointBase = false;     // base of an address together with another slot
  bool choiceBase = false;    // one of several slots of which an address has at most one as its base, mostly
  uint32_t widestBytes = 0;
  MaybePlace written;        // memory behind it surely is the target of this instruction
  MaybePlace maybeWritten;   // an address of a write may derive from it, or from another slot
  MaybePlace stored;         // the pointer itself is stored to memory
  MaybePlace passed;         // the pointer is passed to code that is not here
  MaybePlace steers;         // which instructions run depends on its bits
  MaybePlace nonCoherent;    // ld.global.nc
  MaybePlace aloneInAddress; // base of an address that derives from no pointer
  MaybePlace widest;         // the widest access, where it is wider than 8 bytes
};

struct KernelTrace {
  std::vector<SlotAccess> slots; // as they were asked for
  MaybePlace writesModule;       // a variable of the module is, or may be, written here
  bool gaveUp = false;           // too deep, or no fixpoint in bounds: every access is unknown
  bool writesElsewhere = false;  // memory that no parameter leads to, or nobody knows which
  MaybePlace storedToMap;        // a write through a surface, or a tensor map, any one
};

} // namespace tenon::linker
