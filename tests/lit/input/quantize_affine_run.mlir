// Integers for floats and back, with scales and zero points of a tensor and of its channels.
// RUN: tenon-opt %s | tenon-opt -o %t.mlir
// RUN: tenon-compile %t.mlir --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @signed
// CHECK: PASS @unsigned
// CHECK: PASS @signed_zero
// CHECK: PASS @wide_zero
// CHECK: PASS @channels
// CHECK: PASS @wide
// CHECK: PASS @turned
// CHECK: PASS @half
// CHECK: PASS @braces

#all = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>

// Halves go to the even integer, what is too large to the bound, and NaN to the lower one.
func.func @signed() {
  %x = util.unfoldable_constant dense<[0.25, 0.75, 1.25, -0.25, 100.0, -100.0, 0x7FC00000, 0x7F800000]> : tensor<8xf32>
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 3 : i64
  %to = tensor.empty() : tensor<8xi8>
  %q = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -128, quant_max = 127>
      ins(%x, %scale, %zero : tensor<8xf32>, f32, i64) outs(%to : tensor<8xi8>) -> tensor<8xi8>
  check.expect_eq_const(%q, dense<[3, 5, 5, 3, 127, -128, -128, 127]> : tensor<8xi8>) : tensor<8xi8>
  %back = tensor.empty() : tensor<8xf32>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -128, quant_max = 127>
      ins(%q, %scale, %zero : tensor<8xi8>, f32, i64) outs(%back : tensor<8xf32>) -> tensor<8xf32>
  check.expect_eq_const(%d, dense<[0.0, 1.0, 1.0, 0.0, 62.0, -65.5, -65.5, 62.0]> : tensor<8xf32>) : tensor<8xf32>
  return
}

// The zero point says on its own how it is read.
func.func @unsigned() {
  %x = util.unfoldable_constant dense<[-1.0, 0.0, 1.0, 63.5, 64.0, -64.5]> : tensor<6xf32>
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant -128 : i8
  %to = tensor.empty() : tensor<6xi8>
  %q = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = 0, quant_max = 255, storage_unsigned, zp_unsigned>
      ins(%x, %scale, %zero : tensor<6xf32>, f32, i8) outs(%to : tensor<6xi8>) -> tensor<6xi8>
  check.expect_eq_const(%q, dense<[126, -128, -126, -1, -1, 0]> : tensor<6xi8>) : tensor<6xi8>
  %back = tensor.empty() : tensor<6xf32>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = 0, quant_max = 255, zp_unsigned, input_unsigned>
      ins(%q, %scale, %zero : tensor<6xi8>, f32, i8) outs(%back : tensor<6xf32>) -> tensor<6xf32>
  check.expect_eq_const(%d, dense<[-1.0, 0.0, 1.0, 63.5, 63.5, -64.0]> : tensor<6xf32>) : tensor<6xf32>
  return
}

