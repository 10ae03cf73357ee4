// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction of a program, as a tuner sees it: what can be chosen for each target, what is chosen, and a program
// that computes it alone.
#pragma once

#include "compiler/codegen/tuning/tile_choice.h"

#include "mlir/IR/Location.h"

namespace tenon::compiler::codegen {

/// The only function of such a program. It takes what the kernel takes: sizes that are not known and scalars, tensors.
inline constexpr llvm::StringLiteral kTunedFunction = "contraction";

struct TunableContraction {
  std::string key; // contraction_key.h
  mlir::Location place;
  std::string program; // MLIR
  struct OfTarget {
    abi::TargetArch target;
    std::vector<TileChoice> choices;
    std::optional<TileChoice> chosen; // nothing: several kernels, one of which runs
    bool isGiven = false;             // by a file or an attribute, and not by the model
  };
  std::vector<OfTarget> targets;
};

} // namespace tenon::compiler::codegen
