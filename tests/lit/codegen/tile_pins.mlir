// `tenon.tile` on a contraction says how its kernel computes it, whatever becomes of the operation on the way there.
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90a --print-dispatches --iree-hal-dump-executable-sources-to=%t.sources -o %t.tenon 2>&1 | FileCheck %s
// RUN: cat %t.sources/*.mlir | FileCheck %s --check-prefix=PLAN

// With what is computed from each element of its result, on the target that can; on the other one the model decides.
// CHECK: tile_pins.mlir:[[@LINE+9]]:8: remark: contraction '512x512x256 ppr: bf16(d0, d2), bf16(d2, d1), extf, extf, mulf, addf -> (f32); 512x512 pp: (f32), f32(d1), addf -> f32'
// CHECK: note: on sm_80: {by = "mma.sync", rows = 64, columns = 64}, chosen by the model
// CHECK: note: on sm_90a: {by = "wgmma", rows = 128, columns = 192}, chosen by 'tenon.tile'
// PLAN: tenon.strategy = {columns = 64 : i64, name = "contraction", rows = 64 : i64, threads = 256 : i64, warpgroup_cluster = 1 : i64, warpgroup_columns = 192 : i64, warpgroup_rows = 128 : i64}
// PLAN-NOT: tenon.tile
func.func @fused(%a: tensor<512x256xbf16>, %b: tensor<256x512xbf16>, %bias: tensor<512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tenon.tile = {by = "wgmma", rows = 128, columns = 192}} ins(%a, %b : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%s : tensor<512x512xf32>) -> tensor<512x512xf32>
  %bb = linalg.broadcast ins(%bias : tensor<512xf32>) outs(%e : tensor<512x512xf32>) dimensions = [0]
  %r = linalg.add ins(%p, %bb : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// Each side lies as it does, in a private function that is called twice; the kernels are one.
// CHECK: tile_pins.mlir:[[@LINE+9]]:8: remark: contraction '4x256x192x128 pppr: {{.*}}'
// CHECK: note: on sm_80: {by = "mma.sync", rows = 128, columns = 64}, chosen by 'tenon.tile'
// CHECK: note: on sm_90a: {by = "mma.sync", rows = 128, columns = 64}, chosen by 'tenon.tile'
// CHECK-NOT: 4x256x192x128
func.func private @batched(%a: tensor<4x256x128xf16>, %b: tensor<4x192x128xf16>) -> tensor<4x256x192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x256x192xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<4x256x192xf32>) -> tensor<4x256x192xf32>
  %t = tensor.empty() : tensor<4x256x192xf32>
  %p = linalg.batch_matmul
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      {tenon.tile = {columns = 64, by = "mma.sync", rows = 128, blocks = 1}}
      ins(%a, %b : tensor<4x256x128xf16>, tensor<4x192x128xf16>) outs(%s : tensor<4x256x192xf32>) -> tensor<4x256x192xf32>
  return %p : tensor<4x256x192xf32>
}
func.func @twice(%a: tensor<4x256x128xf16>, %c: tensor<4x256x128xf16>, %b: tensor<4x192x128xf16>) -> (tensor<4x256x192xf32>, tensor<4x256x192xf32>) {
  %0 = call @batched(%a, %b) : (tensor<4x256x128xf16>, tensor<4x192x128xf16>) -> tensor<4x256x192xf32>
  %1 = call @batched(%c, %b) : (tensor<4x256x128xf16>, tensor<4x192x128xf16>) -> tensor<4x256x192xf32>
  return %0, %1 : tensor<4x256x192xf32>, tensor<4x256x192xf32>
}

// A convolution, and a sum that is taken apart: the parts' kernel is pinned.
// CHECK: tile_pins.mlir:[[@LINE+6]]:8: remark: contraction '2x30x30x64x3x3x64 pppprrr: {{.*}}'
// CHECK: note: on sm_90a: {by = "wgmma", rows = 64, columns = 128}, chosen by 'tenon.tile'
func.func @convolution(%x: tensor<2x32x32x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<2x30x30x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x30x30x64xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<2x30x30x64xf32>) -> tensor<2x30x30x64xf32>
  %p = linalg.conv_2d_nhwc_hwcf {tenon.tile = {by = "wgmma", rows = 64, columns = 128}, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<2x32x32x64xf16>, tensor<3x3x64x64xf16>) outs(%s : tensor<2x30x30x64xf32>) -> tensor<2x30x30x64xf32>
  return %p : tensor<2x30x30x64xf32>
}
// CHECK: remark: contraction '64x64x128x512 pppr: {{.*}}'
// CHECK: note: on sm_90a: {by = "mma.sync", rows = 128, columns = 64}, chosen by 'tenon.tile'
func.func @long(%a: tensor<64x65536xbf16>, %b: tensor<65536x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul {tenon.tile = {by = "mma.sync", rows = 128, columns = 64}} ins(%a, %b : tensor<64x65536xbf16>, tensor<65536x64xbf16>) outs(%s : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// Few rows, and bytes that are f8.
// CHECK: remark: contraction '8x512x256 {{.*}}'
// CHECK: note: on sm_80: {by = "skinny", few = 8, positions = 2, threads = 256, depth_warps = 4}, chosen by 'tenon.tile'
// CHECK: note: on sm_90a: {by = "skinny", few = 8, positions = 2, threads = 256, depth_warps = 4}, chosen by 'tenon.tile'
func.func @few(%a: tensor<8x256xbf16>, %b: tensor<256x512xbf16>) -> tensor<8x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x512xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8x512xf32>) -> tensor<8x512xf32>
  %p = linalg.matmul {tenon.tile = {by = "skinny", few = 8, positions = 2, threads = 256, depth_warps = 4}} ins(%a, %b : tensor<8x256xbf16>, tensor<256x512xbf16>) outs(%s : tensor<8x512xf32>) -> tensor<8x512xf32>
  return %p : tensor<8x512xf32>
}
// CHECK: remark: contraction '256x256x256 {{.*}}'
// CHECK: note: on sm_90a: {by = "wgmma", rows = 64, columns = 192}, chosen by 'tenon.tile'
func.func @bytes(%a: tensor<256x256xf8E4M3FN>, %b: tensor<256x256xf8E4M3FN>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tenon.tile = {by = "wgmma", rows = 64, columns = 192}} ins(%a, %b : tensor<256x256xf8E4M3FN>, tensor<256x256xf8E4M3FN>) outs(%s : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %p : tensor<256x256xf32>
}

// Rows that are known only when the program runs; one kernel for all of them, or several with the pinned tile.
// CHECK: remark: contraction '?x512x256 {{.*}}'
// CHECK: note: on sm_80: {by = "mma.sync", rows = 128, columns = 128}, chosen by 'tenon.tile'
func.func @open(%a: tensor<?x256xbf16>, %b: tensor<256x512xbf16>) -> tensor<?x512xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%n) : tensor<?x512xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %p = linalg.matmul {tenon.tile = {by = "mma.sync", rows = 128, columns = 128}} ins(%a, %b : tensor<?x256xbf16>, tensor<256x512xbf16>) outs(%s : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %p : tensor<?x512xf32>
}
