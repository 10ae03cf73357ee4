// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/codegen, and their registration for tenon-opt. Passes.td describes each.
#pragma once

#include "compiler/codegen/tuning/tunable_contraction.h"

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::codegen {

#define GEN_PASS_DECL
#include "compiler/codegen/Passes.h.inc"

/// tenon-choose-strategies for a tuner.
/// @param found filled when the pass runs: each contraction, as often as there are kernels of it
std::unique_ptr<mlir::Pass> createListingChooseStrategies(ChooseStrategiesOptions options,
                                                          std::vector<TunableContraction> *found);

#define GEN_PASS_REGISTRATION
#include "compiler/codegen/Passes.h.inc"

} // namespace tenon::compiler::codegen
