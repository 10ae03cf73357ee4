// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tenon::compiler {

/// On a convolution of f32: the side of the tiles by which Winograd's computes it, 4, 6 or 8, where that is allowed
/// (--f32-convolutions): of any size, and whatever a model says (dispatch/winograd/tile_choice.h).
inline constexpr llvm::StringLiteral kTileSideAttr = "tenon.tile_side";

} // namespace tenon::compiler
