// A concatenation along a dimension that no part has: the other dimensions may still be unknown.
// RUN: tenon-opt %s --tenon-lower-tensors | FileCheck %s
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: = tensor.concat
// CHECK: return %{{.+}} : tensor<?x0xf32>
func.func @nothing(%a: tensor<?x0xf32>, %b: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x0xf32>, tensor<?x0xf32>) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}
