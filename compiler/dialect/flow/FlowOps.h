// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.dispatch: a program as dispatches over tensors. FlowOps.td describes it.
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

#include "compiler/dialect/flow/FlowDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/flow/FlowAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/flow/FlowOps.h.inc"
