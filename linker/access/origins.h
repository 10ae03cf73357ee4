// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a value tells of each pointer that a kernel has: the lattice that the proof of K-13 stands on. README.md has the
// statement that it proves and says why each function here is sound.
//
// The low 8 bits of a pointer are public. cudaMalloc aligns to 256 bytes, so they say where in its allocation a
// buffer begins, and nothing of where the allocation is; a kernel may do with them what it likes (peel to an alignment,
// choose a path). What is followed is the rest, P = p - p mod 256. A value v has one of eight roles for it:
//
//   none   v does not depend on P
//   plus   v = P + n, exactly, modulo 2^64, where n does not depend on P     p, p + 16, p & -16, (p + 15) & -16
//   minus  v = n - P                                                        -p, ~p, n - p
//   mixed  v depends on P, v mod 256 does not                                p * 3, p << 2, p ^ q, (uint32_t)p
//   few    of P goes into v what one of at most 4096 answers can tell        p < n, p >> 4 & 255 ? x : y
//   index  few, and v < 2^15 as an unsigned number                           p >> 4 & 255
//   near   v = n + h modulo 2^64, where n does not depend on P, h < 2^20     n + (p >> 4 & 255) * 8
//          is few, and no other pointer goes into h
//   part   anything
//
// For every slot (a pointer, another parameter, or one of a few other sources of addresses) a value holds the set of
// roles that it may have. One bit per slot and role, so that join and sum are a few words of logic for all slots at
// once. The empty set for a slot means "not computed yet"; joins only add bits, which is what makes the fixpoint end.
//
// One more slot, kExactPlace, is no source of addresses: a value that has it as `plus` on every path is, bit by bit,
// the address of a place in the kernel's parameters that the text names. What is put down with it says which place, so
// only what copies a value keeps it: in a sum it is mixed.
#pragma once

#include <bit>
#include <cstdint>

namespace tenon::linker {

/// Slots 0 to 55 are those that the caller asks for (parameter_slot.h), 56 stands for all further ones.
inline constexpr uint32_t kTrackedSlots = 56;
inline constexpr uint32_t kFurtherSlots = 56;
inline constexpr uint32_t kParamMemory = 58; // the address of a parameter itself
inline constexpr uint32_t kLocalMemory = 59; // an address of thread-private memory
inline constexpr uint32_t kSharedMemory = 60;
inline constexpr uint32_t kModuleMemory = 61; // a .global or .const variable
inline constexpr uint32_t kForeign = 62;      // loaded from memory, or returned by an unknown function
inline constexpr uint32_t kExactPlace = 63;   // nothing but the address of a place in the parameters

/// The bit of a slot that was asked for.
constexpr uint32_t slotOf(uint32_t asked) {
  return asked < kTrackedSlots ? asked : kFurtherSlots;
}
constexpr uint64_t slotBit(uint32_t slot) {
  return uint64_t(1) << slot;
}
inline constexpr uint64_t kParameterBits = slotBit(kFurtherSlots + 1) - 1;
inline constexpr uint64_t kPrivateBits = slotBit(kParamMemory) | slotBit(kLocalMemory) | slotBit(kSharedMemory);
/// Slots of which every value is the same P: only their differences cancel.
inline constexpr uint64_t kSinglePointers = slotBit(kFurtherSlots) - 1;

inline constexpr uint64_t kExact = slotBit(kExactPlace);

/// Bits of a pointer that are public, as a mask.
inline constexpr uint64_t kPublicBits = 255;
/// As many bits as a value may take from a pointer and be `few`: one of 4096 answers.
inline constexpr int kFewBits = 12;
/// An index has at most these bits, and is `near` when it is multiplied by at most this number.
inline constexpr uint64_t kIndexMask = (1 << 15) - 1;
inline constexpr uint64_t kLargestScale = 32;

struct Origins {
  uint64_t none = 0, plus = 0, minus = 0, mixed = 0, few = 0, index = 0, near = 0, part = 0;
  bool operator==(const Origins &) const = default;

  /// A number that no slot goes into.
  static constexpr Origins number() { return {.none = ~uint64_t(0)}; }
  static constexpr Origins of(uint32_t slot) { return {.none = ~slotBit(slot), .plus = slotBit(slot)}; }
  /// Anything made of these slots, or a number.
  static constexpr Origins partOf(uint64_t slots) { return {.none = ~uint64_t(0), .part = slots}; }

