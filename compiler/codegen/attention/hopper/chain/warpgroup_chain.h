// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chain on Hopper (dispatch/attention/chain.h; sm_90a; f16, bf16): a block has 128 rows, two consumers 64 of them
// each. Left factors of the inner products stay in shared memory; a producer brings blocks of 64 or 128 keys, for each
// of them the right factors and the values. A tensor that is both, as the keys are in the gradient by queries, is
// brought once.
//
// A consumer asks for the scores of the next block and for the result of this one, and computes weights while the
// second runs. Consumers take turns, so that one computes weights while products of the other run:
//
//   scores(0) weights(0) | scores(1), result(0) | weights(1) | scores(2), result(1) | weights(2) ... result(n - 1)
//                                       +---- runs under ----+
//
// Of twins each consumer has two results (warpgroup_twins.h), and both values are right factors.
#pragma once

#include "compiler/codegen/attention/hopper/chain/chain_shape.h"

namespace tenon::compiler::codegen {

/// Shared memory, dynamic.
uint32_t warpgroupChainBytes(const WarpgroupChainShape &shape);
/// @param tensorMaps of maps(), or none
void writeWarpgroupChain(const AttentionKernel &kernel, const WarpgroupChainShape &shape, mlir::ValueRange tensorMaps);

} // namespace tenon::compiler::codegen
