// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans of a contraction of which the program alone knows some size: several kernels, each with the tile that is
// fastest in a range, and guards that say for which sizes it runs. Which ranges there are is in size_ranges.h and
// unknown_sizes.h.
#pragma once

#include "compiler/codegen/strategies/products/plans/tile_plan.h"
#include "compiler/dispatch/analysis/products/warp_tiles.h"

namespace tenon::compiler::codegen {

/// Of experts: tiles as high as the rows that experts have on average; where nobody knows, a kernel for each height.
std::vector<Plan> routedPlans(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                              const Product &product);

/// Of an unknown number of rows, where tiles compute the other side from weights of few bits: kernels for few rows and
/// for more.
std::vector<Plan> plansOfComputedTiles(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                       const Product &product);

/// Of an unknown number of images, without tensor cores.
std::vector<Plan> scalarPlansOfUnknown(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                       const Product &product);

/// Of a side of unknown size, a kernel for each range of it. Hopper's blocks take tile after tile, however many of them
/// are launched: enough for each of its multiprocessors.
std::vector<Plan> plansOfUnknown(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                 const Product &product, llvm::ArrayRef<unsigned> side);

/// Of matrices, in programs for Hopper alone. Where only the program knows whether rows are aligned, it chooses between
/// kernels that take boxes and others that shift lines: one of both would have fewer stages, and so much code that the
/// compiler of PTX gives it other registers (an H200: bf16 nt 96 x 1024 x 4096 of unknown sizes 14.8 us, and 17.9 to
/// 20.4 as one).
std::vector<Plan> plansOfUnknownSizes(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                      const Product &product);

/// All others: larger tiles the more results there are.
/// @param device whose tiles compute the product; none: other targets
std::vector<Plan> plansByCount(llvm::StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                               const Product &product, const std::optional<dispatch::WarpDevice> &device);

} // namespace tenon::compiler::codegen
