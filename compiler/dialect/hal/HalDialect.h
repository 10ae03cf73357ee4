// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hal dialect itself, without its operations.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"

#include "compiler/dialect/hal/HalDialect.h.inc"
