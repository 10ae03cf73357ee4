// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma.mma_async: four warps multiply a tile of A, 64 rows, from shared memory or registers, by one of B, in shared
// memory, into registers. Warp w of the four holds rows 16 w to 16 w + 15 of D, and computes them when it issues the
// instruction; with TENON_EMULATOR_CHECK=async it does so at wgmma.wait_group, and the accumulators are NaN till then.
//
// A tile in shared memory is described by 64 bits: where it starts, two distances, and a swizzle. Rows are 32 bytes of
// K, grouped by eight. Not transposed ("K-major"), with a swizzle of S bytes: rows lie S bytes apart, groups of eight
// rows the second distance ("stride"); without swizzle rows are 16 bytes apart and the halves of K the first distance
// ("leading"). Transposed ("MN-major", 16-bit elements only): S bytes of the M or N dimension lie together, rows of K S
// bytes apart, eight of these the stride, further M or N the leading distance; without a swizzle the two distances
// change roles. The swizzle is that of tensor maps, made of the address itself.
//
// f16, bf16 and tf32 are summed as mma.sync sums them (tensor_core.h). Products of 8-bit numbers are exact here and
// their sum is rounded once per instruction; a device keeps fewer bits of the floating-point ones.
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Matrix Descriptor", "Strides".
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

enum class WgmmaElement : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
inline constexpr uint32_t kWgmmaRowBytes = 32; // of K, whatever the element

struct WgmmaForm {
  uint32_t n = 8;
  WgmmaElement a = WgmmaElement::F16, b = WgmmaElement::F16;
  ptx::ScalarType accumulator = ptx::ScalarType::F32; // F32, F16, S32
  bool aInRegisters = false, negateA = false, negateB = false, transposeA = false, transposeB = false;
  bool satfinite = false;
};
uint32_t wgmmaElementBytes(WgmmaElement element);
/// Accumulator registers of 32 bits in each lane.
uint32_t wgmmaAccumulators(const WgmmaForm &form);
int64_t packWgmma(const WgmmaForm &form);

/// list: D, A (4 registers, or a descriptor), descriptor of B. `c`: the predicate scale-d, kThirdNegated in flag. imm:
/// packWgmma.
Handler wgmmaHandler();
Handler wgmmaCommitHandler();
/// imm: groups that may stay pending.
Handler wgmmaWaitHandler();

} // namespace tenon::emulator