func.func @signed_zero() {
  %x = util.unfoldable_constant dense<[-1.0, 0.0, 64.0, 100.0]> : tensor<4xf32>
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant -128 : i8
  %to = tensor.empty() : tensor<4xi8>
  %q = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = 0, quant_max = 255, storage_unsigned>
      ins(%x, %scale, %zero : tensor<4xf32>, f32, i8) outs(%to : tensor<4xi8>) -> tensor<4xi8>
  check.expect_eq_const(%q, dense<[0, 0, 0, 72]> : tensor<4xi8>) : tensor<4xi8>
  %back = tensor.empty() : tensor<4xf32>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -128, quant_max = 127, zp_unsigned>
      ins(%q, %scale, %zero : tensor<4xi8>, f32, i8) outs(%back : tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const(%d, dense<[-64.0, -64.0, -64.0, -28.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}

// A zero point may be wider than the integers.
func.func @wide_zero() {
  %x = util.unfoldable_constant dense<[1, 0, -1]> : tensor<3xi8>
  %scale = arith.constant 1.0 : f64
  %zero = arith.constant -16 : i32
  %back = tensor.empty() : tensor<3xf64>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -128, quant_max = 127, zp_unsigned>
      ins(%x, %scale, %zero : tensor<3xi8>, f64, i32) outs(%back : tensor<3xf64>) -> tensor<3xf64>
  check.expect_eq_const(%d, dense<[-4294967279.0, -4294967280.0, -4294967281.0]> : tensor<3xf64>) : tensor<3xf64>
  return
}

func.func @channels() {
  %x = flow.tensor.dynamic_constant dense<[[10, 20, 30], [-10, -20, -128]]> : tensor<2x3xi8> -> tensor<?x3xi8>
  %scale = util.unfoldable_constant dense<[1.0, 0.5, 2.0]> : tensor<3xf32>
  %zero = util.unfoldable_constant dense<[0, 10, 127]> : tensor<3xi8>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xi8>
  %to = tensor.empty(%n) : tensor<?x3xf32>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127>
      ins(%x, %scale, %zero : tensor<?x3xi8>, tensor<3xf32>, tensor<3xi8>) outs(%to : tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = tensor.cast %d : tensor<?x3xf32> to tensor<2x3xf32>
  check.expect_eq_const(%r, dense<[[10.0, 5.0, -194.0], [-10.0, -15.0, -510.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

// Of 32 bits: bounds that no f32 holds, and a difference of 33 bits.
func.func @wide() {
  %x = util.unfoldable_constant dense<[2147483646.0, 3.0e9, -3.0e9]> : tensor<3xf64>
  %scale = arith.constant 1.0 : f64
  %to = tensor.empty() : tensor<3xi32>
  %q = iree_linalg_ext.quantize_affine <indexing_maps = [#all, #one, #all], quant_min = -2147483648, quant_max = 2147483647>
      ins(%x, %scale : tensor<3xf64>, f64) outs(%to : tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const(%q, dense<[2147483646, 2147483647, -2147483648]> : tensor<3xi32>) : tensor<3xi32>
  %zero = arith.constant -2147483648 : i32
  %back = tensor.empty() : tensor<3xf64>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -2147483648, quant_max = 2147483647>
      ins(%q, %scale, %zero : tensor<3xi32>, f64, i32) outs(%back : tensor<3xf64>) -> tensor<3xf64>
  check.expect_eq_const(%d, dense<[4294967294.0, 4294967295.0, 0.0]> : tensor<3xf64>) : tensor<3xf64>
  return
}

func.func @turned() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %scale = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %to = tensor.empty() : tensor<3x2xi8>
  %q = iree_linalg_ext.quantize_affine <indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], quant_min = -128, quant_max = 127>
      ins(%x, %scale : tensor<2x3xf32>, tensor<2xf32>) outs(%to : tensor<3x2xi8>) -> tensor<3x2xi8>
  check.expect_eq_const(%q, dense<[[1, 2], [2, 2], [3, 3]]> : tensor<3x2xi8>) : tensor<3x2xi8>
  return
}

// A zero point that is a float; floats of 16 bits are rounded once.
func.func @half() {
  %x = util.unfoldable_constant dense<[0, 1, 127, -128]> : tensor<4xi8>
  %scale = arith.constant 3.0 : f16
  %zero = arith.constant 0.5 : f32
  %to = tensor.empty() : tensor<4xf16>
  %d = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all], quant_min = -128, quant_max = 127>
      ins(%x, %scale, %zero : tensor<4xi8>, f16, f32) outs(%to : tensor<4xf16>) -> tensor<4xf16>
  check.expect_eq_const(%d, dense<[-1.5, 1.5, 379.5, -385.5]> : tensor<4xf16>) : tensor<4xf16>
  return
}

// As text of late 2026 has it; the bounds of what is read need not be said.
func.func @braces() {
  %x = util.unfoldable_constant dense<[-3.0, 0.5, 1.5, 200.0]> : tensor<4xf32>
  %scale = arith.constant 1.0 : f32
  %zero = arith.constant 1 : i64
  %to = tensor.empty() : tensor<4xi8>
  %q = iree_linalg_ext.quantize_affine {indexing_maps = [#all, #one, #one, #all], quant_min = 0 : i64, quant_max = 200 : i64, storage_unsigned}
      ins(%x, %scale, %zero : tensor<4xf32>, f32, i64) outs(%to : tensor<4xi8>) -> tensor<4xi8>
  check.expect_eq_const(%q, dense<[0, 1, 3, 200]> : tensor<4xi8>) : tensor<4xi8>
  %back = tensor.empty() : tensor<4xf32>
  %d = iree_linalg_ext.dequantize_affine {input_unsigned, indexing_maps = [#all, #one, #one, #all]}
      ins(%q, %scale, %zero : tensor<4xi8>, f32, i64) outs(%back : tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const(%d, dense<[-1.0, 0.0, 2.0, 199.0]> : tensor<4xf32>) : tensor<4xf32>
  %s = iree_linalg_ext.dequantize_affine <indexing_maps = [#all, #one, #one, #all]>
      ins(%q, %scale, %zero : tensor<4xi8>, f32, i64) outs(%back : tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const(%s, dense<[-1.0, 0.0, 2.0, -57.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}
