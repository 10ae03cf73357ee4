// Of tf32, Hopper's warpgroups read an image of one place as it lies, each channel's places in a row; a gradient by the filters of few
// images is summed along their places.
// RUN: tenon-opt %s --tenon-align-products | FileCheck %s
// RUN: tenon-compile %s -o %t.tenon --target=sm_90a --f32-products=tf32 --images=ptx --print-dispatches 2>&1 | FileCheck %s --check-prefix=TILE

module attributes {tenon.tf32, tenon.hopper_only} {

// CHECK-LABEL: func.func @places
// CHECK-NOT: linalg.transpose
// CHECK: return
// TILE: contraction 'tf32; 4x64x784x128 pppr: f32(d0, d3, d2), f32(d1, d3), mulf, addf -> f32(d0, d1, d2)'
// TILE: by = "wgmma"
func.func @places(%i: tensor<4x128x28x28xf32>, %w: tensor<64x128x1x1xf32>) -> tensor<4x64x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x28x28xf32>) -> tensor<4x64x28x28xf32>
  %p = linalg.conv_2d_nchw_fchw ins(%i, %w : tensor<4x128x28x28xf32>, tensor<64x128x1x1xf32>) outs(%f : tensor<4x64x28x28xf32>) -> tensor<4x64x28x28xf32>
  return %p : tensor<4x64x28x28xf32>
}

// Filters that lie across beside such an image are turned: they are smaller.
// CHECK-LABEL: func.func @filters_across
// CHECK: linalg.transpose ins(%arg1 : tensor<128x96xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
// TILE: contraction 'tf32; 4x96x784x128 pppr: f32(d0, d3, d2), f32(d1, d3), mulf, addf -> f32(d0, d1, d2)'
// TILE: by = "wgmma"
func.func @filters_across(%i: tensor<4x128x784xf32>, %w: tensor<128x96xf32>) -> tensor<4x96x784xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x96x784xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x96x784xf32>) -> tensor<4x96x784xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, f, p, c) -> (n, c, p)>, affine_map<(n, f, p, c) -> (c, f)>, affine_map<(n, f, p, c) -> (n, f, p)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%i, %w : tensor<4x128x784xf32>, tensor<128x96xf32>) outs(%f : tensor<4x96x784xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x96x784xf32>
  return %p : tensor<4x96x784xf32>
}

// 49 places are no row at a vector: images have their channels last, and so has the result, which is turned.
// CHECK-LABEL: func.func @unaligned
// CHECK: linalg.transpose ins(%arg0 : tensor<8x256x7x7xf32>)
// CHECK: linalg.transpose ins(%{{.*}} : tensor<8x7x7x512xf32>) outs(%{{.*}} : tensor<8x512x7x7xf32>)
// CHECK: return
// TILE: contraction 'tf32; 8x512x7x7x2x128 pppppr: f32(d0, d2, d3, d4, d5), f32(d1, d4, d5), mulf, addf -> f32(d4, d0, d2, d3, d1)'
// TILE: by = "wgmma"
func.func @unaligned(%i: tensor<8x256x7x7xf32>, %w: tensor<512x256x1x1xf32>) -> tensor<8x512x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x512x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x512x7x7xf32>) -> tensor<8x512x7x7xf32>
  %p = linalg.conv_2d_nchw_fchw ins(%i, %w : tensor<8x256x7x7xf32>, tensor<512x256x1x1xf32>) outs(%f : tensor<8x512x7x7xf32>) -> tensor<8x512x7x7xf32>
  return %p : tensor<8x512x7x7xf32>
}

// A copy of the image for each column of the window.
// CHECK-LABEL: func.func @few_images
// CHECK: tensor<2x128x3x10x16xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2], [3, 4]] : tensor<2x128x3x10x16xf32> into tensor<2x128x3x160xf32>
// CHECK: linalg.generic
// CHECK: return
// TILE: contraction 'tf32; 128x3x3x128x2x128 pppprr: f32(d4, d3, d2, d5 + d1 * 16), f32(d4, d0, d5), mulf, addf -> f32(d0, d1, d2, d3)'
// TILE: by = "wgmma"
func.func @few_images(%i: tensor<2x10x18x128xf32>, %g: tensor<2x8x16x128xf32>) -> tensor<128x3x3x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x3x3x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x3x3x128xf32>) -> tensor<128x3x3x128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(f, r, s, c, n, y, x) -> (n, y + r, x + s, c)>, affine_map<(f, r, s, c, n, y, x) -> (n, y, x, f)>,
      affine_map<(f, r, s, c, n, y, x) -> (f, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%i, %g : tensor<2x10x18x128xf32>, tensor<2x8x16x128xf32>) outs(%f : tensor<128x3x3x128xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<128x3x3x128xf32>
  return %p : tensor<128x3x3x128xf32>
}

// Of 64 channels copies take longer than warps, which read both sides as they lie, the border too.
// CHECK-LABEL: func.func @by_warps
// CHECK-NOT: linalg.transpose
// CHECK-NOT: linalg.generic
// CHECK: tensor.pad
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1 : tensor<2x18x34x64xf32>, tensor<2x16x32x64xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
// TILE: by = "mma.sync"
func.func @by_warps(%i: tensor<2x16x32x64xf32>, %g: tensor<2x16x32x64xf32>) -> tensor<64x3x3x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.pad %i low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %x: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<2x16x32x64xf32> to tensor<2x18x34x64xf32>
  %e = tensor.empty() : tensor<64x3x3x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3x3x64xf32>) -> tensor<64x3x3x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(f, r, s, c, n, y, x) -> (n, y + r, x + s, c)>, affine_map<(f, r, s, c, n, y, x) -> (n, y, x, f)>,
      affine_map<(f, r, s, c, n, y, x) -> (f, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %g : tensor<2x18x34x64xf32>, tensor<2x16x32x64xf32>) outs(%f : tensor<64x3x3x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x3x3x64xf32>
  return %p : tensor<64x3x3x64xf32>
}

}