  bool isKnown() const { return (none | involved()) != 0; }
  bool isNumber() const { return involved() == 0; }
  /// Slots that may go into the value.
  uint64_t involved() const { return plus | minus | mixed | little() | part; }
  /// Those of which one of at most 4096 answers goes into it.
  uint64_t little() const { return few | index | near; }
  /// Slots of which it may tell more than that: what it takes to aim at their memory.
  uint64_t aimed() const { return plus | minus | mixed | part; }
  /// Slots that stand in the value once, on every path.
  uint64_t surely() const { return plus & ~(none | minus | mixed | little() | part); }

  Origins &join(const Origins &b) {
    none |= b.none;
    plus |= b.plus;
    minus |= b.minus;
    mixed |= b.mixed;
    few |= b.few;
    index |= b.index;
    near |= b.near;
    part |= b.part;
    return *this;
  }
  Origins negated() const {
    return Origins{
        .none = none, .plus = minus, .minus = plus, .mixed = mixed, .few = few, .near = index | near, .part = part}
        .inexact();
  }
  /// The same but for a number that may have been added.
  Origins inexact() const {
    Origins value = *this;
    value.mixed |= (plus | minus) & kExact;
    value.plus &= ~kExact;
    value.minus &= ~kExact;
    return value;
  }
  /// Times a number from 1 to kLargestScale.
  Origins scaled() const {
    return {.none = none, .mixed = plus | minus | mixed, .few = few | near, .near = index, .part = part};
  }
  /// With some of its low 8 bits changed to public ones.
  Origins adjusted() const {
    Origins value = inexact();
    value.few |= value.near;
    value.near = 0;
    return value;
  }
};

/// a + b modulo 2^64. A difference of one pointer cancels; not so where a slot stands for several.
inline Origins sum(const Origins &a, const Origins &b) {
  if (!a.isKnown() || !b.isKnown())
    return {};
  const uint64_t opposite = (a.plus & b.minus) | (a.minus & b.plus), cancelled = opposite & kSinglePointers;
  const uint64_t wholeA = a.plus | a.minus | a.mixed, wholeB = b.plus | b.minus | b.mixed;
  return Origins{.none = (a.none & b.none) | cancelled,
                 .plus = (a.none & b.plus) | (a.plus & b.none),
                 .minus = (a.none & b.minus) | (a.minus & b.none),
                 .mixed = (a.none & b.mixed) | (a.mixed & b.none) | (opposite & ~cancelled) | (a.plus & b.plus) |
                          (a.minus & b.minus) | (a.mixed & wholeB) | (wholeA & b.mixed),
                 .few = (a.none & b.few) | (a.few & b.none),
                 .near = (a.none & (b.index | b.near)) | ((a.index | a.near) & b.none),
                 .part = (a.none & b.part) | (a.part & b.none) | (a.part & b.involved()) | (a.involved() & b.part) |
                         (a.little() & b.involved()) | (a.involved() & b.little())}
      .inexact();
}

/// A function of a and b of whose result the low 8 bits depend on their low 8 bits only: a product, a bitwise one.
inline Origins mix(const Origins &a, const Origins &b) {
  if (!a.isKnown() || !b.isKnown())
    return {};
  const uint64_t wholeA = a.plus | a.minus | a.mixed, wholeB = b.plus | b.minus | b.mixed;
  return {.none = a.none & b.none,
          .mixed = (a.none & wholeB) | (wholeA & b.none) | (wholeA & wholeB),
          .few = (a.none & b.little()) | (a.little() & b.none),
          .part = (a.none & b.part) | (a.part & b.none) | (a.part & b.involved()) | (a.involved() & b.part) |
                  (a.little() & b.involved()) | (a.involved() & b.little())};
}

/// Any function of a and b.
inline Origins blend(const Origins &a, const Origins &b) {
  if (!a.isKnown() || !b.isKnown())
    return {};
  return {.none = a.none & b.none,
          .few = (a.none & b.little()) | (a.little() & b.none),
          .part = (a.none & b.aimed()) | (a.aimed() & b.none) | (a.involved() & b.involved())};
}

/// low | high << k, for a k of 8 or more and bits of `low` below it.
inline Origins pack(const Origins &low, const Origins &high) {
  if (!low.isKnown() || !high.isKnown())
    return {};
  const uint64_t whole = low.plus | low.minus | low.mixed;
  return {.none = low.none & high.none,
          .mixed = (low.none & high.aimed()) | (whole & high.none) | (whole & high.involved()),
          .few = (low.none & high.little()) | ((low.few | low.near) & high.none),
          .near = low.index & high.none,
          .part = (low.part & high.none) | ((low.little() | low.part) & high.involved())};
}

/// `value`, chosen from several by something that tells what `choice` does.
inline Origins select(const Origins &value, const Origins &choice) {
  if (!value.isKnown() || !choice.isKnown())
    return {};
  return {.none = value.none & choice.none,
          .plus = value.plus & choice.none,
          .minus = value.minus & choice.none,
          .mixed = value.mixed & choice.none,
          .few = (value.few & choice.none) | (value.none & choice.little()),
          .index = value.index & choice.none,
          .near = value.near & choice.none,
          .part = (value.part & choice.none) | (value.none & choice.aimed()) | (value.involved() & choice.involved())};
}

/// An address of the slots of `place`, and beyond that what `value` is: cvta of a window's offset.
inline Origins within(const Origins &value, const Origins &place) {
  if (!value.isKnown())
    return {};
  const uint64_t slots = place.plus;
  const Origins address = {.none = value.none & ~slots,
                           .plus = value.plus | slots,
                           .minus = value.minus & ~slots,
                           .mixed = value.mixed & ~slots,
                           .few = value.few & ~slots,
                           .near = (value.index | value.near) & ~slots,
                           .part = value.part & ~slots};
  return slots == slotBit(kParamMemory) ? address : address.inexact();
}

/// Which slots are pointers, and what is lost of a value that is cut. Other parameters are numbers; of them it is told
/// where they stand in a sum, which K-14 asks, and no more.
struct Secrets {
  uint64_t pointers = 0;

