// Convolutions of f32 by Winograd's, where that is allowed; without the flag nothing changes.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products=winograd | FileCheck %s
// RUN: tenon-compile %s -o %t.tenon --target=sm_90a --images=ptx --f32-convolutions=winograd --print-dispatches 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: rm -rf %t.direct %t.unsaid
// RUN: tenon-compile %s -o %t.tenon --target=sm_90a --images=ptx --f32-convolutions=direct --dump-kernels-to=%t.direct
// RUN: sed -E 's/( attrs =)? \{tenon.tile_side = . : i64\}/ /' %s > %t.unsaid.mlir
// RUN: tenon-compile %t.unsaid.mlir -o %t.tenon --target=sm_90a --images=ptx --dump-kernels-to=%t.unsaid
// RUN: diff -r %t.direct %t.unsaid
// RUN: not tenon-compile %s --f32-convolutions=fast -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FLAG

// RUN: sed 's/tile_side = 6 : i64/tile_side = "6"/' %s > %t.bad.mlir && not tenon-compile %t.bad.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: sed 's/tensor.empty() :/tensor.empty() {tenon.tile_side = 6 : i64} :/' %s > %t.bad.mlir && not tenon-compile %t.bad.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=NONE

// TYPE: error: 'tenon.tile_side' is "6"; wanted: a number, such as 6 : i64
// NONE: error: 'tenon.tile_side' says how a convolution of linalg is computed, and this is 'tensor.empty', which is none
// FLAG: --f32-convolutions is 'direct' or 'winograd', not 'fast'

// CHECK-LABEL: func.func @tiles
// CHECK: iree_linalg_ext.tile_transform{{.*}}low = array<i64: 1, 1>{{.*}} -> tensor<36x18x8xf32>
// CHECK: iree_linalg_ext.tile_transform{{.*}} -> tensor<36x12x8xf32>
// CHECK: linalg.generic{{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: iree_linalg_ext.tile_transform{{.*}} -> tensor<2x9x10x12xf32>
// SAID: remark: this convolution is computed by Winograd's F(4 x 4, 3 x 3)
func.func @tiles(%i: tensor<2x9x10x8xf32>, %w: tensor<12x3x3x8xf32>) -> tensor<2x9x10x12xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.pad %i low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<2x9x10x8xf32> to tensor<2x11x12x8xf32>
  %e = tensor.empty() : tensor<2x9x10x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x9x10x12xf32>) -> tensor<2x9x10x12xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, h, w, k, r, s, c) -> (n, h + r, w + s, c)>, affine_map<(n, h, w, k, r, s, c) -> (k, r, s, c)>, affine_map<(n, h, w, k, r, s, c) -> (n, h, w, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %w : tensor<2x11x12x8xf32>, tensor<12x3x3x8xf32>) outs(%f : tensor<2x9x10x12xf32>) attrs = {tenon.tile_side = 6 : i64} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x9x10x12xf32>
  return %p : tensor<2x9x10x12xf32>
}

// A named convolution says so, too, alone or beside others.
// CHECK-LABEL: func.func @named
// CHECK: iree_linalg_ext.tile_transform{{.*}} -> tensor<36x8x8xf32>
// CHECK: iree_linalg_ext.tile_transform{{.*}} -> tensor<2x6x6x12xf32>
// CHECK: return
func.func @named(%i: tensor<2x8x8x8xf32>, %w: tensor<12x3x3x8xf32>) -> tensor<2x6x6x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x6x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x6x12xf32>) -> tensor<2x6x6x12xf32>
  %p = linalg.conv_2d_nhwc_fhwc {tenon.tile_side = 6 : i64} ins(%i, %w : tensor<2x8x8x8xf32>, tensor<12x3x3x8xf32>) outs(%f : tensor<2x6x6x12xf32>) -> tensor<2x6x6x12xf32>
  return %p : tensor<2x6x6x12xf32>
}

// In steps of two, and as large as one of any size is.
// CHECK-LABEL: func.func @steps
// CHECK-NOT: tile_transform
// CHECK: return
// SAID: remark: this convolution is computed directly, not by Winograd's: tiles are for f32, windows of 3 x 3 and 5 x 5 in steps of one over all of an image
func.func @steps(%i: tensor<8x65x65x64xf32>, %w: tensor<64x3x3x64xf32>) -> tensor<8x32x32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32x32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32x32x64xf32>) -> tensor<8x32x32x64xf32>
  %p = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%i, %w : tensor<8x65x65x64xf32>, tensor<64x3x3x64xf32>) outs(%f : tensor<8x32x32x64xf32>) -> tensor<8x32x32x64xf32>
  return %p : tensor<8x32x32x64xf32>
}

// What tiles are not for says so, wherever it is.
// SAID: warning: 'tenon.tile_side' is 6 and has no effect: {{.*}}of known sizes
func.func @product(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %p = linalg.matmul {tenon.tile_side = 6 : i64} ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// SAID: warning: 'tenon.tile_side' is 4 and has no effect
func.func @halves(%i: tensor<2x8x8x8xf16>, %w: tensor<12x3x3x8xf16>, %f: tensor<2x6x6x12xf16>) -> tensor<2x6x6x12xf16> {
  %p = linalg.conv_2d_nhwc_fhwc {tenon.tile_side = 4 : i64} ins(%i, %w : tensor<2x8x8x8xf16>, tensor<12x3x3x8xf16>) outs(%f : tensor<2x6x6x12xf16>) -> tensor<2x6x6x12xf16>
  return %p : tensor<2x6x6x12xf16>
}

// SAID: warning: 'tenon.tile_side' is 6 and has no effect
func.func @unknown(%i: tensor<?x66x66x64xf32>, %w: tensor<64x3x3x64xf32>, %f: tensor<?x64x64x64xf32>) -> tensor<?x64x64x64xf32> {
  %p = linalg.conv_2d_nhwc_fhwc {tenon.tile_side = 6 : i64} ins(%i, %w : tensor<?x66x66x64xf32>, tensor<64x3x3x64xf32>) outs(%f : tensor<?x64x64x64xf32>) -> tensor<?x64x64x64xf32>
  return %p : tensor<?x64x64x64xf32>
}
