// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants by which weights of chains (../chain.h) multiply what each row has one of: once for a row, and not for each
// pair of a row and a key. Of gradients of attention:
//
//   p = 2^((s f - l) log2(e))      is      2^(s (f log2(e)) - l')      l' = l log2(e)
//   w = p (d - r) f                is      p (d f - r')                r' = r f
//
// which are a multiplication less for each weight, and either difference is one instruction. Where r is a sum, as of
// gradients, its kernel makes r' and l'; else the weights' own loops over keys do, once for their rows. A logarithm
// beyond 2e38 becomes infinite: no logit that is the product of two factors comes near it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Of all chains of the function, as buildChains() (triplets.h) leaves them.
void multiplyRowsFirst(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
