// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the kernels of Elementwise: whole vectors, halves of vectors, vectors but for those that lie in two rows, or
// elements side by side; and what their plans ask of a group besides.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

/// Whether elements of all tensors along the last axis are 4 bytes or more.
bool isOfWords(const KernelFunction &kernel, const GroupShape &shape);

/// The axis of dispatch::unrolledLoopOf(), of a group of one operation. Rows of narrow elements that are no multiple of
/// a vector are better off without: each part would lie elsewhere between the vectors that are written.
std::optional<unsigned> unrolledAxis(const KernelFunction &kernel, const GroupShape &shape);

/// Whether threads may take rows by halves of vectors: not those that bodies read by themselves, which start anywhere.
bool takesHalves(const KernelFunction &kernel, uint32_t width);

/// Whether little but moving elements is done. Where rows have unknown length, such kernels leave registers for all
/// threads of a multiprocessor.
bool movesElements(const KernelFunction &kernel);

/// @param strategy Elementwise, whose plan the writer has
void writeElementwise(Writer &writer, const Strategy &strategy);

} // namespace tenon::compiler::codegen
