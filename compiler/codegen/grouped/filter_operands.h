// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels of gradients by the filters, and of bands of filters, share: the product of a form that the analysis has
// found, the tensors that they read, and where a sum is stored.
#pragma once

#include "compiler/codegen/contraction/product.h"

namespace tenon::compiler::codegen {

/// A tensor that an operation reads by such a map, as an input or by itself; nothing where another operation of the
/// kernel computes it.
std::optional<KernelTensor> readTensor(const KernelFunction &kernel, const KernelOp &op, mlir::Value tensor,
                                       mlir::AffineMap map);
/// The product of a kernel, a sum of f32 that is a form of dispatch/analysis/convolutions.
template <typename Loops> struct ImageProduct {
  Loops loops;
  Product product; // the image is left
  KernelTensor image;
  llvm::SmallVector<int64_t> sizes; // [loops of the operation]

  /// Nothing where the kernel has no such product, or another of its operations computes the image.
  static std::optional<ImageProduct> of(const KernelFunction &kernel, const GroupShape &shape) {
    std::optional<Product> product = Product::of(kernel, shape);
    if (!product || !product->sum.sum.type.isF32())
      return std::nullopt;
    const KernelOp &op = *product->op;
    const std::optional<dispatch::Contraction> contraction = dispatch::productOf(op.op);
    std::optional<Loops> loops = contraction ? Loops::of(*contraction) : std::nullopt;
    const std::optional<KernelTensor> image =
        loops ? readTensor(kernel, op, loops->image, loops->imageMap) : std::nullopt;
    if (!image)
      return std::nullopt;
    if (!loops->isImageLeft)
      product->exchangeSides();
    return ImageProduct{std::move(*loops), std::move(*product), *image,
                        mlir::linalg::GenericOp(op.op).getStaticLoopRanges()};
  }
  /// The gradient that it is multiplied by, where the form has one.
  std::optional<KernelTensor> gradient(const KernelFunction &kernel) const {
    return readTensor(kernel, *product.op, loops.gradient, loops.gradientMap);
  }
};

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
