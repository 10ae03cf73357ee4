// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places of a result whose windows lie inside of the image. What is summed over a window's places in the image is the
// same for all of them, so that a table of such sums has them once:
//
//   image of 6, windows of 3 with one element of border:  places 0 | 1 2 3 4 | 5,  numbers 0 | 1 | 2
#pragma once

#include "compiler/dispatch/analysis/border.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Builders.h"

namespace tenon::compiler::dispatch {

/// Along one dimension of a result: those from `low` to `high` are alike, those before and behind them are not.
struct InnerPlaces {
  int64_t low = 0, high = 1;

  int64_t alike() const { return high - low; }
  /// Where places that are alike are one, the number of `place`, ...
  mlir::Value numberOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value place) const;
  /// ... and the first place of a number.
  mlir::Value placeOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number) const;
};

/// Of a loop of the result that moves one dimension of the image forward, as what is summed does; of others one place.
/// `places`: loops -> place in the border's image; sizes, types: of the loops.
InnerPlaces innerPlacesOf(unsigned loop, const Border &border, mlir::AffineMap places, llvm::ArrayRef<int64_t> sizes,
                          llvm::ArrayRef<mlir::utils::IteratorType> types);

} // namespace tenon::compiler::dispatch
