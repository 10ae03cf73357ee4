// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients by filters of one place sum over all places of all images, product[f, c] = sum of dy[n, f, p] *
// image[n, c, p]. Tensor cores take both sides as they lie where the places of a channel are rows that begin at
// vectors. Of 14 x 14 or 7 x 7 places they do not: each row begins elsewhere, and threads would bring elements in
// pieces. Copies that have the channels last are two matrices, whose rows are the places of all images:
//
//   image[n, c, p]  ->  image[n * p, c]        dy[n, f, p]  ->  dy[n * p, f]
//
// Of tf32 on Hopper alone, which tensor cores do not turn, they have the channels first: image[n, c, p] ->
// image[c, n * p].
//
// An H200, bf16, 32 images of 14 x 14 places, 1024 channels by 512: 224 us as they lie, 32 with the copies.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Of a large sum of products over several dimensions of operands of 16 bits, or of tf32 on Hopper alone, the last of
/// which is no multiple of a vector; of other operations nothing happens.
/// @return whether that was done: `op` is gone then
bool joinImages(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
