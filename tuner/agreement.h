// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs for a contraction, and whether two kernels agree about its results.
//
// Kernels may add in different orders, so their results need not be the same bits. What they may differ by is said by
// the type of a result: 1/100 of the largest magnitude among its elements for bf16, 1/1000 for f16, 1/10000 for f32 and
// f64, nothing for integers.
#pragma once

#include "abi/format/program_generated.h"
#include "runtime/values/value.h"

#include <string>
#include <vector>

namespace tenon::tuner {

/// Inputs of a function, the same in each run: floats in [-1, 1); bytes that are small numbers as int8 and as f8; other
/// integers 0, since they may be indices. Sizes that are not known are `size`, and so are scalars of i64 and index,
/// which such sizes are passed as.
std::vector<runtime::HostValue> makeInputs(const abi::fb::Function &function, int64_t size);
/// Bytes that no result has: who leaves an element unwritten is found out.
runtime::HostTensor poisoned(const runtime::Tensor &tensor);

/// Empty: they agree. Else which element differs, and by how much.
std::string disagreement(const runtime::HostTensor &expected, const runtime::HostTensor &found);

} // namespace tenon::tuner
