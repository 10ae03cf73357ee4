// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red: one lane after the other, in lane order, so that results are the same in every run. Where blocks of
// a launch do not run at once a plain read-modify-write is atomic. A single-precision add in global memory flushes
// subnormals on the way in and out, one in shared memory keeps them, as on devices.
#include "emulator/check/lane_addresses.h"
#include "emulator/machine/half_value.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/lanes.h"
#include "emulator/memory/cell.h"

#include <type_traits>

namespace tenon::emulator {
namespace {

using ptx::ScalarType;
using TENON_LEVEL::at;

/// Host addresses of the lanes that may be accessed.
template <uint32_t Size> uint32_t lanesAddressed(Warp &warp, const Decoded &i, uint32_t mask, int64_t *addresses) {
  return static_cast<MemorySpace>(i.flag) == MemorySpace::Shared
             ? TENON_LEVEL::hostAddresses<MemorySpace::Shared, Size>(warp, i, mask, true, addresses)
             : TENON_LEVEL::hostAddresses<MemorySpace::Generic, Size>(warp, i, mask, true, addresses);
}

template <typename T, AtomicOp Op> inline T combine(T old, T b, T c) {
  switch (Op) {
  case AtomicOp::Add:
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return old + b;
  case AtomicOp::Inc:
    return old >= b ? T(0) : static_cast<T>(old + T(1));
  case AtomicOp::Dec:
    return old == T(0) || old > b ? b : static_cast<T>(old - T(1));
  case AtomicOp::Min:
    return b < old ? b : old;
  case AtomicOp::Max:
    return b > old ? b : old;
  case AtomicOp::Exch:
    return b;
  case AtomicOp::Cas:
    return old == b ? c : old;
  case AtomicOp::And:
  case AtomicOp::Or:
  case AtomicOp::Xor:
    if constexpr (std::is_integral_v<T>)
      return Op == AtomicOp::And ? old & b : Op == AtomicOp::Or ? old | b : old ^ b;
    return old;
  }
  return old;
}

/// Other blocks run now and may do the same there: not in the block's own shared memory, nobody else runs it.
struct Contention {
  explicit Contention(const Warp &warp, const Decoded &i)
      : others(warp.executor->shared && static_cast<MemorySpace>(i.flag) != MemorySpace::Shared),
        shared(reinterpret_cast<int64_t>(warp.shared)), sharedEnd(warp.sharedEnd) {}
  bool at(int64_t host) const { return others && static_cast<uint64_t>(host - shared) >= sharedEnd; }
  const bool others;
  const int64_t shared;
  const uint64_t sharedEnd;
};

/// What one instruction of the processor does: under contention far quicker than asking again and again.
template <typename T, AtomicOp Op>
inline constexpr bool kIsNative =
    std::is_integral_v<T> &&
    (Op == AtomicOp::Add || Op == AtomicOp::And || Op == AtomicOp::Or || Op == AtomicOp::Xor || Op == AtomicOp::Exch);
template <typename T, AtomicOp Op> inline T native(T *cell, T value) {
  switch (Op) {
  case AtomicOp::Add:
    return __atomic_fetch_add(cell, value, __ATOMIC_ACQ_REL);
  case AtomicOp::And:
    return __atomic_fetch_and(cell, value, __ATOMIC_ACQ_REL);
  case AtomicOp::Or:
    return __atomic_fetch_or(cell, value, __ATOMIC_ACQ_REL);
  case AtomicOp::Xor:
    return __atomic_fetch_xor(cell, value, __ATOMIC_ACQ_REL);
  default:
    return __atomic_exchange_n(cell, value, __ATOMIC_ACQ_REL);
  }
}

template <typename T, AtomicOp Op> void atomic(Warp &warp, const Decoded &i, uint32_t mask) {
  int64_t addresses[kLanes];
  uint32_t good = lanesAddressed<sizeof(T)>(warp, i, mask, addresses);
  const Contention contention(warp, i);
  const T *b = at<T>(warp, i.b);
  const T *c = Op == AtomicOp::Cas ? at<T>(warp, i.c) : b;
  T *d = i.d == kNoOperand ? nullptr : at<T>(warp, i.d);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    T *cell = reinterpret_cast<T *>(addresses[l]);
    bool contended = contention.at(addresses[l]);
    T old;
    if constexpr (kIsNative<T, Op>)
      old = contended ? native<T, Op>(cell, b[l])
                      : replaceCell(cell, false, [&](T value) { return combine<T, Op>(value, b[l], c[l]); });
    else
      old = replaceCell(cell, contended, [&](T value) { return combine<T, Op>(value, b[l], c[l]); });
    if (d)
      d[l] = old;
  }
}

void atomicAddSingle(Warp &warp, const Decoded &i, uint32_t mask) {
  int64_t addresses[kLanes];
  uint32_t good = lanesAddressed<sizeof(float)>(warp, i, mask, addresses);
  const Contention contention(warp, i);
  const float *b = at<float>(warp, i.b);
  float *d = i.d == kNoOperand ? nullptr : at<float>(warp, i.d);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    // Where a generic address led to is seen by the block's own memory.
    bool inBlock = static_cast<uint64_t>(addresses[l] - reinterpret_cast<int64_t>(warp.shared)) < warp.sharedEnd;
    float old = replaceCell(reinterpret_cast<float *>(addresses[l]), contention.at(addresses[l]),
                            [&](float value) { return addSingle(value, b[l], !inBlock); });
    if (d)
      d[l] = old;
  }
}

