// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor as lines along one of its dimensions: [outer, length, inner], where the elements of a line are `inner`
// apart. Lines are numbered, line = outer * inner size + inner.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

/// Known when kernels are planned.
struct LineShape {
  llvm::SmallVector<Extent> outer, inner;
  Extent length;

  LineShape(const KernelTensor &tensor, int64_t dimension);
  llvm::SmallVector<Extent> lines() const;
  std::optional<int64_t> knownLines() const;
  std::optional<int64_t> knownLength() const;
  bool isAdjacent() const; // elements of a line lie side by side
};

struct Lines {
  mlir::Value count, length, inner;

  Lines(AlongWriter &w, const LineShape &shape);
  /// Number of the first element of a line; the others are `inner` apart.
  mlir::Value first(KernelBuilder &k, mlir::Value line) const;
  mlir::Value element(KernelBuilder &k, mlir::Value line, mlir::Value position) const;
};

} // namespace tenon::compiler::codegen
