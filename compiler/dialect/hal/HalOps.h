// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of hal. HalOps.td describes each.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "compiler/dialect/hal/HalOps.h.inc"
