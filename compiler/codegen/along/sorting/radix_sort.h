// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts by one operand's elements, digit after digit from the lowest; every step keeps the order of equal digits. A
// line that a block holds is sorted by it. A longer one is cut in chunks: for each digit a kernel counts how often each
// chunk has each of its values, another adds up what lies before, a third one sorts tiles of its chunk by the digit and
// moves them to where they belong. They read from one set of scratch memory and write to the other.
//
// What moves beside the key is the other result where there is one, or the place where the element stood where there
// are several, which are fetched from there at the end.
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
