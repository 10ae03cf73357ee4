// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-read-input (Passes.td).
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/Passes.h"
#include "compiler/input/steps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_READINPUT
#include "compiler/input/Passes.h.inc"

namespace {

struct ReadInput : impl::ReadInputBase<ReadInput> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(readOtherYears(module)) || failed(readPacked(module)) || failed(readMlProgram(module)) ||
        failed(readDevices(module)) || failed(checkNames(module)) || failed(checkRanks(module)) ||
        failed(readGlobals(module)) || failed(readFunctions(module)))
      signalPassFailure();
  }
};

} // namespace

} // namespace tenon::compiler::input
