// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel can reach in its object: the functions it calls (or whose address it takes), the module variables that
// any of them names, the shared variables declared inside them, and the names that the object itself does not define.
//
// Only what is reached counts: an object may hold other kernels with needs of their own.
#pragma once

#include "linker/object/object.h"

#include <vector>

namespace tenon::linker {

struct UnresolvedName {
  std::string_view name;
  bool isFunction = false;
  const ptx::Function *user = nullptr; // whose body names it; null: an initialiser does
  SourceLocation where;                // the first use
  SourceLocation declaredAt;           // the .extern declaration; unknown when there is none
};

struct Reachability {
  std::vector<const ptx::Function *> functions;   // with a body, the entry first, in the order reached
  std::vector<const ptx::Variable *> variables;   // module variables with storage, in module order
  std::vector<const ptx::Variable *> localShared; // .shared declared in these bodies
  const ptx::Variable *dynamicShared = nullptr;   // the first .extern .shared x[] reached
  std::vector<UnresolvedName> unresolved;         // each name once, in the order reached
  uint64_t dynamicAlignment = 1;                  // what static shared memory ends at: see staticSharedBytes

  /// Bytes of static shared memory: the variables one after the other, each at its alignment. Where the module declares
  /// dynamic shared memory, whether this kernel uses it or not, ptxas 13 lets it begin behind them at the greatest
  /// alignment of its arrays, of at least 16, and counts what lies between.
  uint64_t staticSharedBytes() const;
};

/// Walks from `entry` (a function with a body of object.module). Source: PTX ISA, "Scoping", "Direct Call".
Reachability computeReachability(const Object &object, const ptx::Function &entry);

} // namespace tenon::linker
