// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a strategy decided for a group: threads, blocks, and when the kernel runs. It stands on the kernel function as
// `tenon.strategy`, so that who decides and who writes meet in the text of the module.
#pragma once

#include "compiler/codegen/kernel/bodies/group_shape.h"

namespace tenon::compiler::codegen {

/// Blocks of a launch: the product of the sizes of some axes, each piece divided by what one block takes of it.
struct GridFactor {
  llvm::SmallVector<Extent> extents; // multiplied
  int64_t perBlock = 1;              // rounded up
  int64_t more = 0;                  // added to what comes of it
};

/// When a kernel is the one of several that runs: a length that is known only then is above `above` and at most `most`,
/// a multiple of `multipleOf` and none of `noMultipleOf`, both powers of two.
struct Guard {
  /// Lengths above the first number and up to the second.
  using Range = std::pair<int64_t, int64_t>;

  llvm::SmallVector<Extent> length; // multiplied
  int64_t above = 0;
  std::optional<int64_t> most;
  bool orEmpty = false; // also where the length is 0
  int64_t multipleOf = 1;
  std::optional<int64_t> noMultipleOf = {};
  std::vector<Range> gaps = {};       // between `above` and `most`, in order: another kernel runs there
  std::vector<GridFactor> tiles = {}; // if any, the length is the number of tiles: their product
  std::vector<Guard> unless = {};     // if any, the guard is this alone: not all of them hold

  bool holdsFor(int64_t length) const;
};

/// A choice of kernels whose blocks wait for each other.
inline constexpr llvm::StringLiteral kBlocksWait = "blocks_wait";
/// A choice of kernels of which a multiprocessor holds one block, and which may be launched early: none crowd.
inline constexpr llvm::StringLiteral kOneBlock = "one_block";

/// Memory that the kernels of a function share: one element for each `share` of the product of the sizes (rounded up),
/// or as many as the kernels that run with such sizes use at most.
struct Scratch {
  mlir::Type element;
  llvm::SmallVector<Extent> extents;
  std::optional<int64_t> most = {};
  int64_t share = 1;
};

struct Plan {
  llvm::StringRef strategy;
  uint32_t threads = 256;
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> choices; // what else the strategy decided
  llvm::SmallVector<GridFactor> grid;                             // the number of blocks is their product
  llvm::SmallVector<Guard> guards = {};                           // all hold where it runs; none: it always does
  uint32_t dynamicSharedBytes = 0;                                // for the targets whose kernels use it
  llvm::SmallVector<mlir::Type> tensorMaps = {};                  // that kernels for sm_90a take: !hal.tensor_map
  bool copiesStart = false;                // all it does is copy into a result what that starts from
  llvm::SmallVector<Scratch> scratch = {}; // of the function's first plan: what all of them share

  mlir::DictionaryAttr attribute(mlir::MLIRContext *context) const;
  /// One of the choices.
  int64_t choice(llvm::StringRef name) const;
  /// Makes it, perhaps instead of another of that name.
  void choose(llvm::StringRef name, int64_t value);
};

llvm::SmallVector<Extent> extentsOf(llvm::ArrayRef<SpaceAxis> axes);

} // namespace tenon::compiler::codegen
