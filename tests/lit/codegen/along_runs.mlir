// What operations of iree_linalg_ext give, on the emulator.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=80 tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: 0 failed

func.func @scan() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %start = util.unfoldable_constant dense<10.0> : tensor<f32>
  %e = tensor.empty() : tensor<5xf32>
  %0:2 = iree_linalg_ext.scan dimension(0) inclusive(false) ins(%x : tensor<5xf32>) outs(%e, %start : tensor<5xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<5xf32>, tensor<f32>
  check.expect_eq_const(%0#0, dense<[10.0, 11.0, 13.0, 16.0, 20.0]> : tensor<5xf32>) : tensor<5xf32>
  check.expect_eq_const(%0#1, dense<20.0> : tensor<f32>) : tensor<f32>
  return
}

// Elements that kernels do not hold.
func.func @scan_of_i4() {
  %x = util.unfoldable_constant dense<[7, 7, 7, -1]> : tensor<4xi4>
  %start = util.unfoldable_constant dense<0> : tensor<i4>
  %e = tensor.empty() : tensor<4xi4>
  %0:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<4xi4>) outs(%e, %start : tensor<4xi4>, tensor<i4>) {
  ^bb0(%a: i4, %b: i4):
    %1 = arith.addi %a, %b : i4
    iree_linalg_ext.yield %1 : i4
  } -> tensor<4xi4>, tensor<i4>
  %wide = arith.extsi %0#0 : tensor<4xi4> to tensor<4xi32>
  check.expect_eq_const(%wide, dense<[7, -2, 5, 4]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @scatter_outside() {
  %to = util.unfoldable_constant dense<[[0, 0, 0], [9, 9, 9]]> : tensor<2x3xi32>
  %u = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = util.unfoldable_constant dense<[[0, 1], [1, 3], [-1, 0], [1, 2]]> : tensor<4x2xi32>
  %0 = iree_linalg_ext.scatter dimension_map = [0, 1] unique_indices(true) ins(%u, %i : tensor<4xi32>, tensor<4x2xi32>) outs(%to : tensor<2x3xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.subi %b, %a : i32
    iree_linalg_ext.yield %1 : i32
  } -> tensor<2x3xi32>
  check.expect_eq_const(%0, dense<[[0, -1, 0], [9, 9, 5]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

func.func @gather() {
  %x = util.unfoldable_constant dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32>
  %i = util.unfoldable_constant dense<[2, 0]> : tensor<2xi32>
  %e = tensor.empty() : tensor<2x2xi32>
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<3x2xi32>, tensor<2xi32>) outs(%e : tensor<2x2xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<2x2xi32>
  check.expect_eq_const(%0, dense<[[4, 5], [0, 1]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}

func.func @arg_compare() {
  %x = util.unfoldable_constant dense<[[1.0, 5.0, 5.0], [7.0, -1.0, 2.0]]> : tensor<2x3xf32>
  %ev = tensor.empty() : tensor<2xf32>
  %ei = tensor.empty() : tensor<2xi32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %base = arith.constant 100 : index
  %v = linalg.fill ins(%low : f32) outs(%ev : tensor<2xf32>) -> tensor<2xf32>
  %n = linalg.fill ins(%zero : i32) outs(%ei : tensor<2xi32>) -> tensor<2xi32>
  %0:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<2x3xf32>) outs(%v, %n : tensor<2xf32>, tensor<2xi32>) index_base(%base : index) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xf32>, tensor<2xi32>
  check.expect_eq_const(%0#0, dense<[5.0, 7.0]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_eq_const(%0#1, dense<[101, 100]> : tensor<2xi32>) : tensor<2xi32>
  return
}

// The second stage of a transform of four elements, its factors 1 and -i.
func.func @fft() {
  %re = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %im = util.unfoldable_constant dense<[0.0, 1.0, 0.0, 2.0]> : tensor<4xf32>
  %wr = util.unfoldable_constant dense<[1.0, 0.0]> : tensor<2xf32>
  %wi = util.unfoldable_constant dense<[0.0, -1.0]> : tensor<2xf32>
  %stage = arith.constant 2 : index
  %0:2 = iree_linalg_ext.fft ins(%stage, %wr, %wi : index, tensor<2xf32>, tensor<2xf32>) outs(%re, %im : tensor<4xf32>, tensor<4xf32>) : tensor<4xf32>, tensor<4xf32>
  check.expect_eq_const(%0#0, dense<[4.0, 4.0, -2.0, 0.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%0#1, dense<[0.0, -3.0, 0.0, 5.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}

// Ties go to the lowest position; what is given to begin with stands before the line.
func.func @topk() {
  %x = util.unfoldable_constant dense<[1.0, 5.0, 5.0, 0x7FC00000, 3.0]> : tensor<5xf32>
  %i = util.unfoldable_constant dense<[10, 11, 12, 13, 14]> : tensor<5xi32>
  %v = util.unfoldable_constant dense<[3.0, -9.0, -9.0, -9.0]> : tensor<4xf32>
  %n = util.unfoldable_constant dense<7> : tensor<4xi32>
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%x, %i : tensor<5xf32>, tensor<5xi32>) outs(%v, %n : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>, tensor<4xi32>
  check.expect_eq_const(%0#0, dense<[5.0, 5.0, 3.0, 3.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%0#1, dense<[11, 12, 7, 14]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @topk_v2() {
  %x = util.unfoldable_constant dense<[4, 9, -3]> : tensor<3xi8>
  %v = arith.constant dense<127> : tensor<2xi8>
  %0 = iree_linalg_ext.topk_v2 dimension(0) ins(%x : tensor<3xi8>) outs(%v : tensor<2xi8>) {
  ^bb0(%a: i8, %b: i8):
    %1 = arith.cmpi slt, %a, %b : i8
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xi8>
  check.expect_eq_const(%0, dense<[-3, 4]> : tensor<2xi8>) : tensor<2xi8>
  return
}

// By two operands at once, and stable.
func.func @sort() {
  %x = util.unfoldable_constant dense<[[2, 1, 2, 1], [0, 0, 0, 0]]> : tensor<2x4xi32>
  %y = util.unfoldable_constant dense<[[1.0, 9.0, 0.0, 8.0], [1.0, 1.0, 0.0, 1.0]]> : tensor<2x4xf32>
  %z = util.unfoldable_constant dense<[[0, 1, 2, 3], [0, 1, 2, 3]]> : tensor<2x4xi64>
  %0:3 = iree_linalg_ext.sort dimension(1) outs(%x, %y, %z : tensor<2x4xi32>, tensor<2x4xf32>, tensor<2x4xi64>) {
  ^bb0(%a: i32, %b: i32, %c: f32, %d: f32, %e: i64, %f: i64):
    %less = arith.cmpi slt, %a, %b : i32
    %same = arith.cmpi eq, %a, %b : i32
    %below = arith.cmpf olt, %c, %d : f32
    %then = arith.andi %same, %below : i1
    %1 = arith.ori %less, %then : i1
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2x4xi32>, tensor<2x4xf32>, tensor<2x4xi64>
  check.expect_eq_const(%0#0, dense<[[1, 1, 2, 2], [0, 0, 0, 0]]> : tensor<2x4xi32>) : tensor<2x4xi32>
  check.expect_eq_const(%0#1, dense<[[8.0, 9.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  check.expect_eq_const(%0#2, dense<[[3, 1, 2, 0], [2, 0, 1, 3]]> : tensor<2x4xi64>) : tensor<2x4xi64>
  return
}

func.func @sort_ins() {
  %x = util.unfoldable_constant dense<[[5, 6], [3, 7]]> : tensor<2x2xi32>
  %e = tensor.empty() : tensor<2x2xi32>
  %0 = iree_linalg_ext.sort dimension(0) ins(%x : tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2x2xi32>
  check.expect_eq_const(%0, dense<[[3, 6], [5, 7]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}

// Bytes are indices without a sign here: 255 is the last place.
func.func @histogram() {
  %x = util.unfoldable_constant dense<[0, 255, 7, 255, 7, 7, 128]> : tensor<7xi8>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<256xi32>
  %bins = linalg.fill ins(%c0 : i32) outs(%e : tensor<256xi32>) -> tensor<256xi32>
  %e1 = tensor.empty() : tensor<7xi32>
  %ones = linalg.fill ins(%c1 : i32) outs(%e1 : tensor<7xi32>) -> tensor<7xi32>
  %wide = arith.extui %x : tensor<7xi8> to tensor<7xi32>
  %i = tensor.expand_shape %wide [[0, 1]] output_shape [7, 1] : tensor<7xi32> into tensor<7x1xi32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%ones, %i : tensor<7xi32>, tensor<7x1xi32>) outs(%bins : tensor<256xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.addi %a, %b : i32
    iree_linalg_ext.yield %1 : i32
  } -> tensor<256xi32>
  %some = tensor.extract_slice %0[7] [1] [1] : tensor<256xi32> to tensor<1xi32>
  %last = tensor.extract_slice %0[255] [1] [1] : tensor<256xi32> to tensor<1xi32>
  check.expect_eq_const(%some, dense<[3]> : tensor<1xi32>) : tensor<1xi32>
  check.expect_eq_const(%last, dense<[2]> : tensor<1xi32>) : tensor<1xi32>
  return
}
