// Convolutions whose sizes divide nothing: filters whose rows are no vectors, results that are no whole groups of phases, few filters of
// places whose number has no small divisor, and channels that fill no line.
// RUN: tenon-opt %s --tenon-align-products | FileCheck %s
// RUN: tenon-compile %s -o %t.tenon --target=sm_90a --images=ptx --print-dispatches 2>&1 | FileCheck %s --check-prefix=TILE

module attributes {tenon.hopper_only} {

// Three filters in a row are six bytes: they are turned, so that tensor cores read what is summed in vectors.
// CHECK-LABEL: func.func @rows_of_filters
// CHECK: linalg.transpose ins(%arg1 : tensor<3x3x64x3xbf16>) outs({{.*}} : tensor<3x3x3x64xbf16>)
// CHECK: return
// TILE: contraction '8x28x28x3x3x3x64 pppprrr: bf16(d0, d1 + d4, d2 + d5, d6), bf16(d4, d5, d3, d6)
// TILE: by = "wgmma"
func.func @rows_of_filters(%i: tensor<8x30x30x64xbf16>, %w: tensor<3x3x64x3xbf16>) -> tensor<8x28x28x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x28x28x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x28x28x3xf32>) -> tensor<8x28x28x3xf32>
  %p = linalg.conv_2d_nhwc_hwcf ins(%i, %w : tensor<8x30x30x64xbf16>, tensor<3x3x64x3xbf16>) outs(%f : tensor<8x28x28x3xf32>) -> tensor<8x28x28x3xf32>
  return %p : tensor<8x28x28x3xf32>
}

// Eight are a vector.
// CHECK-LABEL: func.func @vectors_of_filters
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @vectors_of_filters(%i: tensor<8x30x30x64xbf16>, %w: tensor<3x3x64x8xbf16>) -> tensor<8x28x28x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x28x28x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x28x28x8xf32>) -> tensor<8x28x28x8xf32>
  %p = linalg.conv_2d_nhwc_hwcf ins(%i, %w : tensor<8x30x30x64xbf16>, tensor<3x3x64x8xbf16>) outs(%f : tensor<8x28x28x8xf32>) -> tensor<8x28x28x8xf32>
  return %p : tensor<8x28x28x8xf32>
}

// 75 places in steps of two are 38 groups of two phases, of whose last place nobody reads.
// TILE: contraction '2x38x2x38x2x64x2x2x128
// TILE: by = "wgmma"
func.func @groups_of_phases(%g: tensor<2x38x38x128xbf16>, %w: tensor<3x3x64x128xbf16>) -> tensor<2x75x75x64xf32> {
  %none = arith.constant 0.0 : bf16
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<2x77x77x128xbf16>
  %b = linalg.fill ins(%none : bf16) outs(%a : tensor<2x77x77x128xbf16>) -> tensor<2x77x77x128xbf16>
  %wide = tensor.insert_slice %g into %b[0, 1, 1, 0] [2, 38, 38, 128] [1, 2, 2, 1] : tensor<2x38x38x128xbf16> into tensor<2x77x77x128xbf16>
  %e = tensor.empty() : tensor<2x75x75x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x75x75x64xf32>) -> tensor<2x75x75x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, y, x, k) -> (n, h + y, w + x, k)>, affine_map<(n, h, w, c, y, x, k) -> (y, x, c, k)>, affine_map<(n, h, w, c, y, x, k) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%wide, %w : tensor<2x77x77x128xbf16>, tensor<3x3x64x128xbf16>) outs(%f : tensor<2x75x75x64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x75x75x64xf32>
  return %p : tensor<2x75x75x64xf32>
}

// 8 x 127 x 127 places have no divisors but powers of two and 127: 254 parts of 508.
// TILE: contraction '32x12x254x508 pppr: bf16(d2, d3, d1), bf16(d2, d3, d0)
// TILE: by = "skinny"
func.func @places_of_primes(%i: tensor<129032x12xbf16>, %g: tensor<129032x32xbf16>) -> tensor<32x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x12xf32>) -> tensor<32x12xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(k, c, p) -> (p, c)>, affine_map<(k, c, p) -> (p, k)>, affine_map<(k, c, p) -> (k, c)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%i, %g : tensor<129032x12xbf16>, tensor<129032x32xbf16>) outs(%f : tensor<32x12xf32>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x12xf32>
  return %p : tensor<32x12xf32>
}

// Of one image places are rows, whose sums clusters take apart; filters are read as they lie.
// CHECK-LABEL: func.func @one_image
// CHECK-NOT: linalg.transpose ins(%arg1
// CHECK: return
// TILE: contraction '1000x10x10x16000 pppr: f16(d1, d2, d3), f16(d0, d3)
// TILE: deep = 6
func.func @one_image(%i: tensor<1x1000x22x22xf16>, %w: tensor<1000x1000x4x4xf16>) -> tensor<1x1000x10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1000x10x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1000x10x10xf32>) -> tensor<1x1000x10x10xf32>
  %p = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%i, %w : tensor<1x1000x22x22xf16>, tensor<1000x1000x4x4xf16>) outs(%f : tensor<1x1000x10x10xf32>) -> tensor<1x1000x10x10xf32>
  return %p : tensor<1x1000x10x10xf32>
}

// Products of 16 bits that the program sums in 16 bits are exact in a contraction, and so they are in the parts of one: else threads would
// multiply them.
// TILE: contraction '1x20x12x136x3x3x96 ppppprr: {{.*}}extf, extf, mulf, addf -> f32(d4, d0, d1, d2, d3)'
// TILE: by = "wgmma"
func.func @parts_of_narrow_sums(%i: tensor<1x24x16x96xbf16>, %w: tensor<136x3x3x96xbf16>) -> tensor<1x20x12x136xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x20x12x136xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x20x12x136xbf16>) -> tensor<1x20x12x136xbf16>
  %p = linalg.conv_2d_nhwc_fhwc {dilations = dense<2> : tensor<2xi64>} ins(%i, %w : tensor<1x24x16x96xbf16>, tensor<136x3x3x96xbf16>) outs(%f : tensor<1x20x12x136xbf16>) -> tensor<1x20x12x136xbf16>
  return %p : tensor<1x20x12x136xbf16>
}

// Two results of each channel: the image repeats its channels, each of which is one for itself then.
// CHECK-LABEL: func.func @results_of_channels
// CHECK: %[[REPEATED:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<8x58x58x64x2xbf16>) {{.*}}tenon.own_kernel
// CHECK: linalg.generic {{.*}} ins(%[[REPEATED]], %arg1 :
func.func @results_of_channels(%i: tensor<8x58x58x64xbf16>, %w: tensor<3x3x64x2xbf16>) -> tensor<8x56x56x64x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x56x56x64x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x56x56x64x2xf32>) -> tensor<8x56x56x64x2xf32>
  %p = linalg.depthwise_conv_2d_nhwc_hwcm ins(%i, %w : tensor<8x58x58x64xbf16>, tensor<3x3x64x2xbf16>) outs(%f : tensor<8x56x56x64x2xf32>) -> tensor<8x56x56x64x2xf32>
  return %p : tensor<8x56x56x64x2xf32>
}

}
