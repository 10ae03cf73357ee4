// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov between a register and a vector of its parts, lowest first: `list` names the parts, the other operand is `d` or
// `a`. A part that nobody wants is kNoOperand.
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/lanes.h"

namespace tenon::emulator::TENON_LEVEL {
namespace {

template <typename W, typename E> constexpr uint32_t kParts = sizeof(W) / sizeof(E);

template <typename W, typename E> void pack(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  const E *parts[kParts<W, E>];
  for (uint32_t k = 0; k < kParts<W, E>; ++k)
    parts[k] = at<E>(warp, operands[k]);
  forLanes(at<W>(warp, i.d), mask, [=] TENON_LANE(l) {
    uint64_t value = 0;
    for (uint32_t k = 0; k < kParts<W, E>; ++k)
      value |= static_cast<uint64_t>(parts[k][l]) << (8 * sizeof(E) * k);
    return static_cast<W>(value);
  });
}

template <typename W, typename E> void unpack(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  const W *a = at<W>(warp, i.a);
  for (uint32_t k = 0; k < kParts<W, E>; ++k)
    if (operands[k] != kNoOperand)
      forLanes(at<E>(warp, operands[k]), mask,
               [=] TENON_LANE(l) { return static_cast<E>(a[l] >> (8 * sizeof(E) * k)); });
}

template <typename W, typename E> Handler of(bool packs) {
  return packs ? &pack<W, E> : &unpack<W, E>;
}

} // namespace

Handler packHandler(bool packs, uint32_t bytes, uint32_t count) {
  switch (count << 4 | bytes) {
  case 0x22:
    return of<uint16_t, uint8_t>(packs);
  case 0x24:
    return of<uint32_t, uint16_t>(packs);
  case 0x28:
    return of<uint64_t, uint32_t>(packs);
  case 0x44:
    return of<uint32_t, uint8_t>(packs);
  case 0x48:
    return of<uint64_t, uint16_t>(packs);
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator::TENON_LEVEL
