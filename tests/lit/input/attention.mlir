// iree_linalg_ext.attention is what it stands for, and one kernel again.
// RUN: split-file %s %t
// RUN: tenon-compile %t/plain.mlir --images=ptx --target=sm_80 --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=plain --input=1x3x4xf32=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0,1.1,1.2 | FileCheck %s --check-prefix=PLAIN
// RUN: tenon-compile %t/masked.mlir --images=ptx --target=sm_80 --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not tenon-compile %t/maps.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=MAPS
// RUN: not tenon-compile %t/loops.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not tenon-compile %t/mask.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=MASK

// ONE-NOT: dispatch_1
// ONE: _dispatch_0' ends here
// ONE-NOT: dispatch_1
// PLAIN: 1x3x4xf32=
// MAPS: error: 'iree_linalg_ext.attention' op found 0 indexing_maps, 5 are wanted: of queries, keys, values, scale and result
// LOOPS: error: 'iree_linalg_ext.attention' op found loop d3 in values : a depth of queries and keys, a dimension of keys and values, or one of the result is wanted
// MASK: error: 'iree_linalg_ext.attention' op found operand 4 of 'i32', floats are wanted, or i1

//--- plain.mlir
func.func @plain(%x: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<1x3x4xf32>
  %r = iree_linalg_ext.attention {indexing_maps = [affine_map<(b, m, d, n, e) -> (b, m, d)>, affine_map<(b, m, d, n, e) -> (b, n, d)>,
      affine_map<(b, m, d, n, e) -> (b, n, e)>, affine_map<(b, m, d, n, e) -> ()>, affine_map<(b, m, d, n, e) -> (b, m, e)>]}
      ins(%x, %x, %x, %scale : tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>, f32) outs(%init : tensor<1x3x4xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}

//--- masked.mlir
func.func @masked(%q: tensor<2x4x?x64xf16>, %k: tensor<2x4x?x64xf16>, %v: tensor<2x4x?x32xf16>, %scale: f16, %mask: tensor<2x?x?xi1>, %init: tensor<2x?x4x32xf16>) -> tensor<2x?x4x32xf16> {
  %r = iree_linalg_ext.attention {indexing_maps = [affine_map<(b, h, m, d, e, n) -> (b, h, m, d)>, affine_map<(b, h, m, d, e, n) -> (b, h, n, d)>,
      affine_map<(b, h, m, d, e, n) -> (b, h, n, e)>, affine_map<(b, h, m, d, e, n) -> ()>, affine_map<(b, h, m, d, e, n) -> (b, m, n)>, affine_map<(b, h, m, d, e, n) -> (b, m, h, e)>]}
      ins(%q, %k, %v, %scale, %mask : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x32xf16>, f16, tensor<2x?x?xi1>) outs(%init : tensor<2x?x4x32xf16>) {
    ^bb0(%score: f32):
      %cap = arith.constant 20.0 : f32
      %a = arith.divf %score, %cap : f32
      %b = math.tanh %a : f32
      %c = arith.mulf %b, %cap : f32
      iree_linalg_ext.yield %c : f32
  } -> tensor<2x?x4x32xf16>
  return %r : tensor<2x?x4x32xf16>
}

//--- maps.mlir
func.func @maps(%x: tensor<1x3x4xf32>, %scale: f32) -> tensor<1x3x4xf32> {
  %r = iree_linalg_ext.attention ins(%x, %x, %x, %scale : tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>, f32) outs(%x : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %r : tensor<1x3x4xf32>
}

//--- loops.mlir
func.func @loops(%x: tensor<3x4xf32>, %scale: f32) -> tensor<3x4xf32> {
  %r = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, d, n, e) -> (m, d)>, affine_map<(m, d, n, e) -> (n, d)>,
      affine_map<(m, d, n, e) -> (n, e)>, affine_map<(m, d, n, e) -> ()>, affine_map<(m, d, n, e) -> (m, d)>]}
      ins(%x, %x, %x, %scale : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, f32) outs(%x : tensor<3x4xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

//--- mask.mlir
func.func @mask(%x: tensor<3x4xf32>, %y: tensor<3x3xi32>, %scale: f32) -> tensor<3x4xf32> {
  %r = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, d, n, e) -> (m, d)>, affine_map<(m, d, n, e) -> (n, d)>,
      affine_map<(m, d, n, e) -> (n, e)>, affine_map<(m, d, n, e) -> ()>, affine_map<(m, d, n, e) -> (m, n)>, affine_map<(m, d, n, e) -> (m, e)>]}
      ins(%x, %x, %x, %scale, %y : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, f32, tensor<3x3xi32>) outs(%x : tensor<3x4xf32>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
