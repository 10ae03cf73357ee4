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
// RUN: tenon-run %t.tenon --device=emulator --function=slice --input=4xf32="1 2 3 4" --input=2 --input=2 | FileCheck %s --check-prefix=SLICE
// RUN: tenon-run %t.tenon --device=emulator --function=slice --input=4xf32="1 2 3 4" --input=4 --input=0 | FileCheck %s --check-prefix=NOSLICE
// RUN: not tenon-run %t.tenon --device=emulator --function=slice --input=4xf32="1 2 3 4" --input=3 --input=2 2>&1 | FileCheck %s --check-prefix=SLICEPAST
// RUN: not tenon-run %t.tenon --device=emulator --function=slice --input=4xf32="1 2 3 4" --input=-1 --input=2 2>&1 | FileCheck %s --check-prefix=SLICEBEFORE
// RUN: not tenon-run %t.tenon --device=emulator --function=read --input=4xf32="1 2 3 4" --input=i64=3 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not tenon-run %t.tenon --device=emulator --function=insert --input=4xf32="1 2 3 4" --input=2xf32=9 --input=1 --input=3 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: not tenon-run %t.tenon --device=emulator --function=one --input=4xf32="1 2 3 4" --input=4 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not tenon-run %t.tenon --device=emulator --function=unpack --input=2x4xf32=1 --input=9 2>&1 | FileCheck %s --check-prefix=UNPACK
// RUN: tenon-run %t.tenon --device=emulator --function=pack --input=6xf32="1 2 3 4 5 6" | FileCheck %s --check-prefix=PACK
// RUN: not tenon-run %t.tenon --device=emulator --function=pack --input=7xf32=1 2>&1 | FileCheck %s --check-prefix=PARTIAL
// RUN: tenon-run %t.tenon --device=emulator --function=padded --input=4xf32="1 2 3 4" --input=2 | FileCheck %s --check-prefix=PADDED
// RUN: not tenon-run %t.tenon --device=emulator --function=padded --input=4xf32="1 2 3 4" --input=1 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not tenon-run %t.tenon --device=emulator --function=gather --input=4xf32=1 --input=2xi32=0 --input=3xf32=0 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: not tenon-run %t.tenon --device=emulator --function=masked --input=4xf32=1 --input=3xi32=0 --input=2xi1=1 --input=3xf32=0 2>&1 | FileCheck %s --check-prefix=MASKED
// RUN: not tenon-run %t.tenon --device=emulator --function=best --input=2x4xf32=1 --input=3x2xf32=0 2>&1 | FileCheck %s --check-prefix=BEST
// RUN: not tenon-run %t.tenon --device=emulator --function=branches --input=3xf32=1 --input=2xf32=1 2>&1 | FileCheck %s --check-prefix=BRANCHES
// RUN: not tenon-run %t.tenon --device=emulator --function=stage --input=6xf32=1 --input=6xf32=0 2>&1 | FileCheck %s --check-prefix=STAGE

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

// SLICE: 2xf32=3 4
// NOSLICE: 0xf32=
// SLICEPAST: function 'slice': tensor.extract_slice ends behind the end of dimension 0 (computed: 4, argument 0: 4)
// SLICEBEFORE: function 'slice': offset of dimension 0 of tensor.extract_slice is negative
func.func @slice(%x: tensor<?xf32>, %at: index, %n: index) -> tensor<?xf32> {
  %0 = tensor.extract_slice %x[%at] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The place is an element on the device.
// READ: function 'read': tensor.extract_slice ends behind the end of dimension 0
func.func @read(%x: tensor<?xf32>, %at: tensor<i64>) -> tensor<2xf32> {
  %element = tensor.extract %at[] : tensor<i64>
  %place = arith.index_cast %element : i64 to index
  %0 = tensor.extract_slice %x[%place] [2] [1] : tensor<?xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// INSERT: function 'insert': dimension 0 of the source of tensor.insert_slice is not as long as its slice (argument 1: 2, argument 3: 3)
func.func @insert(%x: tensor<?xf32>, %y: tensor<?xf32>, %at: index, %n: index) -> tensor<?xf32> {
  %0 = tensor.insert_slice %y into %x[%at] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %0 : tensor<?xf32>
}

// ONE: function 'one': index 0 of tensor.insert is not below the size of the dimension (argument 1: 4, argument 0: 4)
func.func @one(%x: tensor<?xf32>, %at: index) -> tensor<?xf32> {
  %v = arith.constant 1.0 : f32
  %0 = tensor.insert %v into %x[%at] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// UNPACK: function 'unpack': the tiles of linalg.unpack hold less than dimension 0
func.func @unpack(%x: tensor<?x4xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %e : tensor<?x4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// PACK: 2x3xf32=[1 2 3][4 5 6]
// PARTIAL: function 'pack': dimension 0 does not fill the tiles of linalg.pack, which has no padding_value
func.func @pack(%x: tensor<?xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %tiles = arith.ceildivui %size, %c3 : index
  %e = tensor.empty(%tiles) : tensor<?x3xf32>
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [3] into %e : tensor<?xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// PADDED: 2x3xf32=[1 2 3][4 0 0]
// FEW: function 'padded': the tiles of linalg.pack hold less than dimension 0
func.func @padded(%x: tensor<?xf32>, %tiles: index) -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%tiles) : tensor<?x3xf32>
  %0 = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [3] into %e : tensor<?xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// GATHER: function 'gather': dimension 0 of the output of iree_linalg_ext.gather is not that of the indices (argument 1: 2, argument 2: 3)
func.func @gather(%x: tensor<?xf32>, %places: tensor<?xi32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %places : tensor<?xf32>, tensor<?xi32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// BEST: function 'best': dimension 0 of an operand of iree_linalg_ext.topk is not that of another (argument 0: 2, argument 1: 3)
func.func @best(%x: tensor<?x4xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<?x4xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %greater = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %greater : i1
  } -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// STAGE: function 'stage': the last dimension of iree_linalg_ext.fft is no multiple of two to the number of the stage
func.func @stage(%real: tensor<?xf32>, %imaginary: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %two = arith.constant 2 : index
  %0:2 = iree_linalg_ext.fft ins(%two : index) outs(%real, %imaginary : tensor<?xf32>, tensor<?xf32>) : tensor<?xf32>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

// Inputs of a block that is not the first are no arguments, unless they are those of the function.
// BRANCHES: function 'branches': dimension 0 of argument 1 is not the size of the other operands (computed: 2, computed: 3)
func.func @branches(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %none = arith.cmpi eq, %n, %c0 : index
  cf.cond_br %none, ^done(%b : tensor<?xf32>), ^more
^more:
  %s = arith.addf %a, %b : tensor<?xf32>
  cf.br ^done(%s : tensor<?xf32>)
^done(%r: tensor<?xf32>):
  return %r : tensor<?xf32>
}

// MASKED: dimension 0 of the mask of iree_linalg_ext.gather is not that of the indices
func.func @masked(%source: tensor<?xf32>, %places: tensor<?xi32>, %mask: tensor<?xi1>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%source, %places, %mask : tensor<?xf32>, tensor<?xi32>, tensor<?xi1>)
      outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
