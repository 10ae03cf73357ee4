// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.scatter. A first kernel copies what is scattered into; then, by what the region allows,
//
//   unique     indices do not repeat: a thread for each element of the updates
//   atomics    integers combined by an operation whose order does not matter: the same, by atomic operations; of a
//              small tensor, each block counts in shared memory first (a histogram)
//   sorted     updates that were sorted by the slice that they name, since there are many (sorted_scatter.h)
//   in order   everything else, few float sums among it: each warp owns a range of the tensor's lines, reads the
//              indices of all, and combines those that fall into its range, in their order; lanes share a slice
//
// so that results do not depend on the run. Places outside of the tensor are left out.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

class Scatter : public AlongStrategy {
public:
  llvm::StringRef name() const override { return "scatter"; }
  bool takes(mlir::Operation *op) const override;
  AlongPlans plans(const KernelFunction &kernel) const override;
  void write(AlongWriter &writer) const override;
};

} // namespace tenon::compiler::codegen
