// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of one place in steps read some places of their image: of steps of two a quarter. Where the image would
// be copied, to have its channels last or to be turned for tensor cores, a copy of these places alone comes first:
//
//   image[n, c, 2 y, 2 x]  ->  picked[n, c, y, x]
//
// It is a convolution in steps of one then, which may take them as they lie.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution on tensor cores whose window has one place, or of its gradient by the filters. Of others nothing
/// happens.
/// @return whether it reads such a copy now: `convolution` is none of it any more
bool pickPlaces(const Convolution &convolution);

} // namespace tenon::compiler::dispatch
