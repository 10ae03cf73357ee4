// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of few rows with weights of four bits, where code is made for Hopper alone: whether a warp asks memory for
// several steps before it computes the first of them. There are two such kernels:
//
//   rounds  a warp loads its next steps, which lie beside each other, into registers (kernels/skinny/skinny_rounds.cpp)
//   a ring  blocks go from tile to tile, and copy the next round into shared memory meanwhile (skinny_ring.cpp there)
#pragma once

#include "compiler/codegen/contraction/kernels/skinny/skinny_shape.h"

namespace tenon::compiler::codegen {

/// Of a ring: two for each multiprocessor of an H100 or H200.
inline constexpr int64_t kBlocksOfRing = 264;
/// Threads of a block of either kernel: its warps divide the sum.
inline uint32_t threadsAhead(const SkinnyShape &how) {
  return how.depthWarps * skinny::kWarp;
}

class StepsAhead {
public:
  /// Of one product with few rows or columns; borrowed.
  StepsAhead(const KernelFunction &kernel, const GroupShape &shape, const Product &product)
      : kernel_(kernel), shape_(shape), product_(product) {}

  /// Whether a kernel can be written so.
  bool canBe(const SkinnyShape &how) const;
  /// What is faster than one step after the other; nothing: neither is. Measured on an H200, rows of 1 to 16, 1024 to
  /// 128256 columns.
  std::optional<SkinnyShape> best(bool fewAreRows, uint32_t few) const;
  /// All that a user or a tuner may choose.
  std::vector<SkinnyShape> all(bool fewAreRows, uint32_t few) const;

private:
  const Operand &wideOf(bool fewAreRows) const { return fewAreRows ? product_.right : product_.left; }
  bool isRingFaster(const SkinnyShape &how) const;
  bool haveScalesInOneLoad(const SkinnyShape &how) const;

  const KernelFunction &kernel_;
  const GroupShape &shape_;
  const Product &product_;
};

} // namespace tenon::compiler::codegen
