// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of strategies. A new strategy is a file pair and one line in strategies.cpp.
#pragma once

#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

/// All of them; the first that takes a group computes it.
llvm::ArrayRef<const Strategy *> strategies();
const Strategy *strategyNamed(llvm::StringRef name);

} // namespace tenon::compiler::codegen
