// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-opt: runs chosen passes over a module and prints it; the tool that pass tests call.
#include "compiler/codegen/passes.h"
#include "compiler/dialect/Dialects.h"
#include "compiler/dialect/transforms/Passes.h"
#include "compiler/dispatch/passes.h"
#include "compiler/host/passes.h"

#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tenon::compiler::registerDialects(registry);
  tenon::compiler::registerDialectPasses();
  mlir::registerTransformsPasses();
  tenon::compiler::dispatch::registerDispatchPasses();
  tenon::compiler::host::registerHostPasses();
  tenon::compiler::codegen::registerCodegenPasses();
  mlir::memref::registerResolveRankedShapeTypeResultDimsPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tenon's pass driver\n", registry));
}
