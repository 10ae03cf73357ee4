// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions with more filters than places, as the deep layers of a U-Net have them: 1280 filters of 1280 channels on
// an image of 8 x 8. Filters whose window comes last (FCHW) would be turned for tensor cores in every call, and they
// are larger than what they are multiplied with. Instead the windows of the image are copied in the order of the
// filters' elements, and the convolution is a product of matrices that reads the filters as they lie:
//
//   patches[n, y, x, c, ky, kx] = image[n, y + ky, x + kx, c]     zeros outside of the image
//   result[n, y, x, f] = sum of patches[n, y, x, (c, ky, kx)] * filters[f, (c, ky, kx)]
//
// Channels need fill no line: 1000 filters of 1000 channels are 64 MB. A single image has no loop: its places are rows.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution whose sizes are known; null, and nothing happens, where its filters would not be turned, or are
/// less than the patches.
/// @return the product that reads the patches
mlir::linalg::GenericOp multiplyOrderedPatches(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
