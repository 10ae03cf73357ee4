// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of tenon-normalize-executables. Each reports everything it finds wrong before it fails, and leaves the
// module alone where it fails.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

namespace mlir {
class ModuleOp;
}

namespace tenon::compiler {

/// Refuses what no later pass takes: conditions, constant blocks, device queries, indirect bindings, other devices than
/// CUDA, bindings out of order.
mlir::LogicalResult refuseUnsupported(mlir::ModuleOp module);

/// hal.dispatch.extern becomes a hal.executable.source of its own (shared by equal ones) and a flow.dispatch of it.
mlir::LogicalResult hoistExterns(mlir::ModuleOp module);

/// hal.executable becomes hal.executable.source: variants that declare the same exports become its objects, and
/// flow.dispatch names the export without a variant.
mlir::LogicalResult mergeVariants(mlir::ModuleOp module);

/// Gives every export its ordinal and a workgroup_size of three extents.
mlir::LogicalResult completeExports(mlir::ModuleOp module);

/// Objects of each target of the module, generic keys resolved; writes hal.device.targets where the module has none.
mlir::LogicalResult resolveObjects(mlir::ModuleOp module, llvm::ArrayRef<hal::ExecutableTargetAttr> fallback);

} // namespace tenon::compiler
