// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of images whose channels are no neighbours (NCHW) read copies that have them last. Tensor cores multiply
// rows of channels; a copy costs each element one read and one write, and a window reads it nine times.
//
//   image[n, c, y, x]    -> image[n, y, x, c]     with its border, if it has one
//   filters[f, c, r, s]  -> filters[f, r, s, c]   of one place: as they lie
//
// An image of which a window is one place, in steps of one, stays as it is where all places of a channel are rows that
// begin at vectors: tensor cores turn it, and its places are columns of the product (prepare/loops/joined_places.h). An
// H200, bf16, 32 images of 56 x 56 places, 256 channels to 64: 47.0 -> 20.7 us. So it does of tf32 on Hopper alone,
// whose tensor cores read it from registers (analysis/products/hopper_tf32.h).
//
// The result stays as it is: whoever stores it has a tile of it in shared memory, and writes along its rows. But of
// tf32, where places of an image of one place are no such rows (7 x 7): tiles have places of several images then, and
// the result has its channels last and is turned behind.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

namespace tenon::compiler::dispatch {

/// Of a convolution with many channels (Convolution::hasManyChannels).
void bringChannelsLast(const Convolution &convolution);
/// Of a gradient by the filters of each channel for itself: threads that have all results of some channels read them
/// side by side (ChannelFilters). Of other operations nothing happens.
void bringEachChannelLast(mlir::linalg::GenericOp op);

/// Of any operation: reads a copy of the operand that has `loop` last.
void bringLast(mlir::linalg::GenericOp op, mlir::OpOperand *operand, unsigned loop);

/// The order of the operand's dimensions in which the convolution multiplies it; as they are where it does that
/// already.
llvm::SmallVector<int64_t> orderOf(const Convolution &convolution, mlir::OpOperand *operand);

/// Whether it multiplies an image of one place with its channels second as it lies. It would take one with channels
/// last as well.
bool readsPlacesAcross(const Convolution &convolution);

/// Whether a convolution reads such a copy here.
bool readsChannelsLast(mlir::OpOperand &operand);

} // namespace tenon::compiler::dispatch
