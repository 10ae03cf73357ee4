// iree_linalg_ext.attention in the forms that IREE prints: without a scale, with keys in two dimensions, with attributes
// in <...>; and queries that see no key.
// RUN: tenon-opt %s | tenon-opt -o %t.mlir
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=80 tenon-check %t.tenon --device=emulator | FileCheck %s
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=90 tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @no_scale
// CHECK: PASS @no_scale_unknown_depth
// CHECK: PASS @pages
// CHECK: PASS @hidden_f32
// CHECK: PASS @hidden_few
// CHECK: PASS @hidden_many
// CHECK: PASS @hidden_by_truth

#q = affine_map<(b, m, d, n, e) -> (b, m, d)>
#k = affine_map<(b, m, d, n, e) -> (b, n, d)>
#v = affine_map<(b, m, d, n, e) -> (b, n, e)>
#s = affine_map<(b, m, d, n, e) -> ()>
#mask = affine_map<(b, m, d, n, e) -> (b, m, n)>
#o = affine_map<(b, m, d, n, e) -> (b, m, e)>

// With 1 / sqrt(4), scores are 0 and ln 3: weights are 1/4 and 3/4.
func.func @no_scale() {
  %q = util.unfoldable_constant dense<[[[2.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x4xf32>
  %k = util.unfoldable_constant dense<[[[0.0, 1.0, 1.0, 1.0], [1.0986123, 0.0, 0.0, 0.0]]]> : tensor<1x2x4xf32>
  %v = util.unfoldable_constant dense<[[[4.0, 0.0], [8.0, 4.0]]]> : tensor<1x2x2xf32>
  %e = tensor.empty() : tensor<1x1x2xf32>
  %r = iree_linalg_ext.attention <indexing_maps = [#q, #k, #v, #o]>
      ins(%q, %k, %v : tensor<1x1x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) outs(%e : tensor<1x1x2xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x1x2xf32>
  check.expect_almost_eq_const(%r, dense<[[[7.0, 3.0]]]> : tensor<1x1x2xf32>) : tensor<1x1x2xf32>
  return
}

func.func @no_scale_unknown_depth() {
  %q = flow.tensor.dynamic_constant dense<[[[2.0, 0.0, 0.0, 0.0]]]> : tensor<1x1x4xf32> -> tensor<1x1x?xf32>
  %k = flow.tensor.dynamic_constant dense<[[[0.0, 1.0, 1.0, 1.0], [1.0986123, 0.0, 0.0, 0.0]]]> : tensor<1x2x4xf32> -> tensor<1x2x?xf32>
  %v = util.unfoldable_constant dense<[[[4.0, 0.0], [8.0, 4.0]]]> : tensor<1x2x2xf32>
  %mask = util.unfoldable_constant dense<0.0> : tensor<1x1x2xf32>
  %e = tensor.empty() : tensor<1x1x2xf32>
  %r = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #mask, #o]}
      ins(%q, %k, %v, %mask : tensor<1x1x?xf32>, tensor<1x2x?xf32>, tensor<1x2x2xf32>, tensor<1x1x2xf32>) outs(%e : tensor<1x1x2xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x1x2xf32>
  check.expect_almost_eq_const(%r, dense<[[[7.0, 3.0]]]> : tensor<1x1x2xf32>) : tensor<1x1x2xf32>
  return
}

// Keys are two pages of two: scores 0, 0, ln 2 and -inf.
func.func @pages() {
  %scale = arith.constant 1.0 : f32
  %q = util.unfoldable_constant dense<[[1.0, 0.0]]> : tensor<1x2xf32>
  %k = util.unfoldable_constant dense<[[[0.0, 5.0], [0.0, 6.0]], [[0.6931472, 7.0], [1.0, 1.0]]]> : tensor<2x2x2xf32>
  %v = util.unfoldable_constant dense<[[[1.0], [2.0]], [[3.0], [100.0]]]> : tensor<2x2x1xf32>
  %mask = util.unfoldable_constant dense<[[[0.0, 0.0], [0.0, 0xFF800000]]]> : tensor<1x2x2xf32>
  %e = tensor.empty() : tensor<1x1xf32>
  %r = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, e, d, p, n) -> (m, d)>, affine_map<(m, e, d, p, n) -> (p, n, d)>,
      affine_map<(m, e, d, p, n) -> (p, n, e)>, affine_map<(m, e, d, p, n) -> ()>, affine_map<(m, e, d, p, n) -> (m, p, n)>, affine_map<(m, e, d, p, n) -> (m, e)>]}
      ins(%q, %k, %v, %scale, %mask : tensor<1x2xf32>, tensor<2x2x2xf32>, tensor<2x2x1xf32>, f32, tensor<1x2x2xf32>) outs(%e : tensor<1x1xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x1xf32>
  check.expect_almost_eq_const(%r, dense<[[2.25]]> : tensor<1x1xf32>) : tensor<1x1xf32>
  return
}

// The second query sees no key.
func.func @hidden_f32() {
  %scale = arith.constant 1.0 : f32
  %x = util.unfoldable_constant dense<0.5> : tensor<1x2x4xf32>
  %mask = util.unfoldable_constant dense<[[[0.0, 0xFF800000], [0xFF800000, 0xFF800000]]]> : tensor<1x2x2xf32>
  %e = tensor.empty() : tensor<1x2x4xf32>
  %r = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #s, #mask, #o]}
      ins(%x, %x, %x, %scale, %mask : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, f32, tensor<1x2x2xf32>) outs(%e : tensor<1x2x4xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x2x4xf32>
  check.expect_eq_const(%r, dense<[[[0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0]]]> : tensor<1x2x4xf32>) : tensor<1x2x4xf32>
  return
}

// On tensor cores: as many queries as a warp takes, and a block.
func.func @hidden_few() {
  %scale = arith.constant 1.0 : f16
  %x = util.unfoldable_constant dense<0.5> : tensor<1x16x64xf16>
  %k = util.unfoldable_constant dense<0.25> : tensor<1x64x64xf16>
  %mask = util.unfoldable_constant dense<0xFC00> : tensor<1x16x64xf16>
  %e = tensor.empty() : tensor<1x16x64xf16>
  %r = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #s, #mask, #o]}
      ins(%x, %k, %k, %scale, %mask : tensor<1x16x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf16>, f16, tensor<1x16x64xf16>) outs(%e : tensor<1x16x64xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x16x64xf16>
  check.expect_eq_const(%r, dense<0.0> : tensor<1x16x64xf16>) : tensor<1x16x64xf16>
  return
}

func.func @hidden_many() {
  %scale = arith.constant 1.0 : f16
  %x = util.unfoldable_constant dense<0.5> : tensor<1x128x64xf16>
  %mask = util.unfoldable_constant dense<0xFC00> : tensor<1x128x128xf16>
  %e = tensor.empty() : tensor<1x128x64xf16>
  %r = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #s, #mask, #o]}
      ins(%x, %x, %x, %scale, %mask : tensor<1x128x64xf16>, tensor<1x128x64xf16>, tensor<1x128x64xf16>, f16, tensor<1x128x128xf16>) outs(%e : tensor<1x128x64xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x128x64xf16>
  check.expect_eq_const(%r, dense<0.0> : tensor<1x128x64xf16>) : tensor<1x128x64xf16>
  return
}

func.func @hidden_by_truth() {
  %scale = arith.constant 1.0 : f32
  %x = util.unfoldable_constant dense<0.5> : tensor<1x2x4xf32>
  %mask = util.unfoldable_constant dense<[[[false, false], [true, true]]]> : tensor<1x2x2xi1>
  %e = tensor.empty() : tensor<1x2x4xf32>
  %r = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #s, #mask, #o]}
      ins(%x, %x, %x, %scale, %mask : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, f32, tensor<1x2x2xi1>) outs(%e : tensor<1x2x4xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x2x4xf32>
  check.expect_eq_const(%r, dense<[[[0.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]]]> : tensor<1x2x4xf32>) : tensor<1x2x4xf32>
  return
}
