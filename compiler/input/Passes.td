// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/input.
#ifndef TENON_COMPILER_INPUT_PASSES
#define TENON_COMPILER_INPUT_PASSES

include "mlir/Pass/PassBase.td"

def ReadInput : Pass<"tenon-read-input", "::mlir::ModuleOp"> {
  let summary = "functions, globals and constants of other compilers become MLIR's own";
  let description = [{
    Before:
    ```mlir
    util.global private @device = #hal.device.target<"cuda", [#sm_80]> : !hal.device
    util.global private @scale = dense<2.0> : tensor<4xf32>
    util.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = util.global.load @scale : tensor<4xf32>
      %1 = arith.mulf %x, %0 : tensor<4xf32>
      util.return %1 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    module attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_80]>]} {
      func.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = arith.constant dense<2.0> : tensor<4xf32>
        ..
    ```
    A global that util.initializer sets becomes what is computed there, at each use. One that a function stores is
    refused: a program keeps no state between calls. Attributes of dialects that are not known stay, with a remark;
    their operations and types are errors, and so are misspelt attributes of ours, with the nearest name.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::tenon::compiler::util::UtilDialect"];
}

#endif
