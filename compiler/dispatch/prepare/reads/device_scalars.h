// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that lie on the device and that kernels alone look at stay there. Where a slice begins is one of the host:
//
//   %at = tensor.extract %position[]            the host waits for it
//   %place = arith.minsi %at, %last             it computes
//   linalg.generic ... { arith.subi %i, %place }          and hands the kernel what came out
//
// A call that waits for the device can be part of no stream and no graph. Arithmetic on whole numbers is the same in a
// kernel, which reads the number itself.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// What the host asks for, too, such as a size or a branch, is left to it.
void keepScalarsOnDevice(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
