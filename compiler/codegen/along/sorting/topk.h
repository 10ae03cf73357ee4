// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.topk. A block for each line reads it and keeps the best k in shared memory (topk_block.h). Few long
// lines are cut in parts: each leaves its best k, of which a second kernel takes the best. Short lines have a warp each
// (topk_warp.h). A k that is unknown or too
// large for that is kept in the result by one thread, in order.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

class Topk : public AlongStrategy {
public:
  llvm::StringRef name() const override { return "topk"; }
  bool takes(mlir::Operation *op) const override;
  AlongPlans plans(const KernelFunction &kernel) const override;
  void write(AlongWriter &writer) const override;
};

} // namespace tenon::compiler::codegen
