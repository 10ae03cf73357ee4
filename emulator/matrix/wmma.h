// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma.load, wmma.store and wmma.mma: a warp holds a matrix in a *fragment*, a fixed number of elements per lane. Which
// lane holds which element is not specified, only that load, mma and store agree; here element e of lane l is element
// (l * perLane + e) mod (rows * columns) of the row-major matrix, so that fragments with more room than elements (f16
// A and B, which every device holds more than once) need no rule of their own.
//
// Source: PTX ISA, "Matrix Fragments for WMMA" and "Warp-level Matrix Load, Store, Multiply-and-Accumulate".
#pragma once

#include "emulator/machine/handlers.h"

#include <optional>

namespace tenon::emulator {

/// One matrix as a warp holds it. Packed into two words at the head of the instruction's operands.
struct Fragment {
  ptx::ScalarType element = ptx::ScalarType::None; // F16, BF16, TF32, F64, S8, U8, F32, S32
  uint32_t rows = 0, columns = 0;
  uint32_t registers = 0;   // per lane, of registerBytes
  bool columnMajor = false; // in memory
  uint32_t elementBytes() const;
  uint32_t registerBytes() const { return elementBytes() == 8 ? 8 : 4; }
  uint32_t perLane() const { return registers * registerBytes() / elementBytes(); }
};
inline constexpr uint32_t kFragmentWords = 2;
void pushFragment(const Fragment &fragment, std::vector<uint32_t> &operands);

enum class FragmentUse : uint8_t { A, B, Accumulator };
/// The fragment of a shape m x n x k; nothing: PTX has no such form, or the emulator does not know it.
std::optional<Fragment> findFragment(FragmentUse use, uint32_t m, uint32_t n, uint32_t k, ptx::ScalarType element);

} // namespace tenon::emulator
