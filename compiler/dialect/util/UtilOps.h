// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions, globals and values of util. UtilOps.td describes them.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/util/UtilDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/util/UtilAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/util/UtilTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/util/UtilOps.h.inc"

namespace tenon::compiler::util {

/// On a private function: what the program does before the first call that uses a global (initializers, joined).
inline constexpr llvm::StringLiteral kInitializerAttr = "tenon.initializer";

} // namespace tenon::compiler::util
