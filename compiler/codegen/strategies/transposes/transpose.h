// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups without a reduction that read a tensor whose adjacent elements are apart in the result: y[j, i] = x[i, j].
//
// Whoever walks along y's rows walks down x's columns: of every 32 bytes that memory delivers it uses one element. So a
// block takes a tile of both axes, read x read along x's rows and written along y's:
//
//        x, read 16 bytes at a time                    y, written 16 bytes at a time
//        j0          j0 + 64                           i0          i0 + 64
//   i0   [..........]            shared memory    j0   [..........]
//        [..........]   ---->   rows along i  ---->    [..........]
//   +64  [..........]           (swizzled)        +64  [..........]
//
// A thread reads a square of V vectors of V elements and writes it to shared memory turned, again in whole vectors. Of
// rows that are no multiple of V elements it reads as many of each as they are a multiple of, and writes so on the
// other side. Then the group is computed as elsewhere, along y's rows, only that x is read from shared memory. Tensors
// that lie along y's rows, or are the same for all of a row, are read from where they are.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

class Transpose : public Strategy {
public:
  /// @param apart computes the group where an axis of unknown length is too short for tiles: elementwise
  explicit Transpose(const Strategy &apart) : apart_(apart) {}

  llvm::StringRef name() const override { return "transpose"; }
  std::optional<Plan> plan(const KernelFunction &kernel, const GroupShape &shape) const override;
  std::vector<Plan> plans(const KernelFunction &kernel, const GroupShape &shape) const override;
  void write(Writer &writer) const override;
  bool dividesBySizes() const override { return true; }
  bool asksForSmall(const KernelFunction &kernel, const GroupShape &shape) const override;

private:
  const Strategy &apart_;
};

} // namespace tenon::compiler::codegen
