// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands around attentions, up to the products in front of them and behind. A program that has one dimension for
// batch and heads divides it on both sides:
//
//   product -> 2x4096x8x40 -> 2x8x4096x40 -> 16x4096x40 -> attention -> 2x8x4096x40 -> 2x4096x8x40 -> product
//
// and where the whole function is opened (forms/open_forms.h), the rows of the products may become those of an image,
// 64x64, as which keys are no dimension of their own. In between, nothing of an image is to be seen.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// All operations but attentions and what stands around them stay as they are when forms are opened.
void keepClosedElsewhere(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
