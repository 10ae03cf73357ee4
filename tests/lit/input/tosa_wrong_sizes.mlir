// Sizes that only a call knows must agree; an index outside of what is gathered stands for the nearest inside.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=gather --input=1x3x2xf32="1 2 3 4 5 6" --input=1x4xi32="1 3 2147483647 -1" | FileCheck %s --check-prefix=GATHER
// RUN: tenon-run %t.tenon --device=emulator --function=known --input=1x3x1xf32="1 2 3" --input=1x2xi32="-7 7" | FileCheck %s --check-prefix=KNOWN
// RUN: not tenon-run %t.tenon --device=emulator --function=gather --input=2x3x2xf32=1 --input=1x4xi32=0 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: tenon-run %t.tenon --device=emulator --function=concat --input=2x1xf32="1 2" --input=2x1xf32="3 4" | FileCheck %s --check-prefix=CONCAT
// RUN: not tenon-run %t.tenon --device=emulator --function=concat --input=3x1xf32=1 --input=2x1xf32=2 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not tenon-run %t.tenon --device=emulator --function=slice --input=3xf32=1 2>&1 | FileCheck %s --check-prefix=SLICE

// GATHER: 1x4x2xf32=[{{\[}}3 4][5 6][5 6][1 2]]
// LINES: function 'gather': dimension 0 of an operand of tosa.gather is not that of another (argument 0: 2, argument 1: 1)
func.func @gather(%x: tensor<?x?x2xf32>, %at: tensor<?x?xi32>) -> tensor<?x?x2xf32> {
  %0 = tosa.gather %x, %at : (tensor<?x?x2xf32>, tensor<?x?xi32>) -> tensor<?x?x2xf32>
  return %0 : tensor<?x?x2xf32>
}

// KNOWN: 1x2x1xf32=[{{\[}}1][3]]
func.func @known(%x: tensor<1x3x1xf32>, %at: tensor<1x2xi32>) -> tensor<1x2x1xf32> {
  %0 = tosa.gather %x, %at : (tensor<1x3x1xf32>, tensor<1x2xi32>) -> tensor<1x2x1xf32>
  return %0 : tensor<1x2x1xf32>
}

// CONCAT: 2x2xf32=[1 3][2 4]
// SHORT: function 'concat': dimension 0 of an operand of tosa.concat is not that of another (argument 0: 3, argument 1: 2)
func.func @concat(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tosa.concat %x, %y {axis = 1 : i32} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// SLICE: function 'slice': tensor.extract_slice ends behind the end of dimension 0
func.func @slice(%x: tensor<?xf32>) -> tensor<3xf32> {
  %start = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %size = tosa.const_shape {values = dense<3> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.slice %x, %start, %size : (tensor<?xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
