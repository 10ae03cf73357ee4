// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tenon-generate-kernels makes once: a module of kernel functions, and its PTX for each target.
#pragma once

#include "compiler/codegen/decisions/targets.h"
#include "compiler/codegen/generate_ptx.h"
#include "compiler/codegen/kernel_cache.h"

namespace tenon::compiler::codegen {

/// Numbers of targets, those of older architectures first: what they have may serve newer ones.
llvm::SmallVector<size_t> oldestFirst(llvm::ArrayRef<Target> targets);

/// One module, whoever asks for it, for each target.
struct KernelUnit {
  struct Image {
    std::string key;                  // in the cache
    std::string ptx;                  // with placeholders
    std::string llvmIr;               // the same; empty: nobody wants it
    std::unique_ptr<PtxJob> job;      // until it is done
    bool isNew = false;               // LLVM made `ptx`
    bool isCached = false;            // the cache had it
    Image *like = nullptr;            // one with the same code, which is made or was found
    std::optional<PlainWaits> waits;  // what that one has not
    Image *named = nullptr;           // of the unit's family, with names for numbers
    std::vector<std::string> numbers; // that these stand for
  };
  mlir::ModuleOp module;     // of the first executable that holds it; null: a family's
  std::string text;          // that decides about its code; empty: none does
  std::string alike;         // what the cache's keys depend on beside it: all that it may be made together with
  std::vector<Image> images; // [targets]

  /// Of such a module; empty: no text decides (bytes of a resource stand elsewhere).
  static std::string textOf(mlir::ModuleOp module, bool withPlaces);

  bool isCached() const {
    return llvm::all_of(images, [](const Image &image) { return image.isCached; });
  }
  /// Takes what the cache has.
  void find(llvm::ArrayRef<Target> targets, const KernelCache &cache);
  /// Once the pool is done: takes what it has made, and what others are made of. What is new is kept.
  mlir::LogicalResult finish(llvm::ArrayRef<Target> targets, KernelCache &cache);
};

} // namespace tenon::compiler::codegen
