// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of kernel functions, written for each target, and which of them are of one structure: whether it is another
// module, or the same one for another target.
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/families/family.h"

#include "llvm/ADT/SmallBitVector.h"

#include <functional>
#include <memory>

namespace tenon::compiler::codegen {

struct FoundFamily {
  Family family;
  llvm::SmallBitVector targets; // that want it
};

struct FoundFamilies {
  struct Place {
    size_t module, target, family, member;
  };
  std::vector<std::unique_ptr<FoundFamily>> families; // those of one member, too
  std::vector<Place> places;                          // of every module for every target
};

/// How modules are written for a target.
struct KernelsWriter {
  /// Targets of one variant get the same.
  std::function<unsigned(mlir::ModuleOp, const abi::TargetArch &)> variantFor;
  /// Errors go to the diagnostics.
  std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(mlir::ModuleOp, const abi::TargetArch &)> write;
};

/// @param modules only read
mlir::FailureOr<FoundFamilies> findFamilies(llvm::ArrayRef<mlir::ModuleOp> modules,
                                            llvm::ArrayRef<abi::TargetArch> targets, const KernelsWriter &writer);

} // namespace tenon::compiler::codegen
