// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What phases of a convolution (phases.h) read: its image, moved to where phases meet it, and its filters in an order
// that says at each element what a phase multiplies it by.
#pragma once

#include "compiler/dispatch/products/patches/dilation.h"

namespace tenon::compiler::dispatch {

class PhaseCopies {
public:
  /// @param written where the convolution's loops write its result, whose last dimension are the channels
  /// @param areApart phases are a batch; else columns beside each other
  PhaseCopies(mlir::OpBuilder &b, const Convolution &convolution, const DilatedConvolution &whole,
              mlir::AffineMap written, bool areApart);

  /// The image by index (loop of the result + tap), with a border where one is met; elsewhere as the convolution saw
  /// it.
  mlir::Value image();
  /// Of phases that are columns: [taps, other sums, phases but the last, last phase and channel]; of a batch: [phases,
  /// taps, other sums, channel], or the channel before these.
  mlir::Value filters();

  /// Loops of the filters' dimensions but the window's and the result's channels: sums.
  llvm::SmallVector<unsigned> othersOfFilters() const;
  /// Of a batch the result's channels are last, except where rows of them would not be aligned and those of the sum
  /// are.
  bool areChannelsLast() const;

private:
  mlir::Type element() const { return getElementTypeOrSelf(dilated_.image.getType()); }
  llvm::ArrayRef<int64_t> imageShape() const {
    return llvm::cast<mlir::RankedTensorType>(dilated_.image.getType()).getShape();
  }
  mlir::Value placeInWindow(mlir::OpBuilder &b, const Dilation &dilation, mlir::Value phase, mlir::Value tap,
                            mlir::Value &exists) const;

  mlir::OpBuilder &b_;
  const Convolution &convolution_;
  const DilatedConvolution &whole_;
  const mlir::Location loc_;
  const llvm::SmallVector<int64_t> sizes_; // of the convolution's loops
  const mlir::AffineMap filters_;
  const unsigned channels_; // loop of the result's
  const DilatedImage &dilated_;
  const llvm::ArrayRef<Dilation> dilations_;
  const bool areApart_;
};

} // namespace tenon::compiler::dispatch
