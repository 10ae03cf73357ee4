// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a value comes from, as far as pointers go: for every slot (a kernel parameter, or one of a few other sources of
// addresses) the set of coefficients with which its value may stand in a sum.
//
//   ld.param %rd1, [p]            p: {1}
//   add %rd2, %rd1, 16            p: {1}           inside p's buffer
//   sub %rd3, %rd2, %rd1          p: {0}           a distance, no address
//   shl %rd4, %rd1, 2             p: {other}       computed from p, no address that anyone can place
//   selp %rd5, %rd1, %rd6, %q     p: {0, 1}  q: {0, 1}
//
// One bit per slot and coefficient, so that join and sum are a few words of logic for all slots at once. The empty set
// for a slot means "not computed yet"; joins only add bits, which is what makes the fixpoint end.
#pragma once

#include <bit>
#include <cstdint>

namespace tenon::linker {

/// Slots 0 to 55 are kernel parameters, 56 stands for all further ones.
inline constexpr uint32_t kTrackedParameters = 56;
inline constexpr uint32_t kFurtherParameters = 56;
inline constexpr uint32_t kParamMemory = 58; // the address of a parameter itself
inline constexpr uint32_t kLocalMemory = 59; // an address of thread-private memory
inline constexpr uint32_t kSharedMemory = 60;
inline constexpr uint32_t kModuleMemory = 61; // a .global or .const variable
inline constexpr uint32_t kForeign = 62;      // loaded from memory, or returned by an unknown function

/// The slot of a kernel's parameter.
constexpr uint32_t slotOf(uint32_t parameter) {
  return parameter < kTrackedParameters ? parameter : kFurtherParameters;
}
constexpr uint64_t slotBit(uint32_t slot) {
  return uint64_t(1) << slot;
}
inline constexpr uint64_t kParameterBits = slotBit(kFurtherParameters + 1) - 1;
inline constexpr uint64_t kPrivateBits = slotBit(kParamMemory) | slotBit(kLocalMemory) | slotBit(kSharedMemory);

struct Origins {
  uint64_t zero = 0, plus = 0, minus = 0, other = 0;
  bool operator==(const Origins &) const = default;

  /// A number that no slot goes into.
  static constexpr Origins number() { return {~uint64_t(0), 0, 0, 0}; }
  static constexpr Origins of(uint32_t slot) { return {~slotBit(slot), slotBit(slot), 0, 0}; }

  bool isKnown() const { return (zero | plus | minus | other) != 0; }
  bool isNumber() const { return involved() == 0; }
  /// Slots that may go into the value.
  uint64_t involved() const { return plus | minus | other; }
  /// Slots that stand in the value once, on every path.
  uint64_t surely() const { return plus & ~(zero | minus | other); }

  Origins &join(const Origins &b) {
    zero |= b.zero;
    plus |= b.plus;
    minus |= b.minus;
    other |= b.other;
    return *this;
  }
  Origins negated() const { return {zero, minus, plus, other}; }
  /// Through an operation that keeps no sum: a product, a shift, a hash.
  Origins scaled() const { return {zero, 0, 0, plus | minus | other}; }
};

/// A difference of one pointer cancels; not so in the slot that stands for several parameters.
inline Origins sum(const Origins &a, const Origins &b) {
  if (!a.isKnown() || !b.isKnown())
    return {};
  const uint64_t cancelled = (a.plus & b.minus) | (a.minus & b.plus);
  const uint64_t mixed = cancelled & slotBit(kFurtherParameters);
  return {(a.zero & b.zero) | (cancelled & ~mixed), (a.zero & b.plus) | (a.plus & b.zero),
          (a.zero & b.minus) | (a.minus & b.zero), a.other | b.other | (a.plus & b.plus) | (a.minus & b.minus) | mixed};
}

} // namespace tenon::linker
