// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of a row that a cluster keeps in shared memory, what its last sum adds up may be all that is wanted of its elements
// later: a softmax stores exp(x - m) / s, where s is the sum of these. Then they are put where the elements were, and
// need not be computed again (an H200, softmax of 131072 f32: 10 of 35 instructions of an element).
#pragma once

#include "compiler/codegen/kernel/bodies/bodies.h"

namespace tenon::compiler::codegen {

/// The values of the bodies of what is stored that are the terms of the last sum, where nothing else of an element is
/// stored, it takes as many bytes, and computing it takes long. Empty: it is not so.
llvm::SmallVector<mlir::Value> keptTermsOf(const KernelFunction &kernel, const GroupShape &shape,
                                           llvm::ArrayRef<RowSum> lastPhase);

} // namespace tenon::compiler::codegen
