// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few rows, so long that clusters leave most multiprocessors idle, and that nothing has taken apart: they are of
// unknown length, or have no divisor that makes parts of them (dispatch/splits). Each row is parts of a block, which
// leaves what it has added up in scratch memory; another kernel adds up these, in order. Parts take vectors in turn, as
// the blocks of a cluster do.
#pragma once

#include "compiler/codegen/plan/strategy.h"
#include "compiler/codegen/strategies/rows/row_paths.h"

namespace tenon::compiler::codegen {

/// So many parts, each of kRowThreads: a power of two; nothing where `path` is as good, or each element is not seen
/// once.
std::optional<uint32_t> partsOfRow(const KernelFunction &kernel, const GroupShape &shape, const RowDemand &demand,
                                   const RowPath &path);
/// Whether it may be so in programs of unknown sizes: of more elements of a row than the first, and of up to so many
/// rows; then there are so many parts.
bool mayBeParts(const KernelFunction &kernel, const GroupShape &shape, const RowDemand &demand);
inline constexpr int64_t kLeastOfUnknown = 1 << 19, kMostOfUnknown = 16;
inline constexpr uint32_t kPartsOfUnknown = 256;
/// What parts leave: for each sum.
llvm::SmallVector<Scratch> scratchOfParts(const KernelFunction &kernel, const GroupShape &shape, uint32_t parts);

/// What the block has added up of each sum, of its part of the row.
void leavePart(Writer &w, llvm::ArrayRef<RowSum> sums, llvm::ArrayRef<mlir::Value> totals);
/// The kernel that adds up all parts of a row for each block.
void writeTotals(Writer &w);

} // namespace tenon::compiler::codegen
