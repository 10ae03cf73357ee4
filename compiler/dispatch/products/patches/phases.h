// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of images with zeros between their elements: gradients by the image of convolutions that take steps, and
// transposed convolutions. Three of four products, or more, would be those of zeros. Results that lie `step` apart, of
// one phase, meet elements at the same places of their windows, and each phase meets others. So a result's index is
// two, y = step * u + phase, and
//
//   result[n, u, p, v, q, c] = sum of image[n, u + t, v + s, k] * filters'[p, q, t, s, k, c]
//
// where t runs over the elements that any phase meets, and filters' are copies of the filters, which say at each of
// them what the phase multiplies it by. It is one convolution without zeros in its image, whose result lies in memory
// as before. Where a phase meets no element at t there is no product (analysis/summed_places.h): phases
// are a batch, each with terms of its own. Of windows of three and steps of two it multiplies 9 times for each four
// results, not 36 times. Where all phases meet as many, as of windows that are as long as steps, they are columns
// beside each other.
//
// A result whose channels come first is turned behind, where that takes less than the products that are saved. So it is
// with a result that no step divides, such as 75 x 75 in steps of two: the last group of phases has places that the
// result has not, and the others are copied behind.
//
// A window of one meets elements in one phase alone: then it is the result that has zeros between its elements. Of
// other windows that are shorter than steps, results that meet nothing are chosen behind.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution whose image is such a one, for that reader alone: what replaces it; null where nothing does.
/// The convolution stays, and what was computed from its result; nobody reads them any more.
mlir::linalg::GenericOp separatePhases(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
