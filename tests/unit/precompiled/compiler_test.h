// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same for tests of compiler/: MLIR's headers as well, and what reads a program's text.
#pragma once

#include "compiler/pch/mlir.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/precompiled/unit_test.h"
