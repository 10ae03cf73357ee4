// Of many keys of few queries a multiprocessor holds one block of the kernel that leaves parts: the kernel behind it has
// the next call's launched when it begins. Keys lie in shared memory on sm_90a; in a program for other targets, too, a
// warp reads its own, and none behind the last.
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --input-file=%t.kernels/run_dispatch_0_sm_90a.ptx
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.kernels/run_dispatch_0_sm_80.ptx
// CHECK: .entry run_dispatch_0(
// CHECK: griddepcontrol.wait
// CHECK: griddepcontrol.launch_dependents
// CHECK: cp.async.cg.shared.global
// CHECK: ldmatrix.sync
// CHECK: .entry run_dispatch_0_1(
// CHECK: griddepcontrol.wait
// CHECK: griddepcontrol.launch_dependents
// CHECK: ld.global
// ALONE: ret;
// ALONE-COUNT-32: mma.sync.aligned.m16n8k16
// ALONE: @%p{{[0-9]+}} bra [[BEHIND:\$L__BB0_[0-9]+]];
// ALONE-NEXT: ld.global.nc.v4.b32
// ALONE: bra.uni [[BEHIND]];
#q = affine_map<(b, m, n, d) -> (b, m, d)>
#k = affine_map<(b, m, n, d) -> (b, n, d)>
#s = affine_map<(b, m, n, d) -> (b, m, n)>
func.func @run(%q: tensor<8x4x128xf16>, %k: tensor<8x8192x128xf16>, %v: tensor<8x8192x128xf16>) -> tensor<8x4x128xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<8x4x8192xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x4x8192xf32>) -> tensor<8x4x8192xf32>
  %scores = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x4x128xf16>, tensor<8x8192x128xf16>) outs(%fs : tensor<8x4x8192xf32>) {
    ^bb0(%x: f16, %y: f16, %o: f32):
      %a = arith.extf %x : f16 to f32
      %b = arith.extf %y : f16 to f32
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x4x8192xf32>
  %weights = linalg.softmax dimension(2) ins(%scores : tensor<8x4x8192xf32>) outs(%es : tensor<8x4x8192xf32>) -> tensor<8x4x8192xf32>
  %narrow = arith.truncf %weights : tensor<8x4x8192xf32> to tensor<8x4x8192xf16>
  %er = tensor.empty() : tensor<8x4x128xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8x4x128xf32>) -> tensor<8x4x128xf32>
  %result = linalg.batch_matmul ins(%narrow, %v : tensor<8x4x8192xf16>, tensor<8x8192x128xf16>) outs(%fr : tensor<8x4x128xf32>) -> tensor<8x4x128xf32>
  return %result : tensor<8x4x128xf32>
}
