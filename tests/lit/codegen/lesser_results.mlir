// Averages of windows that differ in size, as torch-mlir writes torch.nn.functional.adaptive_avg_pool1d: how many elements
// each window has is a second result, which does not name the loops over images and channels.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: PASS @averages

func.func @averages() {
  %x = util.unfoldable_constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]], [[6.0, 8.0, 10.0, 12.0, 14.0]]]> : tensor<2x1x5xf32>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<3xi1>
  %counts = tensor.empty() : tensor<3xf32>
  %e = tensor.empty() : tensor<2x1x3xf32>
  %start = linalg.fill ins(%z : f32) outs(%e : tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %padded = tensor.pad %x low[0, 0, 0] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %z : f32
  } : tensor<2x1x5xf32> to tensor<2x1x6xf32>
  %sums:2 = linalg.generic {indexing_maps = [affine_map<(n, c, i, p) -> (p)>, affine_map<(n, c, i, p) -> (n, c, i)>, affine_map<(n, c, i, p) -> (i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%window : tensor<3xi1>) outs(%start, %counts : tensor<2x1x3xf32>, tensor<3xf32>) {
  ^bb0(%w: i1, %sum: f32, %old: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %p = linalg.index 3 : index
    %a = arith.muli %i, %c5 : index
    %first = arith.floordivsi %a, %c3 : index
    %next = arith.addi %i, %c1 : index
    %b = arith.muli %next, %c5 : index
    %before = arith.subi %b, %c1 : index
    %last = arith.floordivsi %before, %c3 : index
    %end = arith.addi %last, %c1 : index
    %at = arith.addi %first, %p : index
    %v = tensor.extract %padded[%n, %c, %at] : tensor<2x1x6xf32>
    %is = arith.cmpi ult, %at, %end : index
    %each = arith.select %is, %v, %z : f32
    %s = arith.addf %each, %sum : f32
    %size = arith.subi %end, %first : index
    %whole = arith.index_cast %size : index to i64
    %count = arith.sitofp %whole : i64 to f32
    linalg.yield %s, %count : f32, f32
  } -> (tensor<2x1x3xf32>, tensor<3xf32>)
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, i) -> (i)>, affine_map<(n, c, i) -> (n, c, i)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sums#1 : tensor<3xf32>) outs(%sums#0 : tensor<2x1x3xf32>) {
  ^bb0(%count: f32, %sum: f32):
    %0 = arith.divf %sum, %count : f32
    linalg.yield %0 : f32
  } -> tensor<2x1x3xf32>
  check.expect_eq_const(%r, dense<[[[1.5, 3.0, 4.5]], [[7.0, 10.0, 13.0]]]> : tensor<2x1x3xf32>) : tensor<2x1x3xf32>
  return
}