/// f16, bf16 and their pairs: Count elements of 16 bits, each on its own.
template <typename Convert, uint32_t Count> void atomicHalf(Warp &warp, const Decoded &i, uint32_t mask) {
  int64_t addresses[kLanes];
  uint32_t good = lanesAddressed<2 * Count>(warp, i, mask, addresses);
  const Contention contention(warp, i);
  const uint16_t *b = at<uint16_t>(warp, i.b);
  uint16_t *d = i.d == kNoOperand ? nullptr : at<uint16_t>(warp, i.d);
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    uint16_t *cell = reinterpret_cast<uint16_t *>(addresses[l]);
    for (uint32_t k = 0; k < Count; ++k) {
      uint16_t addend = b[l * Count + k];
      uint16_t old = replaceCell(&cell[k], contention.at(addresses[l]), [&](uint16_t value) {
        return Convert::narrow(Convert::widen(value) + Convert::widen(addend));
      });
      if (d)
        d[l * Count + k] = old;
    }
  }
}
template <typename U, typename S> Handler integerAtomic(AtomicOp op, bool isSigned) {
  switch (op) {
  case AtomicOp::Add:
    return &atomic<U, AtomicOp::Add>;
  case AtomicOp::Inc:
    return sizeof(U) == 4 && !isSigned ? &atomic<U, AtomicOp::Inc> : nullptr;
  case AtomicOp::Dec:
    return sizeof(U) == 4 && !isSigned ? &atomic<U, AtomicOp::Dec> : nullptr;
  case AtomicOp::Min:
    return isSigned ? &atomic<S, AtomicOp::Min> : &atomic<U, AtomicOp::Min>;
  case AtomicOp::Max:
    return isSigned ? &atomic<S, AtomicOp::Max> : &atomic<U, AtomicOp::Max>;
  case AtomicOp::And:
    return &atomic<U, AtomicOp::And>;
  case AtomicOp::Or:
    return &atomic<U, AtomicOp::Or>;
  case AtomicOp::Xor:
    return &atomic<U, AtomicOp::Xor>;
  case AtomicOp::Exch:
    return &atomic<U, AtomicOp::Exch>;
  case AtomicOp::Cas:
    return &atomic<U, AtomicOp::Cas>;
  }
  return nullptr;
}

} // namespace

Handler atomicHandler(AtomicOp op, ScalarType type) {
  switch (type) {
  case ScalarType::B16:
    return op == AtomicOp::Cas ? &atomic<uint16_t, AtomicOp::Cas> : nullptr;
  case ScalarType::B32:
    return op == AtomicOp::And || op == AtomicOp::Or || op == AtomicOp::Xor || op == AtomicOp::Exch ||
                   op == AtomicOp::Cas
               ? integerAtomic<uint32_t, int32_t>(op, false)
               : nullptr;
  case ScalarType::U32:
    return integerAtomic<uint32_t, int32_t>(op, false);
  case ScalarType::S32:
    return integerAtomic<uint32_t, int32_t>(op, true);
  case ScalarType::B64:
    return op == AtomicOp::And || op == AtomicOp::Or || op == AtomicOp::Xor || op == AtomicOp::Exch ||
                   op == AtomicOp::Cas
               ? integerAtomic<uint64_t, int64_t>(op, false)
               : nullptr;
  case ScalarType::U64:
    return integerAtomic<uint64_t, int64_t>(op, false);
  case ScalarType::S64:
    return integerAtomic<uint64_t, int64_t>(op, true);
  case ScalarType::F32:
    return op == AtomicOp::Add ? &atomicAddSingle : nullptr;
  case ScalarType::F64:
    return op == AtomicOp::Add ? &atomic<double, AtomicOp::Add> : nullptr;
  case ScalarType::F16:
    return op == AtomicOp::Add ? &atomicHalf<HalfConvert, 1> : nullptr;
  case ScalarType::F16x2:
    return op == AtomicOp::Add ? &atomicHalf<HalfConvert, 2> : nullptr;
  case ScalarType::BF16:
    return op == AtomicOp::Add ? &atomicHalf<BFloatConvert, 1> : nullptr;
  case ScalarType::BF16x2:
    return op == AtomicOp::Add ? &atomicHalf<BFloatConvert, 2> : nullptr;
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator
