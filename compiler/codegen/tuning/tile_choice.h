// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one contraction is computed on one target, as users and tuners say it:
//
//   {by = "wgmma", rows = 128, columns = 256, blocks = 2}
//
// `by` is who multiplies: "wgmma" (warpgroups, sm_90a), "mma.sync" (warps), "threads" (no tensor core), "skinny" (a
// kernel for few rows or columns). The rest are numbers that it knows; `blocks` are those that share what they read, 1
// where nothing is said; `parts` those of which the sums of the last round of
// tiles are made, 1 where nothing is said. Which choices there are is said by the strategies (Strategy::choices).
#pragma once

#include "abi/target_arch.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler::codegen {

inline constexpr llvm::StringLiteral kByWarpgroups = "wgmma", kByWarps = "mma.sync", kByThreads = "threads",
                                     kBySkinny = "skinny";

struct TileChoice {
  std::string by;
  std::vector<std::pair<std::string, int64_t>> numbers; // in the order in which they are printed

  /// Of a pin that is well formed (dialect/tile_pins.h).
  static TileChoice of(mlir::DictionaryAttr pin);
  mlir::DictionaryAttr attribute(mlir::MLIRContext *context) const;
  /// 0: it says nothing of it.
  int64_t number(llvm::StringRef name) const;
  /// As in a module.
  std::string text() const;
};

/// Whatever the order of the numbers, and whether a `blocks` of 1 is said.
bool operator==(const TileChoice &left, const TileChoice &right);

/// A choice that is given for a target.
struct GivenChoice {
  abi::TargetArch target;
  TileChoice choice;
};

} // namespace tenon::compiler::codegen
