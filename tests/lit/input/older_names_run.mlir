// Text of other years: operations that have another name there are read as what they are called now.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// RUN: tenon-opt %s | FileCheck %s --check-prefix=NAMES
// CHECK: PASS @packed
// CHECK: PASS @unpacked
// CHECK: PASS @made
// CHECK: PASS @largest
// CHECK: PASS @regions
// CHECK: PASS @numbers
// NAMES: linalg.pack
// NAMES: linalg.unpack
// NAMES: tensor.empty(%{{.*}}) : tensor<2x?xf32>
// NAMES: arith.maximumf
// NAMES: arith.minimumf
// NAMES: util.optimization_barrier
// NAMES: scf.execute_region
// NAMES: flow.tensor.bitcast

func.func @packed() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %zero = arith.constant 0 : i32
  %to = tensor.empty() : tensor<2x1x2x2xi32>
  %p = tensor.pack %x padding_value(%zero : i32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %to
      : tensor<2x3xi32> -> tensor<2x1x2x2xi32>
  check.expect_eq_const(%p, dense<[[[[1, 2], [4, 5]]], [[[3, 0], [6, 0]]]]> : tensor<2x1x2x2xi32>) : tensor<2x1x2x2xi32>
  return
}

func.func @unpacked() {
  %x = util.unfoldable_constant dense<[[[[1, 2], [4, 5]]], [[[3, 0], [6, 0]]]]> : tensor<2x1x2x2xi32>
  %to = tensor.empty() : tensor<2x3xi32>
  %u = tensor.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %to
      : tensor<2x1x2x2xi32> -> tensor<2x3xi32>
  check.expect_eq_const(%u, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

func.func @made() {
  %n = util.unfoldable_constant 3 : index
  %seven = arith.constant 7.0 : f32
  %e = linalg.init_tensor [2, %n] : tensor<2x?xf32>
  %f = linalg.fill ins(%seven : f32) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
  %r = tensor.cast %f : tensor<2x?xf32> to tensor<2x3xf32>
  check.expect_eq_const(%r, dense<7.0> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @largest() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0x7FC00000]> : tensor<3xf32>
  %y = util.unfoldable_constant dense<[0.0, 5.0, 1.0]> : tensor<3xf32>
  %larger = arith.maxf %x, %y : tensor<3xf32>
  %smaller = arith.minf %x, %y : tensor<3xf32>
  %kept = util.do_not_optimize(%larger) : tensor<3xf32>
  check.expect_eq_const(%kept, dense<[1.0, 5.0, 0x7FC00000]> : tensor<3xf32>) : tensor<3xf32>
  check.expect_eq_const(%smaller, dense<[0.0, -2.0, 0x7FC00000]> : tensor<3xf32>) : tensor<3xf32>
  return
}

// What a region names is as large as what it returns; the workload and the count are for those who launch it.
func.func @regions() {
  %x = flow.tensor.dynamic_constant dense<[1, 2, 3]> : tensor<3xi32> -> tensor<?xi32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %zero = flow.dispatch.region -> (tensor<4xi32>) {
    %none = arith.constant 0 : i32
    %e = tensor.empty() : tensor<4xi32>
    %z = linalg.fill ins(%none : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
    flow.return %z : tensor<4xi32>
  }
  %two:2 = flow.dispatch.region[%n] -> (tensor<?xi32>{%n}, tensor<4xi32>) {
    %sum = arith.addi %x, %x : tensor<?xi32>
    %places = util.unfoldable_constant dense<[[3]]> : tensor<1x1xi32>
    %nine = util.unfoldable_constant dense<9> : tensor<1xi32>
    %s = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%nine, %places : tensor<1xi32>, tensor<1x1xi32>)
        outs(%zero : tensor<4xi32>) {
      ^bb0(%new: i32, %old: i32):
        iree_linalg_ext.yield %new : i32
    } -> tensor<4xi32>
    flow.return %sum, %s : tensor<?xi32>, tensor<4xi32>
  } count(%w: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    flow.return %w, %c1, %c1 : index, index, index
  }
  %sums = tensor.cast %two#0 : tensor<?xi32> to tensor<3xi32>
  check.expect_eq_const(%sums, dense<[2, 4, 6]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%two#1, dense<[0, 0, 0, 9]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%zero, dense<0> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @numbers() {
  %x = flow.tensor.dynamic_constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32> -> tensor<?x2xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %c = iree_tensor_ext.bitcast %x : tensor<?x2xf32>{%n} -> tensor<?xcomplex<f32>>{%n}
  %e = tensor.empty(%n) : tensor<?xcomplex<f32>>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<?xcomplex<f32>>) outs(%e : tensor<?xcomplex<f32>>) {
    ^bb0(%number: complex<f32>, %old: complex<f32>):
      %square = complex.mul %number, %number : complex<f32>
      linalg.yield %square : complex<f32>
  } -> tensor<?xcomplex<f32>>
  %y = iree_tensor_ext.bitcast %s : tensor<?xcomplex<f32>>{%n} -> tensor<?x2xf32>{%n}
  %r = tensor.cast %y : tensor<?x2xf32> to tensor<2x2xf32>
  check.expect_eq_const(%r, dense<[[-3.0, 4.0], [-7.0, -24.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
  return
}
