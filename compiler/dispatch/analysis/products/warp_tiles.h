// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs whose targets are all sm_80 or later, none of them sm_90a: warps multiply by mma.sync there, and copies to
// shared memory run beside the threads. A launch gives all targets of a program the same blocks and the same shared
// memory; in these programs both are those of such kernels. With them, a model of how long their tiles take.
#pragma once

#include "abi/target_arch.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace tenon::compiler::dispatch {

// On a module or a kernel function of such a program: a WarpDevice.
inline constexpr llvm::StringLiteral kWarpDeviceAttr = "tenon.warp_device";

/// What each device has that such a program is for.
struct WarpDevice {
  int64_t number;          // of the architecture
  int64_t multiprocessors; // that products of the architecture have
  int64_t sharedBytes;     // of a multiprocessor

  /// Nothing: some target is another one.
  static std::optional<WarpDevice> of(llvm::ArrayRef<abi::TargetArch> targets);
  /// What is said of the operation, its function or its module.
  static std::optional<WarpDevice> of(mlir::Operation *op);
  mlir::DenseI64ArrayAttr attribute(mlir::MLIRContext *context) const;
};

/// A tile, how many of them a multiprocessor has at once, and what 8192 bytes of the sum of each of its rows take there
/// (microseconds on an H200, bf16 by mma.sync): of a tile that is alone, with all of the shared memory for its stages,
/// and the share of each where a multiprocessor has as many as it can. Beside that, until the sum begins and behind it.
/// `split`: so much longer where rows of both operands begin in the middle of 64 bytes.
struct WarpTile {
  int64_t rows, columns, resident;
  double alone, besideAlone, shared, besideShared, split;
};
llvm::ArrayRef<WarpTile> warpTiles();

/// How long a device takes for so many tiles whose sums are of so many bytes of each row.
double microsecondsOf(const WarpTile &tile, const WarpDevice &device, double tiles, double bytes);

} // namespace tenon::compiler::dispatch
