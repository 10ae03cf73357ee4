// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All strategies for operations along a dimension. A new one is a file pair, a line here and one in meson.build.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

/// The one that computes the operation of `kernel`.
const AlongStrategy &alongStrategyOf(const KernelFunction &kernel);

/// Writes the kernel's function by the choices of its `tenon.strategy`.
mlir::LogicalResult writeAlong(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                               mlir::LLVM::LLVMFuncOp function);

} // namespace tenon::compiler::codegen
