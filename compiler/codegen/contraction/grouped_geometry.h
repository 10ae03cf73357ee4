// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block of a grouped convolution has in shared memory, and where (grouped_windows.h).
#pragma once

#include "compiler/codegen/contraction/grouped_windows.h"

namespace tenon::compiler::codegen {

/// Channels that are read together.
inline constexpr int64_t kQuad = 4;

struct GroupedGeometry {
  GroupedTile tile;
  llvm::SmallVector<int64_t> extents; // of the image that windows of the tile meet, along each of the form's places
  int64_t positions = 0;              // their product
  int64_t channels = 0;               // of a group, whole quads
  int64_t columns = 0;                // of a group, whole fragments, or quads
  int64_t quads = 0;                  // of a window
  int64_t steps = 0;                  // of four quads
  int64_t filterQuads = 0;            // from a filter to the next
  int64_t lineBytes = 0;              // from a position to the next
  int64_t sumsOfLine = 0;             // from a result's sums to those of the next
  int64_t patchBytes = 0, filterBytes = 0, sharedBytes = 0;

  GroupedGeometry(const GroupedForm &form, GroupedTile chosen);
};

} // namespace tenon::compiler::codegen
