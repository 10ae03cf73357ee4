// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that may write a result over what they read.
#pragma once

#include "compiler/dialect/hal/HalOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// A kernel that the compiler has formed and nobody has chosen a strategy for.
struct FormedKernel {
  hal::ExecutableSourceOp source;
  mlir::func::FuncOp function;
};

enum class Overwriting : uint8_t {
  No,
  AsItIs,    // it reads nothing of the argument but to copy it
  IfItKnows, // each element is read where it is written, by a kernel that knows that it is (kOverwrittenAttr)
};

/// Whether `result` may be bound to the memory of the tensor argument `argument`, which is of the same type.
Overwriting overwrites(mlir::func::FuncOp kernel, unsigned result, unsigned argument);

} // namespace tenon::compiler::dispatch
