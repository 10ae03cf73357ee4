// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/host.
#ifndef TENON_COMPILER_HOST_PASSES
#define TENON_COMPILER_HOST_PASSES

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"tenon-inline-calls", "::mlir::ModuleOp"> {
  let summary = "calls of private functions become their bodies";
  let description = [{
    A function of a program is a list of commands, which has no call. Every func.call is replaced by the body of its
    callee, then private functions are erased but those that are fallbacks of exports (`tenon.fallback`), which become
    kernels.

    Before:
    ```mlir
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    Errors, at the call: the callee has no body, calls itself (directly or through others), has control flow, or inlining
    would make more than a million operations of the module.
  }];
}

def VerifySignatures : Pass<"tenon-verify-signatures", "::mlir::ModuleOp"> {
  let summary = "public functions take and return what a program can hold";
  let description = [{
    Runs first on the host's side, so that a type which no program can hold is reported before kernels are generated,
    assembled and linked. All functions are looked at. The module stays as it is.

    Before:
    ```mlir
    func.func @f(%a: memref<4xf32>)
    ```
    Error:
    ```
    example.mlir:1:14: error: argument 0 of '@f' has type 'memref<4xf32>', which a program cannot take
    ```
  }];
}

#endif
