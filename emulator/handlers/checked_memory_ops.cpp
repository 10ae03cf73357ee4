// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/checked_memory_ops.h"

#include "emulator/check/access_check.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/lanes.h"

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

template <uint32_t Bytes, uint32_t Count> void load(Warp &warp, const Decoded &i, uint32_t mask) {
  MemorySpace space = static_cast<MemorySpace>(i.flag);
  int64_t addresses[kLanes];
  uint32_t good = resolveLanes(warp, i, mask, space, Bytes * Count, false, addresses);
  const uint32_t *operands = Count == 1 ? &i.d : vectorOperands(warp, i);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    uint8_t values[Bytes * Count];
    memcpy(values, reinterpret_cast<const void *>(addresses[l]), sizeof values);
    for (uint32_t k = 0; k < Count; ++k)
      if (operands[k] != kNoOperand)
        memcpy(at<uint8_t>(warp, operands[k]) + l * Bytes, values + k * Bytes, Bytes);
  }
}

template <uint32_t Bytes, uint32_t Count> void store(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = Count == 1 ? &i.b : vectorOperands(warp, i);
  uint8_t values[kLanes][Bytes * Count];
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    for (uint32_t k = 0; k < Count; ++k)
      memcpy(values[l] + k * Bytes, at<uint8_t>(warp, operands[k]) + l * Bytes, Bytes);
  }
  storeLanes(warp, i, mask, static_cast<MemorySpace>(i.flag), Bytes * Count, values[0]);
}

template <uint32_t Bytes> Handler handlerOf(bool isStore, uint32_t count) {
  switch (count) {
  case 1:
    return isStore ? &store<Bytes, 1> : &load<Bytes, 1>;
  case 2:
    return isStore ? &store<Bytes, 2> : &load<Bytes, 2>;
  case 4:
    return isStore ? &store<Bytes, 4> : &load<Bytes, 4>;
  case 8:
    return isStore ? &store<Bytes, 8> : &load<Bytes, 8>;
  default:
    return nullptr;
  }
}
Handler handlerOf(bool isStore, uint32_t bytes, uint32_t count) {
  switch (bytes) {
  case 1:
    return handlerOf<1>(isStore, count);
  case 2:
    return handlerOf<2>(isStore, count);
  case 4:
    return handlerOf<4>(isStore, count);
  case 8:
    return handlerOf<8>(isStore, count);
  default:
    return nullptr;
  }
}

} // namespace

// What the quick handlers cannot do, these do not either: a check must not change what a kernel means.
Handler checkedLoadHandler(MemorySpace space, uint32_t bytes, uint32_t count) {
  return handlers().load(space, bytes, count, false) ? handlerOf(false, bytes, count) : nullptr;
}
Handler checkedStoreHandler(MemorySpace space, uint32_t bytes, uint32_t count) {
  return handlers().store(space, bytes, count, false) ? handlerOf(true, bytes, count) : nullptr;
}

} // namespace tenon::emulator
