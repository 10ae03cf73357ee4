// The host reads values when a block is done, behind what is assigned there.
// RUN: not tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon 2>&1 | FileCheck %s

// CHECK: assigned_invalid.mlir:[[@LINE+4]]:{{.*}}error: assigns to an argument that 'tensor.extract' reads in the same block
func.func @read_before(%a: tensor<3xf32>, %b: tensor<3xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %a[%c0] : tensor<3xf32>
  %1 = hal.tensor.alias %b : tensor<3xf32> to %a : tensor<3xf32>
  return %n : f32
}
