// An assertion outside of tensor code fails the call with its message, before anything of its block is launched. One in a
// body is not checked, and a remark says so.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tenon-run %t.tenon --device=emulator --function=sizes --input=3xf32=1 --input=3xf32=2 | FileCheck %s --check-prefix=SIZES
// RUN: not tenon-run %t.tenon --device=emulator --function=sizes --input=3xf32=1 --input=4xf32=2 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: tenon-run %t.tenon --device=emulator --function=element --input=2xf32="1 2" | FileCheck %s --check-prefix=ELEMENT
// RUN: not tenon-run %t.tenon --device=emulator --function=element --input=2xf32="-1 2" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: tenon-run %t.tenon --device=emulator --function=loop --input=2xf32=1 --input=3 | FileCheck %s --check-prefix=LOOP
// RUN: not tenon-run %t.tenon --device=emulator --function=loop --input=2xf32=1 --input=9 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: tenon-run %t.tenon --device=emulator --function=window --input=4xf32="1 2 3 4" --input=2xf32=1 --input=3xf32=0 | FileCheck %s --check-prefix=WINDOW
// RUN: tenon-run %t.tenon --device=emulator --function=window --input=1xf32=1 --input=2xf32=1 --input=0xf32 | FileCheck %s --check-prefix=NONE
// RUN: not tenon-run %t.tenon --device=emulator --function=window --input=4xf32="1 2 3 4" --input=2xf32=1 --input=4xf32=0 2>&1 | FileCheck %s --check-prefix=PAST
// RUN: tenon-run %t.tenon --device=emulator --function=beside --input=2x1xf32="1 2" --input=2x2xf32=3 | FileCheck %s --check-prefix=BESIDE
// RUN: not tenon-run %t.tenon --device=emulator --function=beside --input=2x1xf32="1 2" --input=3x2xf32=3 2>&1 | FileCheck %s --check-prefix=UNLIKE
// RUN: tenon-run %t.tenon --device=emulator --function=rows --input=2x2xf32="1 2 3 4" --input=3xi64="1 0 1" | FileCheck %s --check-prefix=ROWS

// REMARK: assertions.mlir:[[# @LINE + 49]]:5: remark: 'cf.assert' in a body is not checked
// REMARK-NOT: remark

// SIZES: 3xf32=3 3 3
// OTHER: error: {{.*}}assertions.mlir:{{[0-9]+}}:3: function 'sizes': mismatched size for broadcast
func.func @sizes(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "mismatched size for broadcast"
  %0 = arith.addf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// ELEMENT: 2xf32=1 1.41421
// NEGATIVE: function 'element': the first one is negative
func.func @element(%a: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = tensor.extract %a[%c0] : tensor<2xf32>
  %good = arith.cmpf oge, %first, %zero : f32
  cf.assert %good, "the first one is negative"
  %0 = math.sqrt %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// LOOP: 2xf32=8 8
// LONG: function 'loop': more than 5 turns
func.func @loop(%a: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<2xf32>) {
    %few = arith.cmpi slt, %i, %c5 : index
    cf.assert %few, "more than 5 turns"
    %y = arith.addf %x, %x : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// ROWS: 3x2xf32=[3 4][1 2][3 4]
func.func @rows(%table: tensor<2x2xf32>, %rows: tensor<3xi64>) -> tensor<3x2xf32> {
  %empty = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<3xi64>) outs(%empty : tensor<3x2xf32>) {
  ^bb0(%row: i64, %o: f32):
    %two = arith.constant 2 : i64
    %inside = arith.cmpi slt, %row, %two : i64
    cf.assert %inside, "index must be smaller than dim size"
    %at = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %table[%at, %j] : tensor<2x2xf32>
    linalg.yield %e : f32
  } -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// What a call must give, though no assertion is written: an image as large as its windows, and sides of one size.
// WINDOW: 3xf32=3 5 7
// NONE: 0xf32=
// PAST: function 'window': dimension 0 of operand 0 ends before the last element that is read of it
func.func @window(%x: tensor<?xf32>, %f: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.conv_1d ins(%x, %f : tensor<?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// BESIDE: 2x3xf32=[1 3 3][2 3 3]
// UNLIKE: function 'beside': dimension 0 of part 1 of tensor.concat is not that of part 0 (argument 0: 2, argument 1: 3)
func.func @beside(%x: tensor<?x1xf32>, %y: tensor<?x2xf32>) -> tensor<?x3xf32> {
  %0 = tensor.concat dim(1) %x, %y : (tensor<?x1xf32>, tensor<?x2xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
