// Of few queries and few keys, the blocks of a cluster tell each other what they have summed; targets without clusters have one block
// for all keys, and need no later version of PTX than transposes of fragments do.
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_80,sm_90a --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --input-file=%t.kernels/run_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.kernels/run_dispatch_0_sm_80.ptx
// CHECK: .version 8.1
// CHECK: .reqnctapercluster 8
// CHECK: mbarrier.arrive.expect_tx.shared.b64
// CHECK: fence.mbarrier_init.release.cluster
// CHECK-NEXT: end inline asm
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: mma.sync.aligned.m16n8k16
// CHECK: bar.sync
// CHECK: barrier.cluster.wait.aligned
// CHECK: st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32
// CHECK: mbarrier.try_wait.parity.shared.b64
// CHECK-NOT: barrier.cluster
// ALONE: .version 7.8
// ALONE-NOT: cluster
// ALONE: mma.sync.aligned.m16n8k16
// ALONE-NOT: cluster
// ALONE: movmatrix.sync.aligned.m8n8.trans.b16
// ALONE-NOT: cluster
#q = affine_map<(b, m, n, d) -> (b, m, d)>
#k = affine_map<(b, m, n, d) -> (b, n, d)>
#s = affine_map<(b, m, n, d) -> (b, m, n)>
func.func @run(%q: tensor<8x4x64xf16>, %k: tensor<8x1024x64xf16>, %v: tensor<8x1024x64xf16>) -> tensor<8x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<8x4x1024xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x4x1024xf32>) -> tensor<8x4x1024xf32>
  %scores = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x4x64xf16>, tensor<8x1024x64xf16>) outs(%fs : tensor<8x4x1024xf32>) {
    ^bb0(%x: f16, %y: f16, %o: f32):
      %a = arith.extf %x : f16 to f32
      %b = arith.extf %y : f16 to f32
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x4x1024xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<8x4x1024xf32>) outs(%es : tensor<8x4x1024xf32>) -> tensor<8x4x1024xf32>
  %narrow = arith.truncf %weights : tensor<8x4x1024xf32> to tensor<8x4x1024xf16>
  %er = tensor.empty() : tensor<8x4x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %result = linalg.batch_matmul ins(%narrow, %v : tensor<8x4x1024xf16>, tensor<8x1024x64xf16>) outs(%fr : tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  return %result : tensor<8x4x64xf32>
}
