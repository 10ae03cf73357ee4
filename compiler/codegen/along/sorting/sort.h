// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.sort. Where the region is a comparison of two elements, lines that are not short are sorted by digits
// (radix_sort.h). Where it is not, a line that a block holds in shared memory is sorted there. A longer one of known
// length is cut in tiles, which are sorted so; then kernels merge runs of 2, 4, 8, .. tiles, through two sets of
// scratch memory in turn. A longer one of unknown length is sorted by one block in global memory: right, and slow.
//
// What moves is what the region looks at, and the place where an element stood; the rest of it is fetched from there at
// the end. Equal elements keep their order.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

class Sort : public AlongStrategy {
public:
  llvm::StringRef name() const override { return "sort"; }
  bool takes(mlir::Operation *op) const override;
  AlongPlans plans(const KernelFunction &kernel) const override;
  void write(AlongWriter &writer) const override;
};

} // namespace tenon::compiler::codegen