  uint64_t asked() const { return pointers | slotBit(kForeign); }
  uint64_t whole() const { return pointers | kPrivateBits | kExact; }

  /// Of at most 4096 values.
  Origins narrowed(const Origins &v) const {
    const uint64_t some = v.involved();
    return {.none = v.none | (some & ~asked()), .few = some & asked()};
  }
  /// The same, below 2^15. Of several pointers together it is no index: it could tell how far they are apart.
  Origins indexed(const Origins &v) const {
    Origins few = narrowed(v);
    const uint64_t some = few.few & pointers;
    few.index = std::has_single_bit(some) ? some & kSinglePointers : 0;
    few.few &= ~few.index;
    return few;
  }
  /// Its low bytes, 2 or more.
  Origins truncated(const Origins &v) const {
    const uint64_t some = (v.plus | v.minus) & (pointers | kExact);
    return {.none = v.none,
            .plus = v.plus & ~some,
            .minus = v.minus & ~some,
            .mixed = v.mixed | some,
            .few = v.few | v.near,
            .index = v.index,
            .part = v.part};
  }
  /// Some of its low 8 bits.
  Origins lowByte(const Origins &v) const { return narrowed(withoutWhole(v)); }
  /// The same, as an unsigned number.
  Origins lowIndex(const Origins &v) const { return indexed(withoutWhole(v)); }
  /// Of several threads together.
  Origins gathered(const Origins &v) const { return reduced(v, pointers | kExact); }
  /// Some of its bytes, perhaps beside others.
  Origins cut(const Origins &v) const { return reduced(v, whole()); }
  /// What it tells to read at this address: where the address is no pointer and a number, the place depends on it.
  Origins told(const Origins &address) const {
    const uint64_t part = (address.minus | address.mixed | address.part) & pointers, few = address.little() & pointers;
    return {.none = ~(part | few) | address.none | address.plus, .few = few, .part = part};
  }
  bool tells(const Origins &address) const {
    return (address.minus | address.mixed | address.part | address.little()) & pointers;
  }

private:
  /// Of these slots anything may be left.
  static Origins reduced(const Origins &v, uint64_t slots) {
    const uint64_t some = v.involved() & slots;
    return {.none = v.none,
            .plus = v.plus & ~some,
            .minus = v.minus & ~some,
            .mixed = v.mixed & ~some,
            .few = v.few & ~some,
            .index = v.index & ~some,
            .near = v.near & ~some,
            .part = v.part | some};
  }
  /// The low 8 bits of these roles are public.
  Origins withoutWhole(Origins v) const {
    const uint64_t all = (v.plus | v.minus | v.mixed) & pointers;
    v.none |= all;
    v.plus &= ~all;
    v.minus &= ~all;
    v.mixed &= ~all;
    return v;
  }
};

} // namespace tenon::linker
