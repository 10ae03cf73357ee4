// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations of a kernel are computed from the result of a product: nearly always all that run over its elements;
// of twins (dispatch/attention/chains/twins.h) those of one result are not computed from the other.
#pragma once

#include "compiler/codegen/contraction/product.h"

namespace tenon::compiler::codegen {

/// Whether the last products of the kernel are two.
bool hasTwoResults(const GroupShape &shape);
/// Whether the operation is computed once for each element of the product's result, from it where there are two.
bool isOfResult(const KernelFunction &kernel, const GroupShape &shape, const Product &product, const KernelOp &op);

} // namespace tenon::compiler::codegen
