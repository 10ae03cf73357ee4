// Channels first, f16 and bf16: where an image's places are vectors and no whole lines, each image is an element of the batch, and its
// places come as boxes, which no other image has a part of.
// RUN: tenon-compile %s -o %t.tenon --target=sm_90a --images=ptx --dump-kernels-to=%t.kernels --print-dispatches 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: cat %t.kernels/boxes_dispatch_0_sm_90a.ptx | FileCheck %s --check-prefix=BOXES
// RUN: cat %t.kernels/threads_dispatch_0_sm_90a.ptx | FileCheck %s --check-prefix=THREADS

// 784 places are 12.25 lines. Columns of a tile divide them.
// TILE: contraction '32x256x784x512
// TILE: by = "wgmma", rows = {{128|256}}, columns = {{80|96|112|208|224}}}
// BOXES: cp.async.bulk.tensor.3d.shared
func.func @boxes(%i: tensor<32x512x784xbf16>, %w: tensor<256x512xbf16>) -> tensor<32x256x784xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x256x784xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x256x784xf32>) -> tensor<32x256x784xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, f, p, c) -> (n, c, p)>, affine_map<(n, f, p, c) -> (f, c)>, affine_map<(n, f, p, c) -> (n, f, p)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%i, %w : tensor<32x512x784xbf16>, tensor<256x512xbf16>) outs(%f : tensor<32x256x784xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %a = arith.extf %x : bf16 to f32
    %b = arith.extf %y : bf16 to f32
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x256x784xf32>
  %q = tensor.empty() : tensor<32x256x784xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, p) -> (n, f, p)>, affine_map<(n, f, p) -> (n, f, p)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<32x256x784xf32>) outs(%q : tensor<32x256x784xbf16>) {
  ^bb0(%x: f32, %y: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x256x784xbf16>
  return %r : tensor<32x256x784xbf16>
}

// 196 places are no vectors.
// TILE: contraction '32x256x196x512
// THREADS-NOT: cp.async.bulk.tensor
// THREADS: wgmma.mma_async
func.func @threads(%i: tensor<32x512x196xbf16>, %w: tensor<256x512xbf16>) -> tensor<32x256x196xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x256x196xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x256x196xf32>) -> tensor<32x256x196xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, f, p, c) -> (n, c, p)>, affine_map<(n, f, p, c) -> (f, c)>, affine_map<(n, f, p, c) -> (n, f, p)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%i, %w : tensor<32x512x196xbf16>, tensor<256x512xbf16>) outs(%f : tensor<32x256x196xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %a = arith.extf %x : bf16 to f32
    %b = arith.extf %y : bf16 to f32
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x256x196xf32>
  return %p : tensor<32x256x196xf32>
}
