// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large convolutions of sizes that are known, whose factors tensor cores multiply as they are: those whose images are
// worth a copy that lies as tensor cores read them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

struct Convolution {
  mlir::linalg::GenericOp op; // of two inputs
  mlir::OpOperand *image = nullptr, *filters = nullptr;
  unsigned channels = 0; // the loop over them

  /// Nothing where `op`, named or generic, is no such. A named one is made generic.
  static std::optional<Convolution> of(mlir::linalg::LinalgOp op);

  /// Whether they fill half of what tensor cores multiply at once, or more, and are copied 16 bytes at a time.
  bool hasManyChannels() const;
};

/// What makes `tensor`, an image with zeros around it for one reader (border.h); null where it is anything else.
mlir::linalg::GenericOp borderAround(mlir::Value tensor);

} // namespace tenon::compiler::dispatch
