// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which modules may be of one structure, found out without writing them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tenon::compiler::codegen {

/// So many modules that differ in sizes alone are worth being looked at. Fewer are made one by one: what is made of
/// each does not depend on the others then.
constexpr size_t kLeastAlike = 4;
/// Of those, so many of one structure are made together.
constexpr size_t kLeastOfFamily = 2;

/// A module's text without the sizes of its tensors, the values of its constants, and the numbers of its plans: what
/// one target's kernel has of these may be none of another's (sm_80 reads no warpgroup's tile).
std::string withoutSizes(llvm::StringRef text);

/// Groups of at least kLeastAlike texts that are the same without these, by number, each in order. Empty texts are in
/// none.
std::vector<std::vector<size_t>> groupsOfAlike(llvm::ArrayRef<llvm::StringRef> texts);

} // namespace tenon::compiler::codegen
