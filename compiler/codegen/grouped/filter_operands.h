// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels of gradients by the filters share: the tensors that they read, and where a sum is stored.
#pragma once

#include "compiler/codegen/contraction/product.h"

namespace tenon::compiler::codegen {

/// A tensor that an operation reads by such a map, as an input or by itself; nothing where another operation of the
/// kernel computes it.
std::optional<KernelTensor> readTensor(const KernelFunction &kernel, const KernelOp &op, mlir::Value tensor,
                                       mlir::AffineMap map);
/// Elements from one place to the next along each dimension.
llvm::SmallVector<int64_t> stridesOf(const KernelTensor &tensor);
/// What a number counts along several sides, the last of which runs fastest.
llvm::SmallVector<mlir::Value> placeAlong(KernelBuilder &k, mlir::Value number, llvm::ArrayRef<int64_t> sides);

/// Stores a sum of a product, and what the rest of the kernel computes of it.
struct SumStore {
  const KernelFunction &kernel;
  const GroupShape &shape;
  KernelBuilder &k;
  GroupSpace &space;
  Bodies &bodies;
  const Product &product;

  /// @param loops [loops of the product's operation] which result it is; of loops that are summed over, anything
  void store(llvm::ArrayRef<mlir::Value> loops, mlir::Value sum);
};

} // namespace tenon::compiler::codegen
