// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which linalg operations of a block become one kernel, and where a kernel ends, why.
//
// Operations are taken in order. Each joins the group that computes what it reads, if both are one group together
// (group.h), if no other operation stands between them, and if the kernel stays within its limits. Reductions that read
// the same tensor join too: it is then read once.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

namespace tenon::compiler::dispatch {

/// A value that one kernel stores and another reads, and why they are two.
struct Boundary {
  mlir::Operation *producer;
  mlir::Operation *consumer;
  std::string reason;
};

struct GroupedBlock {
  llvm::SmallVector<Group> groups; // in the order of their last operations
  llvm::SmallVector<Boundary> boundaries;
};

/// Groups the linalg.generic operations of `block`. What stands between the operations of a group and reads its results
/// is moved behind its last operation.
GroupedBlock formGroups(mlir::Block &block);

} // namespace tenon::compiler::dispatch
