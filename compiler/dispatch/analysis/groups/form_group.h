// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations are one group.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

#include <string>

namespace tenon::compiler::dispatch {

/// Sees `ops` as one group. Otherwise `reason` says why they are none ("it reduces other axes").
std::optional<Group> groupOf(llvm::ArrayRef<mlir::linalg::GenericOp> ops, std::string &reason);

} // namespace tenon::compiler::dispatch
