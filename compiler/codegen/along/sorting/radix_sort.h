// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts by one operand's elements, digit after digit from the lowest. A line that a block holds is sorted by it
// (radix_line.h), a longer one in steps of all blocks (radix_sweep.h).
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

/// The kernels that sort by digits; none where the region is more than a comparison of one operand's elements. Of
/// unknown length they leave lines of up to `shortLine` elements out.
std::optional<AlongPlans> radixPlans(const KernelFunction &kernel, int64_t shortLine);

/// Writes a kernel of those.
void writeRadixSort(AlongWriter &writer);

/// Whether a kernel is one of those.
bool isRadixSort(const AlongWriter &writer);

} // namespace tenon::compiler::codegen
