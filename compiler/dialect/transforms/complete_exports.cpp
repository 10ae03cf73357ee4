// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ordinals and block sizes, written out. Exports without an ordinal take the free numbers in the order written.
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/transforms/normalize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tenon::compiler {

static void completeOrdinals(hal::ExecutableSourceOp source) {
  Builder builder(source.getContext());
  llvm::SmallDenseSet<int64_t> taken;
  for (auto op : source.getBody().getOps<hal::ExecutableExportOp>())
    if (IntegerAttr ordinal = op.getOrdinalAttr())
      taken.insert(ordinal.getInt());
  int64_t next = 0;
  for (auto op : source.getBody().getOps<hal::ExecutableExportOp>()) {
    if (op.getOrdinalAttr())
      continue;
    while (taken.contains(next))
      ++next;
    op.setOrdinalAttr(builder.getIndexAttr(next++));
  }
}

static void completeWorkgroupSize(hal::ExecutableExportOp op) {
  SmallVector<int64_t, 3> extents;
  for (auto extent : op.getWorkgroupSizeAttr().getAsRange<IntegerAttr>())
    extents.push_back(extent.getInt());
  extents.resize(3, 1);
  op.setWorkgroupSizeAttr(Builder(op.getContext()).getIndexArrayAttr(extents));
}

LogicalResult completeExports(ModuleOp module) {
  for (auto source : module.getOps<hal::ExecutableSourceOp>()) {
    completeOrdinals(source);
    for (auto op : source.getBody().getOps<hal::ExecutableExportOp>()) {
      completeWorkgroupSize(op);
      op->removeAttr("hal.interface.bindings");
    }
  }
  return success();
}

} // namespace tenon::compiler
