// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.scan. Lines whose elements lie side by side: a warp or a block per line, which loads tiles of
// vectors, scans them in registers, and carries the end of one tile into the next. Other lines: a thread per line, so
// that neighbours read neighbours. Few long lines are cut in parts: one kernel combines each part, another scans all
// parts, each from what the parts before it come to. The order depends on the shape alone.
//
// All of that needs an associative region (one operation of arith that is). Any other is run by one thread per line.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

class Scan : public AlongStrategy {
public:
  llvm::StringRef name() const override { return "scan"; }
  bool takes(mlir::Operation *op) const override;
  AlongPlans plans(const KernelFunction &kernel) const override;
  void write(AlongWriter &writer) const override;
};

} // namespace tenon::compiler::codegen
