// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large convolutions of sizes that are known, whose factors are elements in memory: those whose images or filters are
// worth a copy.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

struct Convolution {
  mlir::linalg::GenericOp op; // of two inputs
  mlir::OpOperand *image = nullptr, *filters = nullptr;
  unsigned channels = 0;  // the loop that both have and that is summed over: channels; of a gradient by filters, images
  bool isOnCores = false; // tensor cores multiply it
  bool isOfFilters = false; // the gradient by filters (sumsOverPlaces)
  // Of such a one whose elements tensor cores turn themselves: the image's channels, and the results'.
  struct Across {
    unsigned image, filters;
  };
  std::optional<Across> across;

  /// Nothing where `op` is no such.
  static std::optional<Convolution> of(mlir::linalg::GenericOp op);
  /// The same where it may be unknown how many images there are, and how large they are.
  static std::optional<Convolution> ofUnknownImages(mlir::linalg::GenericOp op);

  /// The loop that is best the last one of an operand.
  unsigned lastOf(mlir::OpOperand *operand) const {
    return !across ? channels : operand == image ? across->image : across->filters;
  }
  /// Whether what is best last fills half of what tensor cores multiply at once, or more, and is copied 16 bytes at a
  /// time; of a gradient by filters that lies across, all of it.
  bool hasManyChannels() const;
};

/// `op`, if it is generic. If it is named and may be such a convolution, what it became: it is made generic, and gone,
/// whether or not Convolution::of() takes that. Null for others, which stay.
mlir::linalg::GenericOp genericWindowOf(mlir::linalg::LinalgOp op);

/// What makes `tensor`, an image with zeros around it for one reader (border.h); null where it is anything else.
mlir::linalg::GenericOp borderAround(mlir::Value tensor);

} // namespace tenon::compiler::dispatch
