// Few queries of keys with 576 elements, the first 512 of which are the values: the warps of a block share the scores, by shared memory, and
// each has some of the columns. Values are read where the keys lie, transposed; nothing else is brought.
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --input-file=%t.kernels/run_dispatch_0_sm_90a.ptx
// RUN: grep -c 'cp.async.cg' %t.kernels/run_dispatch_0_sm_90a.ptx | FileCheck %s --check-prefix=COPIES
// Programs for other targets, too, have as much shared memory as all of them from sm_80 on: steps of 32 keys, of which two fit. Older ones have no
// tensor cores for bf16.
// RUN: rm -rf %t.others && tenon-compile %s --target=sm_75,sm_80,sm_90a --images=ptx -o %t.both --dump-kernels-to=%t.others
// RUN: FileCheck %s --check-prefix=OTHERS --input-file=%t.others/run_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=SCALAR --input-file=%t.others/run_dispatch_0_sm_75.ptx
// CHECK: .reqntid 256, 1, 1
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.wait_group 1
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16
// CHECK: st.shared.v2.b32
// CHECK: bar.sync
// CHECK: ld.shared.v2.b32
// CHECK: movmatrix.sync.aligned.m8n8.trans.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16
// In two places, for nine tiles of 64 elements each.
// COPIES: {{^18$}}
// OTHERS: cp.async.wait_group 0
// OTHERS: mma.sync.aligned.m16n8k16
// SCALAR-NOT: mma.sync
#q = affine_map<(b, m, n, d) -> (b, m, d)>
#k = affine_map<(b, m, n, d) -> (b, n, d)>
#s = affine_map<(b, m, n, d) -> (b, m, n)>
func.func @run(%q: tensor<2x16x576xbf16>, %k: tensor<2x8192x576xbf16>) -> tensor<2x16x512xf32> {
  %zero = arith.constant 0.0 : f32
  %v = tensor.extract_slice %k[0, 0, 0] [2, 8192, 512] [1, 1, 1] : tensor<2x8192x576xbf16> to tensor<2x8192x512xbf16>
  %es = tensor.empty() : tensor<2x16x8192xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x16x8192xf32>) -> tensor<2x16x8192xf32>
  %scores = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x16x576xbf16>, tensor<2x8192x576xbf16>) outs(%fs : tensor<2x16x8192xf32>) {
    ^bb0(%x: bf16, %y: bf16, %o: f32):
      %a = arith.extf %x : bf16 to f32
      %b = arith.extf %y : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x16x8192xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<2x16x8192xf32>) outs(%es : tensor<2x16x8192xf32>) -> tensor<2x16x8192xf32>
  %narrow = arith.truncf %weights : tensor<2x16x8192xf32> to tensor<2x16x8192xbf16>
  %er = tensor.empty() : tensor<2x16x512xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x16x512xf32>) -> tensor<2x16x512xf32>
  %result = linalg.batch_matmul ins(%narrow, %v : tensor<2x16x8192xbf16>, tensor<2x8192x512xbf16>) outs(%fr : tensor<2x16x512xf32>) -> tensor<2x16x512xf32>
  return %result : tensor<2x16x512xf32>
}
