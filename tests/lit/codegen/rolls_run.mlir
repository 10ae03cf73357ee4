// Both parts of a tensor, the second first, are read once, at a place that goes round; a roll of a roll is one kernel. Other slices are what
// they are.
// RUN: tenon-opt %s --tenon-lower-tensors | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon --print-dispatches 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=twice --input=3x4x2xi32=0,1,2,3,4,5,6,7,10,11,12,13,14,15,16,17,20,21,22,23,24,25,26,27 \
// RUN:   --expected_output=3x4x2xi32=16,17,10,11,12,13,14,15,26,27,20,21,22,23,24,25,6,7,0,1,2,3,4,5
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=others --input=4x2xi32=0,1,2,3,4,5,6,7 \
// RUN:   --expected_output=4x2xi32=2,3,4,5,0,1,2,3 --expected_output=4x2xi32=4,5,6,7,2,3,0,1 --expected_output=4x2xi32=1,0,3,2,5,4,7,6

// CHECK-LABEL: func.func @twice(
// CHECK-COUNT-2: arith.remui
// KERNELS: kernel 'twice_dispatch_0' ends here
// KERNELS-NOT: kernel 'twice_dispatch_1'
func.func @twice(%x: tensor<3x4x2xi32>) -> tensor<3x4x2xi32> {
  %a = tensor.extract_slice %x[1, 0, 0] [2, 4, 2] [1, 1, 1] : tensor<3x4x2xi32> to tensor<2x4x2xi32>
  %b = tensor.extract_slice %x[0, 0, 0] [1, 4, 2] [1, 1, 1] : tensor<3x4x2xi32> to tensor<1x4x2xi32>
  %r = tensor.concat dim(0) %a, %b : (tensor<2x4x2xi32>, tensor<1x4x2xi32>) -> tensor<3x4x2xi32>
  %c = tensor.extract_slice %r[0, 3, 0] [3, 1, 2] [1, 1, 1] : tensor<3x4x2xi32> to tensor<3x1x2xi32>
  %d = tensor.extract_slice %r[0, 0, 0] [3, 3, 2] [1, 1, 1] : tensor<3x4x2xi32> to tensor<3x3x2xi32>
  %s = tensor.concat dim(1) %c, %d : (tensor<3x1x2xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return %s : tensor<3x4x2xi32>
}

// Parts that overlap, three of them, and along the last dimension.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: arith.remui
func.func @others(%x: tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>) {
  %a = tensor.extract_slice %x[1, 0] [2, 2] [1, 1] : tensor<4x2xi32> to tensor<2x2xi32>
  %b = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<4x2xi32> to tensor<2x2xi32>
  %r = tensor.concat dim(0) %a, %b : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<4x2xi32>
  %c = tensor.extract_slice %x[2, 0] [2, 2] [1, 1] : tensor<4x2xi32> to tensor<2x2xi32>
  %d = tensor.extract_slice %x[1, 0] [1, 2] [1, 1] : tensor<4x2xi32> to tensor<1x2xi32>
  %e = tensor.extract_slice %x[0, 0] [1, 2] [1, 1] : tensor<4x2xi32> to tensor<1x2xi32>
  %s = tensor.concat dim(0) %c, %d, %e : (tensor<2x2xi32>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<4x2xi32>
  %f = tensor.extract_slice %x[0, 1] [4, 1] [1, 1] : tensor<4x2xi32> to tensor<4x1xi32>
  %g = tensor.extract_slice %x[0, 0] [4, 1] [1, 1] : tensor<4x2xi32> to tensor<4x1xi32>
  %t = tensor.concat dim(1) %f, %g : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  return %r, %s, %t : tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>
}
