// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-read-input (Passes.td).
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/Passes.h"
#include "compiler/input/steps/steps.h"
#include "compiler/input/tensors/generalize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_READINPUT
#include "compiler/input/Passes.h.inc"

namespace {

struct ReadInput : impl::ReadInputBase<ReadInput> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // In the order of steps.h.
    for (auto step : {readOtherYears, readPacked, readMlProgram, readDevices, checkNames, checkRanks, readBytePatterns,
                      readPointers, readGlobals, readFlowTensors, readAllocations, readForalls, readFunctions,
                      readFences, readBufferViews, readDonations})
      if (failed(step(module)))
        return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) // before any pass folds
      generalizeFolded(function);
  }
};

} // namespace

} // namespace tenon::compiler::input
