// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of 16 bytes that are one value: .b128 loads, stores, moves and atomics; and atomics of vectors, whose
// elements are atomic each for itself.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

Handler loadWideHandler();
Handler storeWideHandler(); // `b`
/// atom.exch.b128: d, `b`; atom.cas.b128: d, `b`, `c`.
Handler atomicWideHandler(bool cas);
/// mov.b128 d, {a, b} and mov.b128 {d, e}, a.
Handler packWideHandler();
Handler unpackWideHandler();

/// Values, then destinations (none: red) at `list`; `e`: packVectorAtomic. The address is that of a memory operand.
Handler vectorAtomicHandler();
/// Elements of `type` (F32, F16, BF16, F16x2, BF16x2).
uint32_t packVectorAtomic(AtomicOp op, ptx::ScalarType type, uint32_t count, bool returns);

} // namespace tenon::emulator
