// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of keys and values that several heads share:
//
//   by_k[b, h, n, d] = sum over g and m of by_scores[b, h, g, m, n] * q[b, h, g, m, d]
//
// A chain (chain.h) sums over one dimension. So each head has its own sum, and heads are added up behind it, in order:
//
//   part[g, b, h, n, d] = sum over m of by_scores[b, h, g, m, n] * q[b, h, g, m, d]      f32
//   by_k[b, h, n, d]    = sum over g of part[g, b, h, n, d]
//
// Hopper's kernel of twins (chains/twins.h) goes through the queries of all heads instead, one head behind the other,
// and stores no parts: there the sum over two dimensions is put together again.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Whether there is a product that sums over two dimensions.
bool hasSharedHeads(mlir::func::FuncOp function);
/// Takes such products apart, where what is left is the last product of a chain.
void splitSharedHeads(mlir::func::FuncOp function);
/// Puts the sums of twins together again, where their kernel takes both dimensions and still has enough tiles.
/// @param anyOrder they may become triplets (triplets.h), whose kernel takes whole blocks of keys of a head alone
void joinSharedHeads(mlir::func::FuncOp function, bool anyOrder = false);

} // namespace tenon::compiler::dispatch
