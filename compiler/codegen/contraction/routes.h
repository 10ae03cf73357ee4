// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a routed product (dispatch/analysis/products/routes.h) as the product's kernel reads it. Positions are
// numbers of rows in the order of their experts.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

class Routes {
public:
  /// @param table pointer to it; @param rows how many there are
  Routes(KernelBuilder &k, mlir::Value table, mlir::Value rows, int64_t experts);

  struct Tile {
    mlir::Value first, end, expert; // its first position, the one behind its expert's last
  };
  /// How many tiles of 64, 128 or 256 rows there are.
  mlir::Value tiles(int64_t side);
  /// One of them, or of none of them that is all zeros.
  Tile tile(mlir::Value number, int64_t side);
  /// The row at a position.
  mlir::Value rowAt(mlir::Value position);

  // Where all that is written, i32 elements behind the table's begin.
  static mlir::Value placeOfCount(KernelBuilder &k, int64_t side);
  mlir::Value placeOfTile(mlir::Value number, int64_t side);
  mlir::Value placeOfRow(mlir::Value position);

private:
  mlir::Value read(mlir::Value place);
  mlir::Value linesBefore(int64_t side);

  KernelBuilder &k_;
  mlir::Value table_, rows_;
  const int64_t experts_;
};

} // namespace tenon::compiler::codegen
