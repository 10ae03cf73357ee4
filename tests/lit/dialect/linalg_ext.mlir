// Operations of iree_linalg_ext as IREE prints them, and as it printed them.
// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<8x?xf32>, %acc: tensor<8xf32>, %out: tensor<8x?xf32>) -> (tensor<8x?xf32>, tensor<8xf32>) {
  // CHECK: iree_linalg_ext.scan dimension(1) inclusive(true) ins(%{{.*}} : tensor<8x?xf32>) outs(%{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<8xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: iree_linalg_ext.yield %{{.*}} : f32
  // CHECK: } -> tensor<8x?xf32>, tensor<8xf32>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true)
      ins(%x : tensor<8x?xf32>) outs(%out, %acc : tensor<8x?xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<8x?xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<8x?xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @sort
func.func @sort(%x: tensor<?x?xi32>, %y: tensor<?x?xf32>) -> (tensor<?x?xi32>, tensor<?x?xf32>) {
  // CHECK: iree_linalg_ext.sort dimension(0) outs(
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%x, %y : tensor<?x?xi32>, tensor<?x?xf32>) {
  ^bb0(%a: i32, %b: i32, %c: f32, %d: f32):
    %1 = arith.cmpf ogt, %c, %d : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<?x?xi32>, tensor<?x?xf32>
  return %0#0, %0#1 : tensor<?x?xi32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @sort_ins
func.func @sort_ins(%x: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  // CHECK: iree_linalg_ext.sort dimension(0) ins(%{{.*}} : tensor<4xi32>) outs(%{{.*}} : tensor<4xi32>)
  %0 = iree_linalg_ext.sort dimension(0) ins(%x : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @topk
func.func @topk(%x: tensor<2x10xf32>, %i: tensor<2x10xi32>, %v: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>) {
  // CHECK: iree_linalg_ext.topk dimension(1) ins(
  %0:2 = iree_linalg_ext.topk dimension(1) ins(%x, %i : tensor<2x10xf32>, tensor<2x10xi32>)
      outs(%v, %n : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  // CHECK: iree_linalg_ext.topk_v2 dimension(1) is_sorted ins(
  %2 = iree_linalg_ext.topk_v2 dimension(1) is_sorted ins(%x : tensor<2x10xf32>) outs(%v : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2x3xf32>
  return %0#0, %0#1, %2 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%to: tensor<?x?xf32>, %i: tensor<?x1xi32>, %x: tensor<?x?xf32>, %flat: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%x, %i : tensor<?x?xf32>, tensor<?x1xi32>) outs(%to : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<?x?xf32>
  // The form of 2022.
  // CHECK: iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(
  %2 = iree_linalg_ext.scatter dimension_map(dense<[0]> : tensor<1xi64>) unique_indices(false)
      ins(%x, %i : tensor<?x?xf32>, tensor<?x1xi32>) outs(%to : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<?x?xf32>
  // One coordinate without a dimension of its own.
  %3 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%x, %flat : tensor<?x?xf32>, tensor<?xi32>) outs(%to : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<?x?xf32>
  return %0, %2, %3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<10x10xi32>, %i: tensor<1xi32>, %to: tensor<1x10xi32>) -> (tensor<1x10xi32>, tensor<1x10xi32>) {
  // CHECK: iree_linalg_ext.gather dimension_map = [0] ins({{.*}}) outs({{.*}}) {
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<10x10xi32>, tensor<1xi32>) outs(%to : tensor<1x10xi32>) {
  ^bb0(%a: i32, %b: i32):
    iree_linalg_ext.yield %a : i32
  } -> tensor<1x10xi32>
  // CHECK: iree_linalg_ext.gather dimension_map = [0] ins({{.*}}) outs({{.*}}) -> tensor<1x10xi32>
  %1 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<10x10xi32>, tensor<1xi32>) outs(%to : tensor<1x10xi32>) -> tensor<1x10xi32>
  return %0, %1 : tensor<1x10xi32>, tensor<1x10xi32>
}

// CHECK-LABEL: func.func @arg_compare
func.func @arg_compare(%x: tensor<2x6xf32>, %v: tensor<2xf32>, %i: tensor<2xi32>, %base: index) -> (tensor<2xf32>, tensor<2xi32>) {
  // CHECK: iree_linalg_ext.arg_compare dimension(1) ins({{.*}}) outs({{.*}}) index_base(%{{.*}} : index) {
  %0:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<2x6xf32>) outs(%v, %i : tensor<2xf32>, tensor<2xi32>) index_base(%base : index) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xf32>, tensor<2xi32>
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @maps
func.func @maps(%x: tensor<16xf32>, %to: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: iree_linalg_ext.map_store %{{.*}} into %{{.*}} {
  // CHECK: } : tensor<16xf32> into tensor<4xf32> -> tensor<4xf32>
  %c4 = arith.constant 4 : index
  %0 = iree_linalg_ext.map_store %x into %to {
  ^bb0(%i: index):
    %1 = arith.cmpi ult, %i, %c4 : index
    iree_linalg_ext.yield %i, %1 : index, i1
  } : tensor<16xf32> into tensor<4xf32> -> tensor<4xf32>
  // CHECK: iree_linalg_ext.map_load %{{.*}} into %{{.*}} {
  %zero = arith.constant 0.0 : f32
  %2 = iree_linalg_ext.map_load %x into %to {
  ^bb0(%i: index):
    iree_linalg_ext.yield %i, %zero : index, f32
  } : tensor<16xf32> into tensor<4xf32> -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @fft
func.func @fft(%re: tensor<8xf32>, %im: tensor<8xf32>, %s: index, %c: tensor<1xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: iree_linalg_ext.fft ins(%{{.*}} : index) outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) : tensor<8xf32>, tensor<8xf32>
  %0:2 = iree_linalg_ext.fft ins(%s : index) outs(%re, %im : tensor<8xf32>, tensor<8xf32>) : tensor<8xf32>, tensor<8xf32>
  %1:2 = iree_linalg_ext.fft ins(%s, %c, %c : index, tensor<1xf32>, tensor<1xf32>) outs(%0#0, %0#1 : tensor<8xf32>, tensor<8xf32>) : tensor<8xf32>, tensor<8xf32>
  return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @route
func.func @route(%named: tensor<?x2xi32>, %table: tensor<?x4xi32>) -> tensor<?x4xi32> {
  // CHECK: iree_linalg_ext.route experts(8) ins(%{{.*}} : tensor<?x2xi32>) outs(%{{.*}} : tensor<?x4xi32>) -> tensor<?x4xi32>
  %0 = iree_linalg_ext.route experts(8) ins(%named : tensor<?x2xi32>) outs(%table : tensor<?x4xi32>) -> tensor<?x4xi32>
  return %0 : tensor<?x4xi32>
}

// CHECK-LABEL: func.func @tile_transform
func.func @tile_transform(%x: tensor<1x6x6x8xf32>, %p: tensor<16x4x8xf32>, %b: tensor<8xf32>, %y: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  // CHECK: iree_linalg_ext.tile_transform {{.*}}rows = 4 : i64, step = 2 : i64{{.*}} ins(%{{.*}} : tensor<1x6x6x8xf32>) outs(%{{.*}} : tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
  %0 = iree_linalg_ext.tile_transform {low = array<i64: 0, 0>, maps = [], order = array<i64: 0, 1, 2, 3>, rows = 4 : i64, step = 2 : i64, tiles = array<i64: 2, 2>, turned = false,
      matrix = array<f64: 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, -1.0, 0.0, 1.0>}
      ins(%x : tensor<1x6x6x8xf32>) outs(%p : tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
  // CHECK: iree_linalg_ext.tile_transform {{.*}}rows = 2 : i64
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  %1 = iree_linalg_ext.tile_transform {low = array<i64: 0, 0>, maps = [affine_map<(n, h, w, c) -> (c)>], order = array<i64: 0, 1, 2, 3>, rows = 2 : i64, step = 2 : i64, tiles = array<i64: 2, 2>,
      turned = false, matrix = array<f64: 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0>}
      ins(%0, %b : tensor<16x4x8xf32>, tensor<8xf32>) outs(%y : tensor<1x4x4x8xf32>) {
  ^bb0(%s: f32, %t: f32):
    %u = arith.addf %s, %t : f32
    iree_linalg_ext.yield %u : f32
  } -> tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}

// CHECK-LABEL: func.func @online_attention
func.func @online_attention(%x: tensor<4x4xf32>, %r: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: iree_linalg_ext.online_attention {{.*}}decomposition_config = {use_exp2 = false}
  // CHECK: iree_linalg_ext.index 1 : index
  %0:3 = iree_linalg_ext.online_attention {decomposition_config = {use_exp2 = false}, indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>, affine_map<(m, n, d, e) -> (m)>, affine_map<(m, n, d, e) -> (m)>]}
      ins(%x, %x, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%x, %r, %r : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%s: f32):
    %i = iree_linalg_ext.index 1 : index
    iree_linalg_ext.yield %s : f32
  } -> tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0#1 : tensor<4xf32>
}
