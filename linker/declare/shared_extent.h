// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much dynamic shared memory a kernel uses, as far as its addresses tell: the size is an argument of the launch and
// stands in no object. An address in `.extern .shared x[]` is the block's start and a number; where that number is made
// of constants, of %tid and of other special registers with known limits, by sums, products, shifts and masks, it has
// a largest value. Triton's code is like that almost throughout, since its layouts are powers of two:
//
//   mov.u32 %r1, %tid.x;  shl.b32 %r2, %r1, 4;  and.b32 %r3, %r2, 496;  add.s32 %r5, smem, %r3;  ld.shared.b32
//   [%r5+512]
//                                               at most 496 + 512 + 4 bytes
#pragma once

#include "abi/layout.h"
#include "ptx/module.h"

#include <cstdint>
#include <optional>

namespace tenon::linker {

/// Bytes that all accesses of `entry` to its dynamic shared memory stay within, with workgroups of `workgroup` threads.
/// Nothing: an address is computed from what only the launch or memory knows, in a loop, or in a function that is
/// called.
std::optional<uint32_t> sharedExtent(const ptx::Module &module, const ptx::Function &entry,
                                     const abi::Extent3 &workgroup);

} // namespace tenon::linker
