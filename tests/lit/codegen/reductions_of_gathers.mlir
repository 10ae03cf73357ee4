// A reduction whose operands are gathered: no operand that is left when one of them is fused says how long the reduced
// loop is, so the gather stays a kernel of its own.
// RUN: tenon-compile %s --target=sm_80 --images=ptx --print-dispatches -o %t.tenon 2>&1 | FileCheck %s
// CHECK: kernel 'two_gathers_dispatch_0' ends here
// CHECK: kernel 'two_gathers_dispatch_1' ends here
func.func @two_gathers(%a0: tensor<3x255x17xf32>, %a1: tensor<1xi32>, %a2: tensor<17xi32>) -> (tensor<1x255xf32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %1 = tensor.empty() : tensor<1x255x17xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a1 : tensor<1xi32>) outs(%1 : tensor<1x255x17xf32>) {
  ^bb0(%3: i32, %4: f32):
    %5 = arith.extui %3 : i32 to i64
    %6 = arith.index_cast %5 : i64 to index
    %7 = arith.remui %6, %c3 : index
    %8 = linalg.index 1 : index
    %9 = linalg.index 2 : index
    %10 = tensor.extract %a0[%7, %8, %9] : tensor<3x255x17xf32>
    linalg.yield %10 : f32
  } -> tensor<1x255x17xf32>
  %11 = tensor.empty() : tensor<17xi32>
  %12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a2 : tensor<17xi32>) outs(%11 : tensor<17xi32>) {
  ^bb0(%13: i32, %14: i32):
    %15 = arith.extui %13 : i32 to i64
    %16 = arith.index_cast %15 : i64 to index
    %17 = arith.remui %16, %c1 : index
    %18 = tensor.extract %a1[%17] : tensor<1xi32>
    linalg.yield %18 : i32
  } -> tensor<17xi32>
  %19 = arith.constant 0xFF800000 : f32
  %20 = tensor.empty() : tensor<1x255xf32>
  %21 = linalg.fill ins(%19 : f32) outs(%20 : tensor<1x255xf32>) -> tensor<1x255xf32>
  %22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2, %12 : tensor<1x255x17xf32>, tensor<17xi32>) outs(%21 : tensor<1x255xf32>) {
  ^bb0(%23: f32, %24: i32, %25: f32):
    %26 = arith.maximumf %23, %25 : f32
    linalg.yield %26 : f32
  } -> tensor<1x255xf32>
  return %22 : tensor<1x255xf32>
}
