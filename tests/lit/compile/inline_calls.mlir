// Private functions are inlined where they are called, and dropped.
// RUN: tenon-opt --tenon-inline-calls %s | FileCheck %s
// RUN: tenon-compile %s -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s --check-prefix=PROGRAM

// CHECK-NOT:   @double
// CHECK-LABEL: func.func @quadruple(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:    %[[C:.*]] = arith.addf %[[B]], %[[B]]
// CHECK-NEXT:    return %[[C]], %[[A]]
// PROGRAM: program 'module': 1 function,
func.func private @double(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @double(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %a : tensor<4xf32>, tensor<4xf32>
}
func.func @quadruple(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @twice(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
