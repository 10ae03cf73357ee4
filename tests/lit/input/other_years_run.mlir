// Text of other years: operations whose name stayed and whose text changed are read as what they are today.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// RUN: tenon-opt %s --allow-unregistered-dialect --tenon-read-input | FileCheck %s --check-prefix=TODAY --implicit-check-not=Expand --implicit-check-not=tosa.{{[A-Z]}}
// CHECK: 19 functions: 58 expectations hold, 0 failed
// TODAY: tensor.expand_shape {{.*}} output_shape [2, 2, 2]
// TODAY: linalg.elementwise kind=#linalg.elementwise_kind<add>
// TODAY: linalg.pack
// TODAY: tosa.reduce_sum {{.*}} {axis = 1 : i32}
// TODAY: tosa.clamp {{.*}} {max_val = 4.000000e+00 : f16, min_val = 5.000000e-01 : f16}
// TODAY: tosa.rescale
// TODAY-SAME: rounding_mode = DOUBLE_ROUND

// "tosa.mul"(%x) {shift = 1 : i8} : this is a comment, and stays one.
func.func @expanded() {
  %x = util.unfoldable_constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  %y = tensor.expand_shape %x [[0], [1, 2]] : tensor<2x4xi32> into tensor<2x2x2xi32>
  check.expect_eq_const(%y, dense<[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]> : tensor<2x2x2xi32>) : tensor<2x2x2xi32>
  return
}
func.func @expanded_dynamic() {
  %x = flow.tensor.dynamic_constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32> -> tensor<?xi32>
  %y = tensor.expand_shape %x [[0, 1]] : tensor<?xi32> into tensor<?x2xi32>
  %z = tensor.cast %y : tensor<?x2xi32> to tensor<3x2xi32>
  check.expect_eq_const(%z, dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  return
}
func.func @expanded_scalar() {
  %x = util.unfoldable_constant dense<7> : tensor<i32>
  %y = tensor.expand_shape %x [] : tensor<i32> into tensor<1x1xi32>
  check.expect_eq_const(%y, dense<7> : tensor<1x1xi32>) : tensor<1x1xi32>
  return
}
func.func @elementwise() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = util.unfoldable_constant dense<[4.0, -2.0, 0.5]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.elementwise <add> ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const(%r, dense<[5.0, 0.0, 3.5]> : tensor<3xf32>) : tensor<3xf32>
  %n = linalg.elementwise <negf> ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const(%n, dense<[-1.0, -2.0, -3.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
func.func @elementwise_maps() {
  %x = util.unfoldable_constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %y = util.unfoldable_constant dense<[10, 20]> : tensor<2xi32>
  %e = tensor.empty() : tensor<2x2xi32>
  %r = linalg.elementwise <sub> indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>]
    ins(%x, %y : tensor<2x2xi32>, tensor<2xi32>) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const(%r, dense<[[-9, -7], [-18, -16]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}
func.func @packed() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %zero = arith.constant 0 : i32
  %to = tensor.empty() : tensor<2x1x2x2xi32>
  %p = iree_linalg_ext.pack %x padding_value(%zero : i32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %to
      : (tensor<2x3xi32> tensor<2x1x2x2xi32>) -> tensor<2x1x2x2xi32>
  check.expect_eq_const(%p, dense<[[[[1, 2], [4, 5]]], [[[3, 0], [6, 0]]]]> : tensor<2x1x2x2xi32>) : tensor<2x1x2x2xi32>
  %back = tensor.empty() : tensor<2x3xi32>
  %u = iree_linalg_ext.unpack %p outer_dims_perm = [1, 0] dims_pos = [0, 1] inner_tiles = [2, 2] into %back
      : (tensor<2x1x2x2xi32> tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const(%u, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

// In today's text they are what they were.
func.func @today() {
  %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<mul> ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%0, dense<[1.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  %1 = tensor.expand_shape %x [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  check.expect_eq_const(%1, dense<[[1.0, 2.0]]> : tensor<1x2xf32>) : tensor<1x2xf32>
  %2 = tosa.clamp %x {min_val = 1.5 : f32, max_val = 4.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%2, dense<[1.5, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

// Winograd's transforms said where the image is by a name.
func.func @tiles() {
  %x = util.unfoldable_constant dense<1.0> : tensor<1x1x6x6xf32>
  %y = util.unfoldable_constant dense<1.0> : tensor<1x6x6x1xf32>
  %to = tensor.empty() : tensor<8x8x1x1x1x1xf32>
  %0 = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) tensor_format("nchw")
    ins(%x : tensor<1x1x6x6xf32>) outs(%to : tensor<8x8x1x1x1x1xf32>) -> tensor<8x8x1x1x1x1xf32>
  %1 = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) tensor_format("nhwc")
    ins(%y : tensor<1x6x6x1xf32>) outs(%to : tensor<8x8x1x1x1x1xf32>) -> tensor<8x8x1x1x1x1xf32>
  check.expect_eq(%0, %1) : tensor<8x8x1x1x1x1xf32>
  %2 = tensor.extract_slice %1[0, 0, 0, 0, 0, 0] [1, 2, 1, 1, 1, 1] [1, 1, 1, 1, 1, 1] : tensor<8x8x1x1x1x1xf32> to tensor<1x2x1x1x1x1xf32>
  check.expect_eq_const(%2, dense<[[[[[[1.0]]]], [[[[-5.5]]]]]]> : tensor<1x2x1x1x1x1xf32>) : tensor<1x2x1x1x1x1xf32>
  return
}

// Eight of them in a byte, the first in its lowest bit.
func.func @bits() {
  %bytes = util.unfoldable_constant dense<[1, -128, 6]> : tensor<3xi8>
  %mask = flow.tensor.bitcast %bytes : tensor<3xi8> -> tensor<3x8xi1, #iree_encoding.packed_storage>
  %plain = tensor.cast %mask : tensor<3x8xi1, #iree_encoding.packed_storage> to tensor<3x8xi1>
  check.expect_eq_const(%plain, dense<[[1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1], [0, 1, 1, 0, 0, 0, 0, 0]]> : tensor<3x8xi1>) : tensor<3x8xi1>
  %words = util.unfoldable_constant dense<[[65536]]> : tensor<1x1xi32>
  %wide = flow.tensor.bitcast %words : tensor<1x1xi32> -> tensor<30xi1, #iree_encoding.packed_storage>
  %slice = tensor.extract_slice %wide[15] [3] [1] : tensor<30xi1, #iree_encoding.packed_storage> to tensor<3xi1, #iree_encoding.packed_storage>
  check.expect_eq_const(%slice, dense<[0, 1, 0]> : tensor<3xi1, #iree_encoding.packed_storage>) : tensor<3xi1, #iree_encoding.packed_storage>
  return
}

// 2026
func.func @clauses() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]> : tensor<2x3xf32>
  %s = tosa.reduce_sum %x axis(1) : (tensor<2x3xf32>) -> tensor<2x1xf32>
  check.expect_eq_const(%s, dense<[[2.0], [3.0]]> : tensor<2x1xf32>) : tensor<2x1xf32>
  %c = tosa.clamp %x min_val(-1.0 : f32) max_val(4.0 : f32) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%c, dense<[[1.0, -1.0, 3.0], [4.0, 4.0, -1.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  %t = tosa.transpose %x perms([1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  check.expect_eq_const(%t, dense<[[1.0, 4.0], [-2.0, 5.0], [3.0, -6.0]]> : tensor<3x2xf32>) : tensor<3x2xf32>
  %n = tosa.const_shape values(dense<[3, 2]> : tensor<2xindex>) : () -> !tosa.shape<2>
  %r = tosa.reshape %x, %n : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  check.expect_eq_const(%r, dense<[[1.0, -2.0], [3.0, 4.0], [5.0, -6.0]]> : tensor<3x2xf32>) : tensor<3x2xf32>
  return
}
func.func @window_clauses() {
  %x = util.unfoldable_constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [0x7FC00000]]]]> : tensor<1x3x3x1xf32>
  %y = util.unfoldable_constant dense<[[[[1.0], [2.0]], [[4.0], [5.0]]]]> : tensor<1x2x2x1xf32>
  %w = util.unfoldable_constant dense<[[[[1.0], [10.0]], [[100.0], [1000.0]]]]> : tensor<1x2x2x1xf32>
  %b = util.unfoldable_constant dense<[0.5]> : tensor<1xf32>
  %zero = tosa.const values(dense<0.0> : tensor<1xf32>) : () -> tensor<1xf32>
  %0 = tosa.max_pool2d %x kernel([2, 2]) stride([1, 1]) pad([0, 0, 0, 0]) nan_mode<IGNORE> : (tensor<1x3x3x1xf32>) -> tensor<1x2x2x1xf32>
  check.expect_eq_const(%0, dense<[[[[5.0], [6.0]], [[8.0], [8.0]]]]> : tensor<1x2x2x1xf32>) : tensor<1x2x2x1xf32>
  %1 = tosa.avg_pool2d %y, %zero, %zero kernel([2, 1]) stride([1, 1]) pad([0, 0, 0, 0]) acc_type(f32) : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x1xf32>
  check.expect_eq_const(%1, dense<[[[[2.5], [3.5]]]]> : tensor<1x1x2x1xf32>) : tensor<1x1x2x1xf32>
  %2 = tosa.conv2d %y, %w, %b, %zero, %zero pad([0, 1, 0, 0]) stride([1, 1]) dilation([1, 1]) acc_type(f32) local_bound(true) : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  check.expect_eq_const(%2, dense<[[[[5421.5]], [[54.5]]]]> : tensor<1x2x1x1xf32>) : tensor<1x2x1x1xf32>
  %d = tensor.expand_shape %w [[0], [1], [2], [3, 4]] output_shape [1, 2, 2, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x1x1xf32>
  %k = tensor.collapse_shape %d [[0, 1], [2], [3], [4]] : tensor<1x2x2x1x1xf32> into tensor<2x2x1x1xf32>
  %3 = tosa.depthwise_conv2d %y, %k, %b, %zero, %zero pad([0, 0, 0, 0]) stride([1, 1]) dilation([1, 1]) acc_type(f32) : (tensor<1x2x2x1xf32>, tensor<2x2x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  check.expect_eq_const(%3, dense<5421.5> : tensor<1x1x1x1xf32>) : tensor<1x1x1x1xf32>
  %4 = tosa.transpose_conv2d %y, %w, %b, %zero, %zero out_pad([0, -1, 0, -1]) stride([1, 1]) acc_type(f32) : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  check.expect_eq_const(%4, dense<[[[[1.5], [12.5]], [[104.5], [1245.5]]]]> : tensor<1x2x2x1xf32>) : tensor<1x2x2x1xf32>
  %x5 = tensor.expand_shape %y [[0], [1], [2], [3, 4]] output_shape [1, 2, 2, 1, 1] : tensor<1x2x2x1xf32> into tensor<1x2x2x1x1xf32>
  %5 = tosa.conv3d %x5, %d, %b, %zero, %zero pad([0, 0, 0, 0, 0, 0]) stride([1, 1, 1]) dilation([1, 1, 1]) acc_type(f32) : (tensor<1x2x2x1x1xf32>, tensor<1x2x2x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1x1xf32>
  check.expect_eq_const(%5, dense<5421.5> : tensor<1x1x1x1x1xf32>) : tensor<1x1x1x1x1xf32>
  return
}
func.func @flag_clauses() {
  %x = util.unfoldable_constant dense<[5, 8, -1, 7]> : tensor<4xi32>
  %by = util.unfoldable_constant dense<[0, 1, 3, 1]> : tensor<4xi32>
  %0 = tosa.arithmetic_right_shift %x, %by round(true) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const(%0, dense<[5, 4, 0, 4]> : tensor<4xi32>) : tensor<4xi32>
  %m = tosa.const values(dense<1073741824> : tensor<1xi32>) : () -> tensor<1xi32>
  %s = tosa.const values(dense<31> : tensor<1xi8>) : () -> tensor<1xi8>
  %from = tosa.const values(dense<0> : tensor<1xi32>) : () -> tensor<1xi32>
  %to = tosa.const values(dense<3> : tensor<1xi8>) : () -> tensor<1xi8>
  %1 = tosa.rescale %x, %m, %s, %from, %to scale32(true) rounding_mode<SINGLE_ROUND> per_channel(false) input_unsigned(false) output_unsigned(false)
      : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
  check.expect_eq_const(%1, dense<[6, 7, 3, 7]> : tensor<4xi8>) : tensor<4xi8>
  %ms = tosa.const values(dense<1073741824> : tensor<4xi32>) : () -> tensor<4xi32>
  %ss = tosa.const values(dense<31> : tensor<4xi8>) : () -> tensor<4xi8>
  %a = tosa.apply_scale %x, %ms, %ss rounding_mode<SINGLE_ROUND> : (tensor<4xi32>, tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  check.expect_eq_const(%a, dense<[3, 4, 0, 4]> : tensor<4xi32>) : tensor<4xi32>
  %n = util.unfoldable_constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %o = util.unfoldable_constant dense<[2.0, 5.0]> : tensor<2xf32>
  %2 = tosa.maximum %n, %o nan_mode<IGNORE> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%2, dense<[2.0, 5.0]> : tensor<2xf32>) : tensor<2xf32>
  %3 = tosa.minimum %n, %o nan_mode<IGNORE> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%3, dense<[1.0, 5.0]> : tensor<2xf32>) : tensor<2xf32>
  %4 = tosa.reduce_max %n axis(0) nan_mode<IGNORE> : (tensor<2xf32>) -> tensor<1xf32>
  check.expect_eq_const(%4, dense<[1.0]> : tensor<1xf32>) : tensor<1xf32>
  %scale = tosa.const_shape values(dense<[2, 1, 2, 1]> : tensor<4xindex>) : () -> !tosa.shape<4>
  %none = tosa.const_shape values(dense<0> : tensor<2xindex>) : () -> !tosa.shape<2>
  %p = util.unfoldable_constant dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %5 = tosa.resize %p, %scale, %none, %none mode<BILINEAR> : (tensor<1x2x2x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3x3x1xf32>
  check.expect_eq_const(%5, dense<[[[[1.0], [1.5], [2.0]], [[2.0], [2.5], [3.0]], [[3.0], [3.5], [4.0]]]]> : tensor<1x3x3x1xf32>) : tensor<1x3x3x1xf32>
  return
}
func.func @transform_clauses() {
  %re = util.unfoldable_constant dense<[[[1.0, 2.0], [3.0, 5.0]]]> : tensor<1x2x2xf32>
  %im = util.unfoldable_constant dense<0.0> : tensor<1x2x2xf32>
  %0:2 = tosa.fft2d %re, %im inverse(true) local_bound(false) : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>)
  check.expect_almost_eq_const(%0#0, dense<[[[11.0, -3.0], [-5.0, 1.0]]]> : tensor<1x2x2xf32>) : tensor<1x2x2xf32>
  %1:2 = tosa.rfft2d %re local_bound(false) : (tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>)
  check.expect_almost_eq_const(%1#0, dense<[[[11.0, -3.0], [-5.0, 1.0]]]> : tensor<1x2x2xf32>) : tensor<1x2x2xf32>
  return
}
// 2022
func.func @window_arrays() {
  %x = util.unfoldable_constant dense<[[[[1], [2], [3]], [[4], [5], [6]]]]> : tensor<1x2x3x1xi8>
  %0 = "tosa.max_pool2d"(%x) {kernel = [2, 2], stride = [1, 1], pad = [0, 0, 0, 0]} : (tensor<1x2x3x1xi8>) -> tensor<1x1x2x1xi8>
  check.expect_eq_const(%0, dense<[[[[5], [6]]]]> : tensor<1x1x2x1xi8>) : tensor<1x1x2x1xi8>
  return
}
// 2022 to 2024
func.func @clamps() {
  %f = util.unfoldable_constant dense<[1.0, 0.0, 4.5, -2.0]> : tensor<4xf16>
  %0 = tosa.clamp %f {min_int = 0 : i64, max_int = 6 : i64, min_fp = 0.5 : f32, max_fp = 4.0 : f32} : (tensor<4xf16>) -> tensor<4xf16>
  check.expect_eq_const(%0, dense<[1.0, 0.5, 4.0, 0.5]> : tensor<4xf16>) : tensor<4xf16>
  %i = util.unfoldable_constant dense<[1, -128, 127, 6]> : tensor<4xi8>
  %1 = "tosa.clamp"(%i) <{max_fp = 0.0 : f32, max_int = 300 : i64, min_fp = 0.0 : f32, min_int = 2 : i64}> : (tensor<4xi8>) -> tensor<4xi8>
  check.expect_eq_const(%1, dense<[2, 2, 127, 6]> : tensor<4xi8>) : tensor<4xi8>
  return
}
func.func @products() {
  %x = util.unfoldable_constant dense<[1, 0, 3, 4, 4]> : tensor<5xi32>
  %y = util.unfoldable_constant dense<[5, 6, -3, 8, 8]> : tensor<5xi32>
  %0 = tosa.mul %x, %y {shift = 1 : i8} : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  check.expect_eq_const(%0, dense<[3, 0, -4, 16, 16]> : tensor<5xi32>) : tensor<5xi32>
  %1 = "tosa.mul"(%x, %y) {shift = 0 : i32} : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  check.expect_eq_const(%1, dense<[5, 0, -9, 32, 32]> : tensor<5xi32>) : tensor<5xi32>
  %a = util.unfoldable_constant dense<[[[1, 2, 3], [4, 5, 6]]]> : tensor<1x2x3xi8>
  %b = util.unfoldable_constant dense<[[[7], [8], [9]]]> : tensor<1x3x1xi8>
  %2 = tosa.matmul %a, %b {quantization_info = #tosa.matmul_quant<a_zp = 1, b_zp = 2>} : (tensor<1x2x3xi8>, tensor<1x3x1xi8>) -> tensor<1x2x1xi32>
  check.expect_eq_const(%2, dense<[[[20], [74]]]> : tensor<1x2x1xi32>) : tensor<1x2x1xi32>
  %3 = tosa.matmul %a, %b : (tensor<1x2x3xi8>, tensor<1x3x1xi8>) -> tensor<1x2x1xi32>
  check.expect_eq_const(%3, dense<[[[50], [122]]]> : tensor<1x2x1xi32>) : tensor<1x2x1xi32>
  return
}
func.func @layers() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %w = util.unfoldable_constant dense<[[7.0, 8.0, 9.0]]> : tensor<1x3xf32>
  %b = util.unfoldable_constant dense<[1.0]> : tensor<1xf32>
  %0 = tosa.fully_connected %x, %w, %b : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const(%0, dense<[[51.0], [123.0]]> : tensor<2x1xf32>) : tensor<2x1xf32>
  %q = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %v = util.unfoldable_constant dense<[[7, 8, 9]]> : tensor<1x3xi8>
  %c = util.unfoldable_constant dense<[100]> : tensor<1xi32>
  %1 = "tosa.fully_connected"(%q, %v, %c) {quantization_info = #tosa.conv_quant<input_zp = -128, weight_zp = 0>} : (tensor<2x3xi8>, tensor<1x3xi8>, tensor<1xi32>) -> tensor<2x1xi32>
  check.expect_eq_const(%1, dense<[[3222], [3294]]> : tensor<2x1xi32>) : tensor<2x1xi32>
  %i = util.unfoldable_constant dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %k = util.unfoldable_constant dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>
  %2 = tosa.conv2d %i, %k, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  check.expect_eq_const(%2, dense<[[[[3.0], [5.0]], [[7.0], [9.0]]]]> : tensor<1x2x2x1xf32>) : tensor<1x2x2x1xf32>
  %3 = tosa.avg_pool2d %i {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, acc_type = f32} : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  check.expect_eq_const(%3, dense<[[[[2.5]]]]> : tensor<1x1x1x1xf32>) : tensor<1x1x1x1xf32>
  return
}
func.func @moved() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %p = "tosa.const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = tosa.transpose %x, %p : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const(%0, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  %1 = tosa.reshape %x {new_shape = array<i64: 3, -1>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const(%1, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  %2 = tosa.slice %x {start = array<i64: 0, 1>, size = array<i64: 2, 2>} : (tensor<2x3xi32>) -> tensor<2x2xi32>
  check.expect_eq_const(%2, dense<[[2, 3], [5, 6]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  %3 = tosa.tile %2 {multiples = array<i64: 1, 2>} : (tensor<2x2xi32>) -> tensor<2x4xi32>
  check.expect_eq_const(%3, dense<[[2, 3, 2, 3], [5, 6, 5, 6]]> : tensor<2x4xi32>) : tensor<2x4xi32>
  %n = "tosa.const"() <{value = dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %4 = tosa.pad %2, %n : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<3x3xi32>
  check.expect_eq_const(%4, dense<[[0, 0, 0], [2, 3, 0], [5, 6, 0]]> : tensor<3x3xi32>) : tensor<3x3xi32>
  %nine = "tosa.const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %5 = "tosa.pad"(%2, %n, %nine) : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<i32>) -> tensor<3x3xi32>
  check.expect_eq_const(%5, dense<[[9, 9, 9], [2, 3, 9], [5, 6, 9]]> : tensor<3x3xi32>) : tensor<3x3xi32>
  %6 = tosa.reduce_prod %x {axis = 0 : i32} : (tensor<2x3xi32>) -> tensor<1x3xi32>
  check.expect_eq_const(%6, dense<[[4, 10, 18]]> : tensor<1x3xi32>) : tensor<1x3xi32>
  %7 = "tosa.reduce_max"(%x) {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x1xi32>
  check.expect_eq_const(%7, dense<[[3], [6]]> : tensor<2x1xi32>) : tensor<2x1xi32>
  %8 = "tosa.concat"(%x, %x) {axis = 0 : i64} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  check.expect_eq_const(%8, dense<[[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]]> : tensor<4x3xi32>) : tensor<4x3xi32>
  %9 = tosa.negate %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const(%9, dense<[[-1, -2, -3], [-4, -5, -6]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  %10 = tosa.div %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const(%10, dense<1> : tensor<2x3xi32>) : tensor<2x3xi32>
  %11 = tosa.argmax %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2xi32>
  check.expect_eq_const(%11, dense<2> : tensor<2xi32>) : tensor<2xi32>
  return
}
func.func @rescaled() {
  %x = util.unfoldable_constant dense<[0, 1000, -1000, 100000]> : tensor<4xi32>
  %0 = "tosa.rescale"(%x) {double_round = true, input_zp = 0 : i32, multiplier = array<i32: 1073741824>, output_zp = -1 : i32, per_channel = false, scale32 = true, shift = array<i32: 34>} : (tensor<4xi32>) -> tensor<4xi8>
  check.expect_eq_const(%0, dense<[-1, 62, -64, 127]> : tensor<4xi8>) : tensor<4xi8>
  return
}
