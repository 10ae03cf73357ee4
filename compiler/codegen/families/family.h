// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of one structure (structure.h), which LLVM makes once: with names for the numbers that are not the same in
// all of them.
#pragma once

#include "compiler/codegen/families/structure.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler::codegen {

class Family {
public:
  explicit Family(Structure first);

  /// Which member the kernels are, a new one perhaps; nothing: they are none. The first is member 0.
  std::optional<size_t> add(const Structure &kernels);
  /// How many members differ.
  size_t size() const { return members_.size(); }

  /// Gives names to what is not the same in all members. Nothing is added behind that.
  void nameNumbers();
  /// The kernels, with names; to be lowered.
  mlir::OwningOpRef<mlir::ModuleOp> written() { return first_.module().clone(); }
  /// What the names stand for in a member, as PTX writes it.
  std::vector<std::string> numbersOf(size_t member) const;

private:
  using Numbers = std::vector<int64_t>;

  Structure first_;
  std::vector<Numbers> members_; // [members][numbers of the structure]
  std::map<Numbers, size_t> known_;
  std::vector<size_t> named_; // [names] a number of the structure that has it
};

} // namespace tenon::compiler::codegen
