// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One program for several kinds of device (compiler/editions): what stands on its operations from the pass that plans
// each kind by itself to the file.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler {

// On a function of an edition: the name of the function that it is for callers, and the edition's targets
// ([#hal.executable.target]).
inline constexpr llvm::StringLiteral kEditionOfAttr = "tenon.edition_of";
inline constexpr llvm::StringLiteral kEditionTargetsAttr = "tenon.edition_targets";

// On a hal.executable.source whose code is made for some of the module's targets alone: those.
inline constexpr llvm::StringLiteral kSomeTargetsAttr = "tenon.some_targets";

// On a module that holds one edition: targets of the program that are the others'.
inline constexpr llvm::StringLiteral kOtherTargetsAttr = "tenon.other_targets";

} // namespace tenon::compiler
