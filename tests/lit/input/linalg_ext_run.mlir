// Operations of iree_linalg_ext that are loops of linalg, and what their bodies compute places with.
// RUN: tenon-opt %s | tenon-opt -o %t.mlir
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @reversed
// CHECK: PASS @soft
// CHECK: PASS @custom
// CHECK: PASS @places
// CHECK: PASS @host_places
// CHECK: PASS @winograd
// CHECK: PASS @unit_result

func.func @reversed() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> -> tensor<?x3xi32>
  %0 = iree_linalg_ext.reverse dimensions(dense<[0, 1]> : tensor<2xi64>) ins(%x : tensor<?x3xi32>) outs(%x : tensor<?x3xi32>) : tensor<?x3xi32>
  %both = tensor.cast %0 : tensor<?x3xi32> to tensor<2x3xi32>
  %1 = iree_linalg_ext.reverse dimensions(dense<1> : tensor<1xi64>) ins(%both : tensor<2x3xi32>) outs(%both : tensor<2x3xi32>) : tensor<2x3xi32>
  check.expect_eq_const(%both, dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  check.expect_eq_const(%1, dense<[[4, 5, 6], [1, 2, 3]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

func.func @soft() {
  %x = util.unfoldable_constant dense<[[0.0, 0.6931472], [1.0, 1.0]]> : tensor<2x2xf32>
  %to = tensor.empty() : tensor<2x2xf32>
  %0 = iree_linalg_ext.softmax dimension(1) ins(%x : tensor<2x2xf32>) outs(%to : tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_almost_eq_const(%0, dense<[[0.3333333, 0.6666667], [0.5, 0.5]]> : tensor<2x2xf32>) : tensor<2x2xf32>
  return
}

// Its body sees tiles of any size; a loop that is none of the results' is a symbol of its maps.
func.func @custom() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = util.unfoldable_constant dense<[[5.0], [7.0]]> : tensor<2x1xf32>
  %to = tensor.empty() : tensor<2x1xf32>
  %0 = iree_linalg_ext.custom_op <indexing_maps = [affine_map<(i, j)[k] -> (i, k)>, affine_map<(i, j)[k] -> (k, j)>, affine_map<(i, j)[k] -> (i, j)>],
      iterator_types = [#iree_linalg_ext.iterator_type<parallel>, #iree_linalg_ext.iterator_type<parallel>]>
      ins(%x, %y : tensor<2x2xf32>, tensor<2x1xf32>) outs(%to : tensor<2x1xf32>) {
    ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>):
      %zero = arith.constant 0.0 : f32
      %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
      %product = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
      iree_linalg_ext.yield %product : tensor<?x?xf32>
  } -> tensor<2x1xf32>
  check.expect_eq_const(%0, dense<[[19.0], [43.0]]> : tensor<2x1xf32>) : tensor<2x1xf32>
  return
}

// The element at a place of a tensor that is seen in another shape.
func.func @places() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %to = tensor.empty() : tensor<3x2xi32>
  %none = arith.constant -1 : i32
  %0 = iree_linalg_ext.map_load %x into %to {
  ^bb0(%i: index, %j: index):
    %flat = affine.linearize_index disjoint [%i, %j] by (3, 2) : index
    %at:2 = affine.delinearize_index %flat into (2, 3) : index, index
    iree_linalg_ext.yield %at#0, %at#1, %none : index, index, i32
  } : tensor<2x3xi32> into tensor<3x2xi32> -> tensor<3x2xi32>
  check.expect_eq_const(%0, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  return
}

func.func @host_places() {
  %x = flow.tensor.dynamic_constant dense<[0, 1, 2, 3, 4, 5, 6]> : tensor<7xi32> -> tensor<?xi32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %at:2 = affine.delinearize_index %n into (4) : index, index
  %flat = affine.linearize_index [%at#0, %at#1] by (5) : index
  %r = tensor.extract_slice %x[%at#0] [%at#1] [1] : tensor<?xi32> to tensor<?xi32>
  %s = tensor.cast %r : tensor<?xi32> to tensor<3xi32>
  %whole = arith.index_cast %flat : index to i32
  %t = tensor.splat %whole : tensor<1xi32>
  check.expect_eq_const(%s, dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%t, dense<8> : tensor<1xi32>) : tensor<1xi32>
  return
}

// A convolution of one channel, 7 x 7 results of 9 x 9, by its transforms and by itself: two tiles each way, the last
// of which ends behind the image.
func.func @winograd() {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<1x1x9x9xf32>
  %image = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%none : tensor<1x1x9x9xf32>) {
    ^bb0(%old: f32):
      %h = linalg.index 2 : index
      %w = linalg.index 3 : index
      %c7 = arith.constant 7 : index
      %c5 = arith.constant 5 : index
      %a = arith.muli %h, %c7 : index
      %b = arith.addi %a, %w : index
      %c = arith.remui %b, %c5 : index
      %d = arith.index_cast %c : index to i32
      %e = arith.sitofp %d : i32 to f32
      linalg.yield %e : f32
  } -> tensor<1x1x9x9xf32>
  %filter = util.unfoldable_constant dense<[[[[1.0, 0.0, -1.0], [2.0, 3.0, 0.5], [0.0, 1.0, -2.0]]]]> : tensor<1x1x3x3xf32>
  %i0 = tensor.empty() : tensor<8x8x1x2x2x1xf32>
  %i = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([2, 3])
      ins(%image : tensor<1x1x9x9xf32>) outs(%i0 : tensor<8x8x1x2x2x1xf32>) -> tensor<8x8x1x2x2x1xf32>
  %f0 = tensor.empty() : tensor<8x8x1x1xf32>
  %f = iree_linalg_ext.winograd.filter_transform output_tile_size(6) kernel_size(3) kernel_dimensions([2, 3])
      ins(%filter : tensor<1x1x3x3xf32>) outs(%f0 : tensor<8x8x1x1xf32>) -> tensor<8x8x1x1xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(a, b, n, r, c, k) -> (a, b, n, r, c, k)>, affine_map<(a, b, n, r, c, k) -> (a, b, 0, k)>,
      affine_map<(a, b, n, r, c, k) -> (a, b, n, r, c, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%i, %f : tensor<8x8x1x2x2x1xf32>, tensor<8x8x1x1xf32>) outs(%i0 : tensor<8x8x1x2x2x1xf32>) {
    ^bb0(%x: f32, %y: f32, %old: f32):
      %z = arith.mulf %x, %y : f32
      linalg.yield %z : f32
  } -> tensor<8x8x1x2x2x1xf32>
  %o0 = tensor.empty() : tensor<1x1x12x12xf32>
  %o = iree_linalg_ext.winograd.output_transform output_tile_size(6) kernel_size(3) image_dimensions([2, 3])
      ins(%p : tensor<8x8x1x2x2x1xf32>) outs(%o0 : tensor<1x1x12x12xf32>) -> tensor<1x1x12x12xf32>
  %found = tensor.extract_slice %o[0, 0, 0, 0] [1, 1, 7, 7] [1, 1, 1, 1] : tensor<1x1x12x12xf32> to tensor<1x1x7x7xf32>
  %w0 = tensor.empty() : tensor<1x1x7x7xf32>
  %w1 = linalg.fill ins(%zero : f32) outs(%w0 : tensor<1x1x7x7xf32>) -> tensor<1x1x7x7xf32>
  %wanted = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x1x9x9xf32>, tensor<1x1x3x3xf32>) outs(%w1 : tensor<1x1x7x7xf32>) -> tensor<1x1x7x7xf32>
  check.expect_almost_eq(%found, %wanted, atol 1.0e-3) : tensor<1x1x7x7xf32>
  return
}

// The result is a dimension of one element, which no loop counts.
func.func @unit_result() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>], iterator_types = ["reduction"]}
      ins(%x : tensor<3xf32>) outs(%z : tensor<1xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %s = arith.addf %a, %sum : f32
      linalg.yield %s : f32
  } -> tensor<1xf32>
  check.expect_eq_const(%r, dense<7.0> : tensor<1xf32>) : tensor<1xf32>
  return
}
