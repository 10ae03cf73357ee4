// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-opt: runs chosen passes over a module and prints it; the tool that pass tests call.
#include "compiler/codegen/Passes.h"
#include "compiler/dialect/Dialects.h"
#include "compiler/dialect/transforms/Passes.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/host/Passes.h"

#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  tenon::compiler::registerDialects(registry);
  tenon::compiler::registerDialectPasses();
  registerTransformsPasses();
  tenon::compiler::dispatch::registerDispatchPasses();
  tenon::compiler::host::registerHostPasses();
  tenon::compiler::codegen::registerCodegenPasses();
  memref::registerResolveRankedShapeTypeResultDimsPass();
  return asMainReturnCode(MlirOptMain(argc, argv, "tenon's pass driver\n", registry));
}
