// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order images lie between convolutions. A program of images whose channels come first (NCHW) has a copy in
// front of every convolution that wants them last (channels_last.h). Where what a convolution computes goes through
// elementwise operations, borders and pools to the next one, all of it may as well have its channels last:
//
//   conv -> + bias, relu -> pool -> conv        [n, c, y, x] -> [n, y, x, c]
//
// Tensors that an operation goes through at the same place have one order, and so have those of a reshape that makes
// groups of channels, or takes them away ([n, g, c, y, x] -> [n, y, x, g, c]). Such a set of tensors takes the other
// order where its convolutions would copy more bytes than are turned where images come in and go out.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Expects operations that are generic (prepare.h).
void orderChannels(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
