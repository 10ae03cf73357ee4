// What became one kernel, and why a kernel ends.
// RUN: tenon-compile %s --images=ptx --target=sm_80 --print-dispatches -o %t.tenon 2>&1 | FileCheck %s

// CHECK: print_dispatches.mlir:[[@LINE+15]]:{{[0-9]+}}: remark: another kernel computes what this reads: the reduced elements are not adjacent in memory, and it reads them again
// CHECK: print_dispatches.mlir:[[@LINE+8]]:{{[0-9]+}}: note: it is computed here
// CHECK: remark: kernel 'centred_dispatch_0' ends here: 1 operation
// CHECK: remark: kernel 'centred_dispatch_1' ends here: 1 operation
func.func @centred(%x: tensor<640x128xf32>) -> tensor<640x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %o = tensor.empty() : tensor<640x128xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x : tensor<640x128xf32>) outs(%start : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<128xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<640x128xf32>, tensor<128xf32>) outs(%o : tensor<640x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<640x128xf32>
  return %y : tensor<640x128xf32>
}
