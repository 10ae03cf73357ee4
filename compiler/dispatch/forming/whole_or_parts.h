// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum of unknown size may be taken apart, but whether that is worth its launches only the program knows. So the group
// that it belongs to is there twice: as it is, and in parts. The program launches the kernels of one form; those of the
// other have no blocks, which is no launch. Both write to the same memory.
//
//   %p = parts of x         runs where %few        %few: computed from the sizes
//   %a = sum of %p          runs where not %few
//   %b = sum of x           runs where %few        over %a's memory
//   who reads the sum reads %b
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/splits/split_reductions.h"

namespace tenon::compiler::dispatch {

/// On an arith.select of tensors: one of them is computed, whichever form runs.
inline constexpr llvm::StringLiteral kEitherAttr = "tenon.either";

/// The groups of a function that are there in two forms.
class WholeOrParts {
public:
  /// Copies groups of `block` that may be taken apart, as they are, behind themselves.
  void copyGroups(mlir::Block &block);
  /// What the originals have become is the other form.
  void markParts();
  /// Nothing where the group always runs.
  std::optional<StaysWhole> conditionOf(const Group &group) const;

private:
  struct Choice {
    StaysWhole whole;
    mlir::Operation *begin, *end; // markers around the originals
  };
  void copyGroup(const Group &group, mlir::linalg::GenericOp candidate);

  llvm::SmallVector<Choice> choices_;
};

/// Whether the value is one of two, of which the program computes one.
bool isEither(mlir::Value value);
/// Has the dispatches of whole forms write over the results of those of parts.
void joinForms(mlir::Block &block);

} // namespace tenon::compiler::dispatch
