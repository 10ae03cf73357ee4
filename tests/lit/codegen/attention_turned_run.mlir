// Rows of two dimensions are numbered along the one that a region compares, which need not be the one whose neighbours
// are neighbours in memory: queries that lie across are read as they lie.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t75.tenon
// RUN: tenon-check %t75.tenon | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t80.tenon
// RUN: tenon-check %t80.tenon | FileCheck %s
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t90.tenon
// RUN: tenon-check %t90.tenon | FileCheck %s
// CHECK: 3 functions: 3 expectations hold, 0 failed

#q = affine_map<(i, j, d, k, n) -> (i, j, d)>
#qt = affine_map<(i, j, d, k, n) -> (d, j, i)>
#k = affine_map<(i, j, d, k, n) -> (k, d)>
#v = affine_map<(i, j, d, k, n) -> (k, n)>
#none = affine_map<(i, j, d, k, n) -> ()>
#mask = affine_map<(i, j, d, k, n) -> (i, j, k)>
#o = affine_map<(i, j, d, k, n) -> (j, i, n)>

func.func private @drawn(%size: index, %seed: index) -> tensor<?xf32> {
  %e = tensor.empty(%size) : tensor<?xf32>
  %c29 = arith.constant 29 : index
  %middle = arith.constant 14.0 : f32
  %step = arith.constant 0.07 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32):
    %i = linalg.index 0 : index
    %1 = arith.muli %i, %seed : index
    %2 = arith.remui %1, %c29 : index
    %3 = arith.index_cast %2 : index to i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.subf %4, %middle : f32
    %6 = arith.mulf %5, %step : f32
    linalg.yield %6 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @turned_f32() {
  %qn = arith.constant 192 : index
  %qs = arith.constant 5 : index
  %q0 = call @drawn(%qn, %qs) : (index, index) -> tensor<?xf32>
  %q1 = tensor.cast %q0 : tensor<?xf32> to tensor<192xf32>
  %q3 = tensor.expand_shape %q1 [[0, 1, 2]] output_shape [4, 3, 16] : tensor<192xf32> into tensor<4x3x16xf32>
  %q = util.optimization_barrier %q3 : tensor<4x3x16xf32>
  %kn = arith.constant 512 : index
  %ks = arith.constant 11 : index
  %k0 = call @drawn(%kn, %ks) : (index, index) -> tensor<?xf32>
  %k1 = tensor.cast %k0 : tensor<?xf32> to tensor<512xf32>
  %k3 = tensor.expand_shape %k1 [[0, 1]] output_shape [32, 16] : tensor<512xf32> into tensor<32x16xf32>
  %k = util.optimization_barrier %k3 : tensor<32x16xf32>
  %vn = arith.constant 512 : index
  %vs = arith.constant 9 : index
  %v0 = call @drawn(%vn, %vs) : (index, index) -> tensor<?xf32>
  %v1 = tensor.cast %v0 : tensor<?xf32> to tensor<512xf32>
  %v3 = tensor.expand_shape %v1 [[0, 1]] output_shape [32, 16] : tensor<512xf32> into tensor<32x16xf32>
  %v = util.optimization_barrier %v3 : tensor<32x16xf32>
  %mn = arith.constant 384 : index
  %ms = arith.constant 7 : index
  %m0 = call @drawn(%mn, %ms) : (index, index) -> tensor<?xf32>
  %m1 = tensor.cast %m0 : tensor<?xf32> to tensor<384xf32>
  %m3 = tensor.expand_shape %m1 [[0, 1, 2]] output_shape [4, 3, 32] : tensor<384xf32> into tensor<4x3x32xf32>
  %m = util.optimization_barrier %m3 : tensor<4x3x32xf32>
  %eq = tensor.empty() : tensor<16x3x4xf32>
  %turned = linalg.transpose ins(%q : tensor<4x3x16xf32>) outs(%eq : tensor<16x3x4xf32>) permutation = [2, 1, 0]
  %qt = util.optimization_barrier %turned : tensor<16x3x4xf32>
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<3x4x16xf32>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #mask, #o]}
      ins(%q, %k, %v, %scale, %m : tensor<4x3x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, f32, tensor<4x3x32xf32>) outs(%e : tensor<3x4x16xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %a, %b : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.25 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<3x4x16xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#qt, #k, #v, #none, #mask, #o]}
      ins(%qt, %k, %v, %scale, %m : tensor<16x3x4xf32>, tensor<32x16xf32>, tensor<32x16xf32>, f32, tensor<4x3x32xf32>) outs(%e : tensor<3x4x16xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %a, %b : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.25 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<3x4x16xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-05) : tensor<3x4x16xf32>
  return
}

func.func @turned_bf16() {
  %qn = arith.constant 192 : index
  %qs = arith.constant 5 : index
  %q0 = call @drawn(%qn, %qs) : (index, index) -> tensor<?xf32>
  %q1 = tensor.cast %q0 : tensor<?xf32> to tensor<192xf32>
  %q2 = arith.truncf %q1 : tensor<192xf32> to tensor<192xbf16>
  %q3 = tensor.expand_shape %q2 [[0, 1, 2]] output_shape [4, 3, 16] : tensor<192xbf16> into tensor<4x3x16xbf16>
  %q = util.optimization_barrier %q3 : tensor<4x3x16xbf16>
  %kn = arith.constant 512 : index
  %ks = arith.constant 11 : index
  %k0 = call @drawn(%kn, %ks) : (index, index) -> tensor<?xf32>
  %k1 = tensor.cast %k0 : tensor<?xf32> to tensor<512xf32>
  %k2 = arith.truncf %k1 : tensor<512xf32> to tensor<512xbf16>
  %k3 = tensor.expand_shape %k2 [[0, 1]] output_shape [32, 16] : tensor<512xbf16> into tensor<32x16xbf16>
  %k = util.optimization_barrier %k3 : tensor<32x16xbf16>
  %vn = arith.constant 512 : index
  %vs = arith.constant 9 : index
  %v0 = call @drawn(%vn, %vs) : (index, index) -> tensor<?xf32>
  %v1 = tensor.cast %v0 : tensor<?xf32> to tensor<512xf32>
  %v2 = arith.truncf %v1 : tensor<512xf32> to tensor<512xbf16>
  %v3 = tensor.expand_shape %v2 [[0, 1]] output_shape [32, 16] : tensor<512xbf16> into tensor<32x16xbf16>
  %v = util.optimization_barrier %v3 : tensor<32x16xbf16>
  %mn = arith.constant 384 : index
  %ms = arith.constant 7 : index
  %m0 = call @drawn(%mn, %ms) : (index, index) -> tensor<?xf32>
  %m1 = tensor.cast %m0 : tensor<?xf32> to tensor<384xf32>
  %m2 = arith.truncf %m1 : tensor<384xf32> to tensor<384xbf16>
  %m3 = tensor.expand_shape %m2 [[0, 1, 2]] output_shape [4, 3, 32] : tensor<384xbf16> into tensor<4x3x32xbf16>
  %m = util.optimization_barrier %m3 : tensor<4x3x32xbf16>
  %eq = tensor.empty() : tensor<16x3x4xbf16>
  %turned = linalg.transpose ins(%q : tensor<4x3x16xbf16>) outs(%eq : tensor<16x3x4xbf16>) permutation = [2, 1, 0]
  %qt = util.optimization_barrier %turned : tensor<16x3x4xbf16>
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<3x4x16xf32>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #mask, #o]}
      ins(%q, %k, %v, %scale, %m : tensor<4x3x16xbf16>, tensor<32x16xbf16>, tensor<32x16xbf16>, f32, tensor<4x3x32xbf16>) outs(%e : tensor<3x4x16xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %a, %b : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.25 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<3x4x16xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#qt, #k, #v, #none, #mask, #o]}
      ins(%qt, %k, %v, %scale, %m : tensor<16x3x4xbf16>, tensor<32x16xbf16>, tensor<32x16xbf16>, f32, tensor<4x3x32xbf16>) outs(%e : tensor<3x4x16xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %a, %b : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.25 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<3x4x16xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-02) : tensor<3x4x16xf32>
  return
}

func.func @turned_f16() {
  %qn = arith.constant 512 : index
  %qs = arith.constant 5 : index
  %q0 = call @drawn(%qn, %qs) : (index, index) -> tensor<?xf32>
  %q1 = tensor.cast %q0 : tensor<?xf32> to tensor<512xf32>
  %q2 = arith.truncf %q1 : tensor<512xf32> to tensor<512xf16>
  %q3 = tensor.expand_shape %q2 [[0, 1, 2]] output_shape [4, 8, 16] : tensor<512xf16> into tensor<4x8x16xf16>
  %q = util.optimization_barrier %q3 : tensor<4x8x16xf16>
  %kn = arith.constant 512 : index
  %ks = arith.constant 11 : index
  %k0 = call @drawn(%kn, %ks) : (index, index) -> tensor<?xf32>
  %k1 = tensor.cast %k0 : tensor<?xf32> to tensor<512xf32>
  %k2 = arith.truncf %k1 : tensor<512xf32> to tensor<512xf16>
  %k3 = tensor.expand_shape %k2 [[0, 1]] output_shape [32, 16] : tensor<512xf16> into tensor<32x16xf16>
  %k = util.optimization_barrier %k3 : tensor<32x16xf16>
  %vn = arith.constant 512 : index
  %vs = arith.constant 9 : index
  %v0 = call @drawn(%vn, %vs) : (index, index) -> tensor<?xf32>
  %v1 = tensor.cast %v0 : tensor<?xf32> to tensor<512xf32>
  %v2 = arith.truncf %v1 : tensor<512xf32> to tensor<512xf16>
  %v3 = tensor.expand_shape %v2 [[0, 1]] output_shape [32, 16] : tensor<512xf16> into tensor<32x16xf16>
  %v = util.optimization_barrier %v3 : tensor<32x16xf16>
  %mn = arith.constant 1024 : index
  %ms = arith.constant 7 : index
  %m0 = call @drawn(%mn, %ms) : (index, index) -> tensor<?xf32>
  %m1 = tensor.cast %m0 : tensor<?xf32> to tensor<1024xf32>
  %m2 = arith.truncf %m1 : tensor<1024xf32> to tensor<1024xf16>
  %m3 = tensor.expand_shape %m2 [[0, 1, 2]] output_shape [4, 8, 32] : tensor<1024xf16> into tensor<4x8x32xf16>
  %m = util.optimization_barrier %m3 : tensor<4x8x32xf16>
  %eq = tensor.empty() : tensor<16x8x4xf16>
  %turned = linalg.transpose ins(%q : tensor<4x8x16xf16>) outs(%eq : tensor<16x8x4xf16>) permutation = [2, 1, 0]
  %qt = util.optimization_barrier %turned : tensor<16x8x4xf16>
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<8x4x16xf32>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #mask, #o]}
      ins(%q, %k, %v, %scale, %m : tensor<4x8x16xf16>, tensor<32x16xf16>, tensor<32x16xf16>, f32, tensor<4x8x32xf16>) outs(%e : tensor<8x4x16xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %a, %b : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.25 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<8x4x16xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#qt, #k, #v, #none, #mask, #o]}
      ins(%qt, %k, %v, %scale, %m : tensor<16x8x4xf16>, tensor<32x16xf16>, tensor<32x16xf16>, f32, tensor<4x8x32xf16>) outs(%e : tensor<8x4x16xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %a, %b : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.25 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<8x4x16xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-02) : tensor<8x4x16xf32>
  return
}
