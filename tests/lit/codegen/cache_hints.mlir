// Streams of 256 MiB and more are loaded under a cache policy, where the target's PTX has one.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --target=sm_90a --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=LARGE --input-file=%t/large_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=TURNED --input-file=%t/turned_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=PLAIN --input-file=%t/large_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=PLAIN --input-file=%t/small_dispatch_0_sm_90a.ptx

// The bias is not of the stream: it stays in the caches.
// LARGE-COUNT-1: createpolicy.fractional.L2::evict_last.b64 [[POLICY:%rd[0-9]+]], 1.0;
// LARGE-COUNT-1: ld.global.L1::evict_last.L2::cache_hint.v4.b32 {{{.*}}}, [%rd{{[0-9]+}}], [[POLICY]];
// LARGE: ld.global.nc.v4.b32
// LARGE: st.global.v4.b32
func.func @large(%x: tensor<16384x4096xf32>, %bias: tensor<4096xf32>) -> tensor<16384x4096xf32> {
  %e = tensor.empty() : tensor<16384x4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %bias : tensor<16384x4096xf32>, tensor<4096xf32>) outs(%e : tensor<16384x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<16384x4096xf32>
  return %r : tensor<16384x4096xf32>
}

// TURNED: createpolicy
// TURNED-COUNT-8: ld.global.L1::evict_last.L2::cache_hint.v4.b32
// TURNED: bar.sync
func.func @turned(%x: tensor<16384x8192xbf16>) -> tensor<8192x16384xbf16> {
  %e = tensor.empty() : tensor<8192x16384xbf16>
  %r = linalg.transpose ins(%x : tensor<16384x8192xbf16>) outs(%e : tensor<8192x16384xbf16>) permutation = [1, 0]
  return %r : tensor<8192x16384xbf16>
}

// PLAIN-NOT: evict_last
// PLAIN: ld.global.nc.v4.b32
// PLAIN-NOT: evict_last
func.func @small(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
