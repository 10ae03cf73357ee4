// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels have the next one launched when they begin (ptx/rewrites/early_launch.h): those whose launches are of
// few blocks, by what the next one of the program is.
//
// Measured on an H200: that saves 0.2 to 0.5 us of a kernel. It loses where blocks are many, because they are then
// launched at half of the speed, and in front of a product, of whose blocks two crowd on the multiprocessors that are
// free first while others have none, unless a multiprocessor holds but one. Blocks that wait for each other must not
// crowd either: steps of a sort took up to eight times as long.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::codegen {

/// On a kernel function, i64: with no more blocks than that in its launch, it has the next kernel launched early. 0: a
/// launch always has so few.
inline constexpr llvm::StringLiteral kEarlyLaunchAttr = "tenon.early_launch";

/// Sets the attribute, once the strategies and grids of all kernels are chosen.
void chooseEarlyLaunches(mlir::ModuleOp program);

} // namespace tenon::compiler::codegen
