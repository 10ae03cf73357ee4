// What the reference in docs/ shows and no other test has: a form of each attribute and operation.
// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK: module attributes {stream.affinity.default = #hal.device.affinity<@gpu, [0, 1]>, tenon.affinities = [#hal.device.affinity<@gpu>], tenon.parameters = [#hal.parameter<constant 0>, #hal.parameter<struct<24, alignment = 8>(binding 1 at 0, constant 2 at 8)>]} {
module attributes {stream.affinity.default = #hal.device.affinity<@gpu, [0, 1]>, tenon.affinities = [#hal.device.affinity<@gpu>],
                   tenon.parameters = [#hal.parameter<constant 0>, #hal.parameter<struct<24, alignment = 8>(binding 1 at 0, constant 2 at 8)>]} {
  // CHECK: util.func private @always{{.*}}inlining_policy = #util.inline.always
  util.func private @always(%x: i32) -> i32 attributes {inlining_policy = #util.inline.always} {
    util.return %x : i32
  }
  // CHECK: util.func private @never{{.*}}inlining_policy = #util.inline.never
  util.func private @never(%x: index) -> index attributes {inlining_policy = #util.inline.never} {
    // CHECK: util.assume.int %{{.*}}<udiv = 16, umin = 1> : index
    %0 = util.assume.int %x<umin = 1, udiv = 16> : index
    util.return %0 : index
  }
  // CHECK: func.func @maps
  func.func @maps(%x: tensor<16xf32>, %to: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c4 = arith.constant 4 : index
    // CHECK: iree_linalg_ext.map_scatter
    %0 = iree_linalg_ext.map_scatter %x into %to {
    ^bb0(%i: index):
      %1 = arith.cmpi ult, %i, %c4 : index
      iree_linalg_ext.yield %i, %1 : index, i1
    } : tensor<16xf32> into tensor<4xf32> -> tensor<4xf32>
    %zero = arith.constant 0.0 : f32
    // CHECK: iree_linalg_ext.map_gather
    %2 = iree_linalg_ext.map_gather %x into %to {
    ^bb0(%i: index):
      iree_linalg_ext.yield %i, %zero : index, f32
    } : tensor<16xf32> into tensor<4xf32> -> tensor<4xf32>
    return %0, %2 : tensor<4xf32>, tensor<4xf32>
  }
}
