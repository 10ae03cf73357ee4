// Which strategy computes a group, with how many threads and blocks.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK-LABEL: hal.executable.source private @add_dispatch_0
// 256 threads, four elements each.
// CHECK: count(%{{.+}}: !hal.device, %[[M:.+]]: index, %[[N:.+]]: index)
// CHECK: %[[MN:.+]] = arith.muli %[[M]], %[[N]]
// CHECK: %[[BLOCKS:.+]] = affine.apply #{{.+}}(%[[MN]])
// CHECK: hal.return %[[BLOCKS]],
// CHECK: workgroup_size = [256 : index, 1 : index, 1 : index]
// CHECK: tenon.strategy = {name = "elementwise", threads = 256 : i64, unrolled = 1 : i64, width = 4 : i64}
func.func @add(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = arith.addf %a, %b : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Softmax is one kernel: a row of 4096 stays in the registers of 256 threads, four vectors each.
// CHECK-LABEL: hal.executable.source private @softmax_dispatch_0
// CHECK: arith.constant 64 : index
// CHECK: tenon.strategy = {blocks = 1 : i64, chunks = 4 : i64, lanes = 256 : i64, name = "rows", rows = 1 : i64, shared = 0 : i64, threads = 256 : i64, width = 4 : i64}
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: linalg.generic
func.func @softmax(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %none = linalg.fill ins(%ninf : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x4096xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.maximumf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %e = tensor.empty() : tensor<64x4096xf32>
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<64x4096xf32>, tensor<64xf32>) outs(%e : tensor<64x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
  } -> tensor<64x4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<64x4096xf32>) outs(%start : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<64x4096xf32>, tensor<64xf32>) outs(%e : tensor<64x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}

// A column's elements are apart: a block takes 64 columns. The sums of 16 parts of them take fewer threads.
// CHECK-LABEL: hal.executable.source private @columns_dispatch_0
// CHECK: workgroup_size = [512 : index, 1 : index, 1 : index]
// CHECK: tenon.strategy = {across = 16 : i64, name = "columns", threads = 512 : i64, width = 4 : i64}
// CHECK-LABEL: hal.executable.source private @columns_dispatch_1
// CHECK: arith.constant 2 : index
// CHECK: workgroup_size = [64 : index, 1 : index, 1 : index]
// CHECK: tenon.strategy = {across = 16 : i64, name = "columns", threads = 64 : i64, width = 4 : i64}
func.func @columns(%x: tensor<4096x128xf32>) -> tensor<128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %sum = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<4096x128xf32>) outs(%start : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<128xf32>
  return %sum : tensor<128xf32>
}

// An accumulator that is more than one operation: one thread for each result, in order.
// CHECK-LABEL: hal.executable.source private @ordered_dispatch_0
// CHECK: tenon.elements_per_thread = 1
func.func @ordered(%x: tensor<64x128xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x128xf32>) outs(%start : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      %r = arith.mulf %s, %s : f32
      linalg.yield %r : f32
  } -> tensor<64xf32>
  return %sum : tensor<64xf32>
}
