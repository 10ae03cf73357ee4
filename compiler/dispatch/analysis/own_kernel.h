// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that a kernel of their own makes, although whoever reads them could compute them.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tenon::compiler::dispatch {

/// On such an operation: its elements would be read several times over, or one by one among others, if who reads them
/// read what they are copied from.
inline constexpr llvm::StringLiteral kOwnKernelAttr = "tenon.own_kernel";

} // namespace tenon::compiler::dispatch
