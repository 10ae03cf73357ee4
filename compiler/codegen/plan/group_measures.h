// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What strategies ask of a group before they take it.
#pragma once

#include "compiler/codegen/kernel/bodies/group_shape.h"

namespace tenon::compiler::codegen {

/// How many tensors in memory have an element for each of the group's.
uint32_t fullInputs(const KernelFunction &kernel, const GroupShape &shape);
/// Rough number of instructions for one element.
uint32_t workOf(const KernelFunction &kernel);
/// `width`, or as much of it as code of functions that take many instructions stays short for: powers, sines. A kernel
/// of rows writes its body several times for each lane of a vector.
uint32_t narrowedByCalls(const KernelFunction &kernel, uint32_t width);
/// Whether the group reduces, and threads may combine their parts of each reduction.
bool hasCombiners(const KernelFunction &kernel, const GroupShape &shape);
/// Whether some operation reads elements again once a reduction of them is known.
bool readsAgain(const KernelFunction &kernel, const GroupShape &shape);
/// Whether a result has an element for each of the group's.
bool storesElements(const KernelFunction &kernel, const GroupShape &shape);

} // namespace tenon::compiler::codegen
