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
    A callee with branches splits the block of the call. Errors, at the call: the callee has no body, calls itself
    (directly or through others), has branches and is called inside tensor code, or inlining would make more than a
    million operations of the module.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}

def LowerControlFlow : Pass<"tenon-lower-control-flow", "::mlir::ModuleOp"> {
  let summary = "loops and conditions of host functions become blocks and branches";
  let description = [{
    Those inside tensor code stay, since a kernel runs them. Behind it, tensor code in any block becomes dispatches, and
    a block becomes a list of commands.

    Before:
    ```mlir
    func.func @f(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = scf.if %c -> tensor<4xf32> {
        scf.yield %x : tensor<4xf32>
      } else {
        %1 = arith.addf %x, %y : tensor<4xf32>
        scf.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      cf.cond_br %c, ^bb2(%x : tensor<4xf32>), ^bb1
    ^bb1:
      %1 = arith.addf %x, %y : tensor<4xf32>
      cf.br ^bb2(%1 : tensor<4xf32>)
    ^bb2(%0: tensor<4xf32>):
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
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
    example.mlir:1:14: error: argument 0 of '@f' has type 'memref<4xf32>', which a program cannot take: a tensor or a scalar is wanted, as tensor<4xf32>, tensor<?xi8>, i32 or f32
    ```
  }];
}

#endif
