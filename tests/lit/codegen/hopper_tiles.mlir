// Tiles that the model chooses for Hopper, by what was measured (benchmarks/results/tile_models_h200_2026_11_30f_few.md).
// RUN: tenon-compile %s --target=sm_90a --images=ptx --print-dispatches -o %t.tenon 2>&1 | FileCheck %s

// Nothing hides what is behind the steps of a short sum in one round of large tiles; it does in more rounds, and of few steps it is
// the same for all.
// CHECK: contraction '6272x512x1024
// CHECK: rows = 64, columns = 128}, chosen by the model
// CHECK: contraction '25088x512x128
// CHECK: rows = 128, columns = 256}, chosen by the model
// One round of small tiles gets more of the caches than blocks that share larger ones; of more rounds they do not.
// CHECK: contraction '256x4096x14336
// CHECK: rows = 64, columns = 128}, chosen by the model
// CHECK: contraction '300x28672x4096
// CHECK: rows = 128, columns = 256}, chosen by the model
// With a result of 16 bits, two rounds of 256 columns of the result by 160 of its rows; the rest of a group reads its columns then.
// CHECK: contraction '300x28672x4096
// CHECK: rows = 256, columns = 160, exchanged = 1}, chosen by the model
// Of a sum of f32 whose sides both lie across, tiles of 64 x 128 are fewer rounds than of 128 x 64 or 128 x 128.
// CHECK: contraction '701x9123x502
// CHECK: {by = "threads", rows = 64, columns = 128}, chosen by the model
func.func @one_round(%a: tensor<6272x1024xbf16>, %b: tensor<512x1024xbf16>) -> tensor<6272x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6272x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6272x512xf32>) -> tensor<6272x512xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<6272x1024xbf16>, tensor<512x1024xbf16>) outs(%f : tensor<6272x512xf32>) -> tensor<6272x512xf32>
  return %r : tensor<6272x512xf32>
}
func.func @few_steps(%a: tensor<25088x128xbf16>, %b: tensor<512x128xbf16>) -> tensor<25088x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<25088x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<25088x512xf32>) -> tensor<25088x512xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<25088x128xbf16>, tensor<512x128xbf16>) outs(%f : tensor<25088x512xf32>) -> tensor<25088x512xf32>
  return %r : tensor<25088x512xf32>
}
func.func @small(%a: tensor<256x14336xbf16>, %b: tensor<4096x14336xbf16>) -> tensor<256x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x4096xf32>) -> tensor<256x4096xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<256x14336xbf16>, tensor<4096x14336xbf16>) outs(%f : tensor<256x4096xf32>) -> tensor<256x4096xf32>
  return %r : tensor<256x4096xf32>
}
func.func @rounds(%a: tensor<300x4096xbf16>, %b: tensor<28672x4096xbf16>) -> tensor<300x28672xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x28672xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x28672xf32>) -> tensor<300x28672xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<300x4096xbf16>, tensor<28672x4096xbf16>) outs(%f : tensor<300x28672xf32>) -> tensor<300x28672xf32>
  return %r : tensor<300x28672xf32>
}
func.func @exchanged(%a: tensor<300x4096xbf16>, %b: tensor<28672x4096xbf16>) -> tensor<300x28672xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x28672xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x28672xf32>) -> tensor<300x28672xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<300x4096xbf16>, tensor<28672x4096xbf16>) outs(%f : tensor<300x28672xf32>) -> tensor<300x28672xf32>
  %o = tensor.empty() : tensor<300x28672xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<300x28672xf32>) outs(%o : tensor<300x28672xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %v = arith.truncf %x : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<300x28672xbf16>
  return %q : tensor<300x28672xbf16>
}
func.func @both_across(%a: tensor<502x701xf32>, %b: tensor<502x9123xf32>) -> tensor<701x9123xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<701x9123xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<701x9123xf32>) -> tensor<701x9123xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<502x701xf32>, tensor<502x9123xf32>) outs(%f : tensor<701x9123xf32>) -> tensor<701x9123xf32>
  return %r : tensor<701x9123xf32>
}
