// Attention of few tiles and many keys, whose blocks each have a part of a tile's keys on sm_90a, beside exact attention of
// the same numbers.
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: tenon-check %t.tenon | FileCheck %s
// RUN: cat %t.kernels/*.ptx | FileCheck %s --check-prefix=KERNELS
// KERNELS-DAG: .entry bias_dispatch_{{[0-9]+}}_1(
// KERNELS-DAG: .entry few_tiles_dispatch_{{[0-9]+}}_1(
// KERNELS-DAG: .entry last_queries_dispatch_{{[0-9]+}}_1(
// CHECK: 3 functions: 3 expectations hold, 0 failed

#q = affine_map<(b, m, d, k, n) -> (b, m, d)>
#k = affine_map<(b, m, d, k, n) -> (b, k, d)>
#v = affine_map<(b, m, d, k, n) -> (b, k, n)>
#none = affine_map<(b, m, d, k, n) -> ()>
#o = affine_map<(b, m, d, k, n) -> (b, m, n)>

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

func.func @few_tiles() {
  %qn = arith.constant 12800 : index
  %qs = arith.constant 5 : index
  %q0 = call @drawn(%qn, %qs) : (index, index) -> tensor<?xf32>
  %q1 = tensor.cast %q0 : tensor<?xf32> to tensor<12800xf32>
  %q2 = arith.truncf %q1 : tensor<12800xf32> to tensor<12800xf16>
  %q3 = tensor.expand_shape %q2 [[0, 1, 2]] output_shape [2, 100, 64] : tensor<12800xf16> into tensor<2x100x64xf16>
  %q = util.optimization_barrier %q3 : tensor<2x100x64xf16>
  %qw = arith.extf %q : tensor<2x100x64xf16> to tensor<2x100x64xf32>
  %kn = arith.constant 320000 : index
  %ks = arith.constant 11 : index
  %k0 = call @drawn(%kn, %ks) : (index, index) -> tensor<?xf32>
  %k1 = tensor.cast %k0 : tensor<?xf32> to tensor<320000xf32>
  %k2 = arith.truncf %k1 : tensor<320000xf32> to tensor<320000xf16>
  %k3 = tensor.expand_shape %k2 [[0, 1, 2]] output_shape [2, 2500, 64] : tensor<320000xf16> into tensor<2x2500x64xf16>
  %k = util.optimization_barrier %k3 : tensor<2x2500x64xf16>
  %kw = arith.extf %k : tensor<2x2500x64xf16> to tensor<2x2500x64xf32>
  %vn = arith.constant 320000 : index
  %vs = arith.constant 9 : index
  %v0 = call @drawn(%vn, %vs) : (index, index) -> tensor<?xf32>
  %v1 = tensor.cast %v0 : tensor<?xf32> to tensor<320000xf32>
  %v2 = arith.truncf %v1 : tensor<320000xf32> to tensor<320000xf16>
  %v3 = tensor.expand_shape %v2 [[0, 1, 2]] output_shape [2, 2500, 64] : tensor<320000xf16> into tensor<2x2500x64xf16>
  %v = util.optimization_barrier %v3 : tensor<2x2500x64xf16>
  %vw = arith.extf %v : tensor<2x2500x64xf16> to tensor<2x2500x64xf32>
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x100x64xf32>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%qw, %kw, %vw, %scale : tensor<2x100x64xf32>, tensor<2x2500x64xf32>, tensor<2x2500x64xf32>, f32) outs(%e : tensor<2x100x64xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x100x64xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%q, %k, %v, %scale : tensor<2x100x64xf16>, tensor<2x2500x64xf16>, tensor<2x2500x64xf16>, f32) outs(%e : tensor<2x100x64xf32>) {
  ^bb0(%s: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<2x100x64xf32>
  check.expect_almost_eq(%got, %want, atol 2.0e-03) : tensor<2x100x64xf32>
  return
}

func.func @last_queries() {
  %qn = arith.constant 33280 : index
  %qs = arith.constant 5 : index
  %q0 = call @drawn(%qn, %qs) : (index, index) -> tensor<?xf32>
  %q1 = tensor.cast %q0 : tensor<?xf32> to tensor<33280xf32>
  %q2 = arith.truncf %q1 : tensor<33280xf32> to tensor<33280xbf16>
  %q3 = tensor.expand_shape %q2 [[0, 1, 2]] output_shape [2, 130, 128] : tensor<33280xbf16> into tensor<2x130x128xbf16>
  %q = util.optimization_barrier %q3 : tensor<2x130x128xbf16>
  %qw = arith.extf %q : tensor<2x130x128xbf16> to tensor<2x130x128xf32>
  %kn = arith.constant 768000 : index
  %ks = arith.constant 11 : index
  %k0 = call @drawn(%kn, %ks) : (index, index) -> tensor<?xf32>
  %k1 = tensor.cast %k0 : tensor<?xf32> to tensor<768000xf32>
  %k2 = arith.truncf %k1 : tensor<768000xf32> to tensor<768000xbf16>
  %k3 = tensor.expand_shape %k2 [[0, 1, 2]] output_shape [2, 3000, 128] : tensor<768000xbf16> into tensor<2x3000x128xbf16>
  %k = util.optimization_barrier %k3 : tensor<2x3000x128xbf16>
  %kw = arith.extf %k : tensor<2x3000x128xbf16> to tensor<2x3000x128xf32>
  %vn = arith.constant 768000 : index
  %vs = arith.constant 9 : index
  %v0 = call @drawn(%vn, %vs) : (index, index) -> tensor<?xf32>
  %v1 = tensor.cast %v0 : tensor<?xf32> to tensor<768000xf32>
  %v2 = arith.truncf %v1 : tensor<768000xf32> to tensor<768000xbf16>
  %v3 = tensor.expand_shape %v2 [[0, 1, 2]] output_shape [2, 3000, 128] : tensor<768000xbf16> into tensor<2x3000x128xbf16>
  %v = util.optimization_barrier %v3 : tensor<2x3000x128xbf16>
  %vw = arith.extf %v : tensor<2x3000x128xbf16> to tensor<2x3000x128xf32>
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x130x128xf32>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%qw, %kw, %vw, %scale : tensor<2x130x128xf32>, tensor<2x3000x128xf32>, tensor<2x3000x128xf32>, f32) outs(%e : tensor<2x130x128xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %after = arith.constant 2870 : index
    %last = arith.addi %a, %after : index
    %seen = arith.cmpi sge, %last, %b : index
    %least = arith.constant 0xFF800000 : f32
    %u = arith.select %seen, %s, %least : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<2x130x128xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%q, %k, %v, %scale : tensor<2x130x128xbf16>, tensor<2x3000x128xbf16>, tensor<2x3000x128xbf16>, f32) outs(%e : tensor<2x130x128xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %after = arith.constant 2870 : index
    %last = arith.addi %a, %after : index
    %seen = arith.cmpi sge, %last, %b : index
    %least = arith.constant 0xFF800000 : f32
    %u = arith.select %seen, %s, %least : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<2x130x128xf32>
  check.expect_almost_eq(%got, %want, atol 1.0e-02) : tensor<2x130x128xf32>
  return
}

func.func @bias() {
  %qn = arith.constant 5040 : index
  %qs = arith.constant 5 : index
  %q0 = call @drawn(%qn, %qs) : (index, index) -> tensor<?xf32>
  %q1 = tensor.cast %q0 : tensor<?xf32> to tensor<5040xf32>
  %q2 = arith.truncf %q1 : tensor<5040xf32> to tensor<5040xf16>
  %q3 = tensor.expand_shape %q2 [[0, 1, 2]] output_shape [3, 70, 24] : tensor<5040xf16> into tensor<3x70x24xf16>
  %q = util.optimization_barrier %q3 : tensor<3x70x24xf16>
  %qw = arith.extf %q : tensor<3x70x24xf16> to tensor<3x70x24xf32>
  %kn = arith.constant 147528 : index
  %ks = arith.constant 11 : index
  %k0 = call @drawn(%kn, %ks) : (index, index) -> tensor<?xf32>
  %k1 = tensor.cast %k0 : tensor<?xf32> to tensor<147528xf32>
  %k2 = arith.truncf %k1 : tensor<147528xf32> to tensor<147528xf16>
  %k3 = tensor.expand_shape %k2 [[0, 1, 2]] output_shape [3, 2049, 24] : tensor<147528xf16> into tensor<3x2049x24xf16>
  %k = util.optimization_barrier %k3 : tensor<3x2049x24xf16>
  %kw = arith.extf %k : tensor<3x2049x24xf16> to tensor<3x2049x24xf32>
  %vn = arith.constant 147528 : index
  %vs = arith.constant 9 : index
  %v0 = call @drawn(%vn, %vs) : (index, index) -> tensor<?xf32>
  %v1 = tensor.cast %v0 : tensor<?xf32> to tensor<147528xf32>
  %v2 = arith.truncf %v1 : tensor<147528xf32> to tensor<147528xf16>
  %v3 = tensor.expand_shape %v2 [[0, 1, 2]] output_shape [3, 2049, 24] : tensor<147528xf16> into tensor<3x2049x24xf16>
  %v = util.optimization_barrier %v3 : tensor<3x2049x24xf16>
  %vw = arith.extf %v : tensor<3x2049x24xf16> to tensor<3x2049x24xf32>
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<3x70x24xf32>
  %want = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%qw, %kw, %vw, %scale : tensor<3x70x24xf32>, tensor<3x2049x24xf32>, tensor<3x2049x24xf32>, f32) outs(%e : tensor<3x70x24xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %b, %a : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.002 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<3x70x24xf32>
  %got = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #none, #o]}
      ins(%q, %k, %v, %scale : tensor<3x70x24xf16>, tensor<3x2049x24xf16>, tensor<3x2049x24xf16>, f32) outs(%e : tensor<3x70x24xf32>) {
  ^bb0(%s: f32):
    %a = iree_linalg_ext.index 1 : index
    %b = iree_linalg_ext.index 3 : index
    %c = arith.subi %b, %a : index
    %d = arith.index_cast %c : index to i32
    %f = arith.sitofp %d : i32 to f32
    %h = arith.constant 0.002 : f32
    %g = arith.mulf %f, %h : f32
    %u = arith.addf %s, %g : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<3x70x24xf32>
  check.expect_almost_eq(%got, %want, atol 2.0e-03) : tensor<3x70x24xf32>
  return
}
