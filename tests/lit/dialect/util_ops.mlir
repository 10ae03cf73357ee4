// Constants and barriers that no optimization sees through.
// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --canonicalize --cse | FileCheck %s --check-prefix=OPT
// RUN: not tenon-opt %S/Inputs/empty_barrier.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY

// EMPTY: error: 'util.optimization_barrier' op found no operand, at least one is wanted

// CHECK-LABEL: func.func @constants
// OPT-LABEL: func.func @constants
func.func @constants() -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = util.unfoldable_constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
  // OPT-NEXT: util.unfoldable_constant
  %a = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK-NEXT: util.unfoldable_constant 3 : i32
  %b = util.unfoldable_constant 3 : i32
  // OPT: util.optimization_barrier
  // CHECK-NEXT: %[[B:.*]]:2 = util.optimization_barrier %[[A]], %{{.*}} : tensor<4xf32>, i32
  %c:2 = util.optimization_barrier %a, %b : tensor<4xf32>, i32
  // CHECK-NEXT: return %[[B]]#0
  return %c#0 : tensor<4xf32>
}

// OPT-LABEL: func.func @kept
// OPT-COUNT-2: util.optimization_barrier
func.func @kept(%a: i32) {
  %0 = util.optimization_barrier %a : i32
  %1 = util.optimization_barrier %a : i32
  return
}
