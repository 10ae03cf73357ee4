// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which products multiply the same weights. Each last product of a chain (../chain.h) says of which tensor of the
// program its weights were elements, and how it read it; so who joins chains knows what is the same, and which loops of
// the one product are loops of the other.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon::compiler::dispatch {

/// The tensor that held the weights of a last product, by its number, and how the product read it.
struct Weights {
  int64_t number;
  mlir::AffineMap read;
};

void nameWeights(mlir::linalg::GenericOp last, Weights weights);
std::optional<Weights> weightsReadBy(mlir::linalg::GenericOp last);
/// The product is of no chain any more.
void forgetWeights(mlir::linalg::GenericOp last);

/// Which input of a last product the weights of its chain are.
mlir::OpOperand *weightsOf(mlir::linalg::GenericOp op);
/// Whoever reads `first` and stands before `second` goes behind it, in the same order, as does `first`; false where
/// something there cannot.
bool moveBehind(mlir::Operation *first, mlir::Operation *second);
/// The last product `across` of a chain whose weights those of `last` are, too: how its loops stand for theirs; nothing
/// where it is another product.
/// @param twins the second weights of which `last` reads
std::optional<mlir::AffineMap> readOfWeights(mlir::linalg::GenericOp twins, mlir::linalg::GenericOp last,
                                             mlir::linalg::GenericOp across);
/// `across` reads `weights`, at such places.
void readWeights(mlir::linalg::GenericOp across, mlir::Value weights, mlir::AffineMap place,
                 mlir::IRRewriter &rewriter);

/// Joins the chain of a last product with those of twins.
/// @param last that of the same weights; @param later the one of both last products of twins that is
using Joining =
    llvm::function_ref<bool(mlir::linalg::GenericOp twins, mlir::linalg::GenericOp last, mlir::linalg::GenericOp later,
                            mlir::linalg::GenericOp across, mlir::IRRewriter &rewriter)>;

/// Of all twins of the function that Hopper's kernel takes: `join` of each product of their second weights, until it
/// has joined one.
void forSameWeights(mlir::func::FuncOp function, Joining join);

} // namespace tenon::compiler::dispatch
