// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handlers that move data without computing: addresses of local variables, address-space conversions and tests,
// virtual clocks.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// d = address of a variable in the frame (`imm`), `flag` != 0: as a generic address. bytes: 4 or 8.
Handler frameAddressHandler(uint32_t bytes);
/// cvta.space: d = a + window (to generic); cvta.to.space: d = a - window; `imm` the window's base.
Handler toGenericHandler(uint32_t bytes);
Handler fromGenericHandler(uint32_t bytes);
/// d (predicate) = a lies in the space at `flag`.
Handler isSpaceHandler();
/// d = virtual clock: %clock, %clock64, %globaltimer (`flag` 1), and their halves (`imm` 32: the upper word).
Handler clockHandler(uint32_t bytes);
Handler nanosleepHandler();
/// No effect here: fences, prefetches, hints.
Handler nothingHandler();
/// trap and, with `flag`, brkpt: the kernel fails.
Handler trapHandler();
/// slct: d = c >= 0 ? a : b.
Handler slctHandler(ptx::ScalarType type, ptx::ScalarType selector, bool ftz);

} // namespace tenon::emulator
