// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view of the first elements of a tensor: a flow.tensor.reshape whose result may be smaller than its operand.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tenon::compiler::flow {

/// On the reshape. That the result is not larger is verified where sizes are known, and by the program where they are
/// not.
inline constexpr llvm::StringLiteral kPrefixAttr = "tenon.prefix";

} // namespace tenon::compiler::flow
