// What torch-mlir keeps between calls: globals of ml_program are those of util.
// RUN: tenon-opt %s --tenon-read-input | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s --check-prefix=PASSES
// RUN: split-file %S/Inputs/ml_program.mlir %t
// RUN: not tenon-compile %t/extern.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=EXTERN
// RUN: not tenon-compile %t/function.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not tenon-compile %t/nested.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=NESTED

// EXTERN: extern.mlir:1:1: error: 'ml_program.global' op is not supported: its value is outside of the module
// FUNCTION: function.mlir:1:1: error: 'ml_program.func' {{.*}}not supported
// NESTED: nested.mlir:5:8: error: 'ml_program.global_load' op names @a::@b, a global inside of another symbol, which is not supported

// CHECK-NOT: ml_program
// CHECK: util.global private mutable @global_seed = dense<1> : tensor<i64>
// CHECK-NOT: ml_program
ml_program.global private mutable @global_seed(dense<1> : tensor<i64>) : tensor<i64>
ml_program.global private @offset(dense<3> : tensor<i64>) : tensor<i64>

func.func private @next() -> tensor<i64> {
  %seed = ml_program.global_load @global_seed : tensor<i64>
  %offset = ml_program.global_load_const @offset : tensor<i64>
  %twice = arith.addi %seed, %seed : tensor<i64>
  %next = arith.addi %twice, %offset : tensor<i64>
  ml_program.global_store @global_seed = %next : tensor<i64>
  return %next : tensor<i64>
}

// PASSES: PASS @twice
func.func @twice() {
  %0 = call @next() : () -> tensor<i64>
  %1 = call @next() : () -> tensor<i64>
  check.expect_eq_const(%0, dense<5> : tensor<i64>) : tensor<i64>
  check.expect_eq_const(%1, dense<13> : tensor<i64>) : tensor<i64>
  return
}
