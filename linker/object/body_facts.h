// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the passes want to know of a body, put down when it was read: bodies themselves are not kept.
#pragma once

#include "ptx/def_use.h"
#include "ptx/module.h"

#include <string_view>
#include <vector>

namespace tenon::linker {

/// A name of the module that a body uses.
struct NameUse {
  std::string_view name;         // of an alias: what it stands for
  uint32_t line = 0, column = 0; // of the first use
  bool isUndeclared = false;     // called, and declared nowhere
};

struct BodyFacts {
  std::vector<NameUse> uses;         // in the order of the body
  std::vector<ptx::Variable> shared; // .shared variables that it declares
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t handleUse = kNone; // the first instruction that takes a texture, a surface or a sampler
};

/// The facts of a function that has its body. `uses` are those of that body, `names` those of the module.
BodyFacts findBodyFacts(const ptx::Module &module, const ptx::Function &function, const ptx::DefUse &uses,
                        const ptx::ModuleNames &names);

} // namespace tenon::linker
