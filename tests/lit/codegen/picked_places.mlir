// A convolution of one place in steps reads the places of its image that were picked: a kernel of its own brings them, and they are a
// product's side as they lie, or are turned.
// RUN: tenon-opt %s --tenon-align-products | FileCheck %s
// RUN: tenon-compile %s -o %t.tenon --target=sm_90a --f32-products=tf32 --images=ptx --print-dispatches 2>&1 | FileCheck %s --check-prefix=TILE

// TILE: a kernel of its own makes the copy
module attributes {tenon.tf32, tenon.hopper_only} {

// CHECK-LABEL: func.func @forward
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4x128x56x56xf32>) outs(%{{.*}} : tensor<4x128x28x28xf32>) attrs = {tenon.own_kernel}
// CHECK-NOT: linalg.transpose
// CHECK: return
// TILE: contraction 'tf32; 4x64x784x128 pppr: f32(d0, d3, d2), f32(d1, d3), mulf, addf -> f32(d0, d1, d2)'
func.func @forward(%i: tensor<4x128x56x56xf32>, %w: tensor<64x128x1x1xf32>) -> tensor<4x64x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x28x28xf32>) -> tensor<4x64x28x28xf32>
  %p = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%i, %w : tensor<4x128x56x56xf32>, tensor<64x128x1x1xf32>) outs(%f : tensor<4x64x28x28xf32>) -> tensor<4x64x28x28xf32>
  return %p : tensor<4x64x28x28xf32>
}

// 49 places are no row at a vector: what was picked is turned by another kernel, which reads along its rows.
// CHECK-LABEL: func.func @unaligned
// CHECK: outs(%{{.*}} : tensor<128x1024x7x7xf32>) attrs = {tenon.own_kernel}
// CHECK: linalg.transpose ins(%{{.*}} : tensor<128x1024x7x7xf32>)
// CHECK: return
// TILE: contraction 'tf32; 128x512x7x7x1024 ppppr: f32(d0, d2, d3, d4), f32(d1, d4), mulf, addf -> f32(d0, d2, d3, d1)'
func.func @unaligned(%i: tensor<128x1024x14x14xf32>, %w: tensor<512x1024x1x1xf32>) -> tensor<128x512x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x512x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x512x7x7xf32>) -> tensor<128x512x7x7xf32>
  %p = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%i, %w : tensor<128x1024x14x14xf32>, tensor<512x1024x1x1xf32>) outs(%f : tensor<128x512x7x7xf32>) -> tensor<128x512x7x7xf32>
  return %p : tensor<128x512x7x7xf32>
}

// By the image, 7 x 7 places and filters lie across: image and result have their channels last, and zeros come between what is turned.
// TILE: contraction 'tf32; 8x256x7x7x4x128 pppppr: f32(d0, d2, d3, d4, d5), f32(d1, d4, d5), mulf, addf -> f32(d4, d0, d2, d3, d1)'
// TILE: by = "wgmma"
func.func @by_image(%i: tensor<8x512x7x7xf32>, %w: tensor<512x256x1x1xf32>) -> tensor<8x256x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros0 = tensor.empty() : tensor<8x512x14x14xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros0 : tensor<8x512x14x14xf32>) -> tensor<8x512x14x14xf32>
  %wide = tensor.insert_slice %i into %zeros[0, 0, 0, 0] [8, 512, 7, 7] [1, 1, 2, 2] : tensor<8x512x7x7xf32> into tensor<8x512x14x14xf32>
  %e = tensor.empty() : tensor<8x256x14x14xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x256x14x14xf32>) -> tensor<8x256x14x14xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, c, h, w, k, r, s) -> (n, k, h + r, w + s)>, affine_map<(n, c, h, w, k, r, s) -> (k, c, r, s)>,
      affine_map<(n, c, h, w, k, r, s) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %w : tensor<8x512x14x14xf32>, tensor<512x256x1x1xf32>) outs(%f : tensor<8x256x14x14xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x256x14x14xf32>
  return %p : tensor<8x256x14x14xf32>
}

}
