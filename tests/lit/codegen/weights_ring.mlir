// Weights of four bits, up to eight rows: where code is made for Hopper alone, a warp asks for four steps beside each other, and one load
// brings their scales. Of a long sum blocks go from tile to tile, and lanes copy packed integers ahead. Few tiles are computed as elsewhere.
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --print-dispatches --dump-kernels-to=%t.kernels 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.kernels/long_sum_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=ROUNDS --input-file=%t.kernels/short_sum_dispatch_0_sm_90a.ptx
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon --print-dispatches 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// CHECK: 1x8192x96x128
// CHECK: {by = "skinny", few = 8, positions = 4, threads = 256, depth_warps = 8, turns = 2, ring = 1}
// CHECK: 1x8192x32x128
// CHECK: {by = "skinny", few = 8, positions = 4, threads = 256, depth_warps = 8, turns = 4}
// CHECK: 1x1024x96x128
// CHECK-NOT: turns
// ELSEWHERE-NOT: turns
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group
// PTX: fma.rn.bf16x2
// PTX: vote.sync.ballot.b32
// ROUNDS-NOT: cp.async
// ROUNDS-COUNT-8: ld.global.nc.v2.b32
// ROUNDS-NOT: fma.rn.bf16x2
// ROUNDS-COUNT-16: ld.global.nc.v4.b32
// ROUNDS: fma.rn.bf16x2
// ROUNDS: vote.sync.ballot.b32

func.func @long_sum(%x: tensor<1x12288xbf16>, %bytes: tensor<8192x6144xi8>, %scale: tensor<8192x96xbf16>, %zero: tensor<8192x96xbf16>) -> tensor<1x8192xbf16> {
  %q = flow.tensor.bitcast %bytes : tensor<8192x6144xi8> -> tensor<8192x96x128xi4>
  %e = tensor.empty() : tensor<8192x96x128xbf16>
  %w3 = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>,
      affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %scale, %zero : tensor<8192x96x128xi4>, tensor<8192x96xbf16>, tensor<8192x96xbf16>) outs(%e : tensor<8192x96x128xbf16>) {
  ^bb0(%a: i4, %s: bf16, %z: bf16, %o: bf16):
    %b = arith.uitofp %a : i4 to bf16
    %c = arith.subf %b, %z : bf16
    %d = arith.mulf %c, %s : bf16
    linalg.yield %d : bf16
  } -> tensor<8192x96x128xbf16>
  %w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<8192x96x128xbf16> into tensor<8192x12288xbf16>
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<1x8192xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x12288xbf16>, tensor<8192x12288xbf16>) outs(%begin : tensor<1x8192xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x8192xf32>
  %y = arith.truncf %p : tensor<1x8192xf32> to tensor<1x8192xbf16>
  return %y : tensor<1x8192xbf16>
}

func.func @short_sum(%x: tensor<1x4096xbf16>, %bytes: tensor<8192x2048xi8>, %scale: tensor<8192x32xbf16>, %zero: tensor<8192x32xbf16>) -> tensor<1x8192xbf16> {
  %q = flow.tensor.bitcast %bytes : tensor<8192x2048xi8> -> tensor<8192x32x128xi4>
  %e = tensor.empty() : tensor<8192x32x128xbf16>
  %w3 = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>,
      affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %scale, %zero : tensor<8192x32x128xi4>, tensor<8192x32xbf16>, tensor<8192x32xbf16>) outs(%e : tensor<8192x32x128xbf16>) {
  ^bb0(%a: i4, %s: bf16, %z: bf16, %o: bf16):
    %b = arith.uitofp %a : i4 to bf16
    %c = arith.subf %b, %z : bf16
    %d = arith.mulf %c, %s : bf16
    linalg.yield %d : bf16
  } -> tensor<8192x32x128xbf16>
  %w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<8192x32x128xbf16> into tensor<8192x4096xbf16>
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<1x8192xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x4096xbf16>, tensor<8192x4096xbf16>) outs(%begin : tensor<1x8192xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x8192xf32>
  %y = arith.truncf %p : tensor<1x8192xf32> to tensor<1x8192xbf16>
  return %y : tensor<1x8192xbf16>
}

func.func @few_tiles(%x: tensor<1x12288xbf16>, %bytes: tensor<1024x6144xi8>, %scale: tensor<1024x96xbf16>, %zero: tensor<1024x96xbf16>) -> tensor<1x1024xbf16> {
  %q = flow.tensor.bitcast %bytes : tensor<1024x6144xi8> -> tensor<1024x96x128xi4>
  %e = tensor.empty() : tensor<1024x96x128xbf16>
  %w3 = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>,
      affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q, %scale, %zero : tensor<1024x96x128xi4>, tensor<1024x96xbf16>, tensor<1024x96xbf16>) outs(%e : tensor<1024x96x128xbf16>) {
  ^bb0(%a: i4, %s: bf16, %z: bf16, %o: bf16):
    %b = arith.uitofp %a : i4 to bf16
    %c = arith.subf %b, %z : bf16
    %d = arith.mulf %c, %s : bf16
    linalg.yield %d : bf16
  } -> tensor<1024x96x128xbf16>
  %w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<1024x96x128xbf16> into tensor<1024x12288xbf16>
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<1x1024xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x12288xbf16>, tensor<1024x12288xbf16>) outs(%begin : tensor<1x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x1024xf32>
  %y = arith.truncf %p : tensor<1x1024xf32> to tensor<1x1024xbf16>
  return %y : tensor<1x1024xbf16>
}
