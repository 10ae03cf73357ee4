// A row that no block keeps takes a cluster of blocks: each keeps a part in registers and in shared memory, and they tell
// each other their sums.
// A target without clusters reads the row again, in the first block of each cluster.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80,sm_90a --images=ptx --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=CLUSTER --input-file=%t/softmax_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t/softmax_dispatch_0_sm_80.ptx

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: hal.executable.source private @softmax_dispatch_0
// CHECK: arith.constant 1600 : index
// CHECK: tenon.strategy = {blocks = 4 : i64, chunks = 6 : i64, lanes = 512 : i64, name = "rows", rows = 1 : i64, shared = 10 : i64, threads = 512 : i64, width = 4 : i64}
// CLUSTER: .reqntid 512, 1, 1
// CLUSTER: .minnctapersm 2
// CLUSTER: .reqnctapercluster 4, 1, 1
// Where bases are not aligned, elements are read again. Else what is in shared memory is taken in loops.
// CLUSTER-NOT: cp.async
// CLUSTER: ld.global.nc.b32
// CLUSTER-NOT: cp.async
// CLUSTER: st.shared::cluster
// CLUSTER: cp.async.cg.shared.global
// CLUSTER-COUNT-6: ld.global.nc.v4.b32
// CLUSTER: cp.async.wait_group 0
// CLUSTER: ld.shared.v4.b32
// CLUSTER-NOT: ld.global
// CLUSTER: barrier.cluster.wait
// CLUSTER: st.shared::cluster
// CLUSTER: barrier.cluster.wait
// ALONE-NOT: cluster
func.func @softmax(%x: tensor<400x131072xf32>) -> tensor<400x131072xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<400xf32>
  %none = linalg.fill ins(%ninf : f32) outs(%rows : tensor<400xf32>) -> tensor<400xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<400x131072xf32>) outs(%none : tensor<400xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.maximumf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<400xf32>
  %e = tensor.empty() : tensor<400x131072xf32>
  %exp = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<400x131072xf32>, tensor<400xf32>) outs(%e : tensor<400x131072xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
  } -> tensor<400x131072xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<400xf32>) -> tensor<400xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<400x131072xf32>) outs(%start : tensor<400xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<400xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<400x131072xf32>, tensor<400xf32>) outs(%e : tensor<400x131072xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<400x131072xf32>
  return %y : tensor<400x131072xf32>
}
