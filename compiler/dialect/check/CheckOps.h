// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.expect_*: expectations of end-to-end tests.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "compiler/dialect/check/CheckDialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/check/CheckOps.h.inc"
