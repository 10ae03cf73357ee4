// Mixtures of experts: a table of rows by experts, and tiles that find their rows in it.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_80,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=SORTED --input-file=%t.kernels/many_dispatch_1_sm_75.ptx
// RUN: FileCheck %s --check-prefix=CORE --input-file=%t.kernels/many_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=GROUP --input-file=%t.kernels/many_dispatch_0_sm_90a.ptx

// CHECK-LABEL: func.func @many(
// CHECK: %[[TABLE:.*]] = flow.dispatch @many_dispatch_1::@many_dispatch_1({{.*}}) : (tensor<1024x2xi32>) -> tensor<594x4xi32>
// CHECK-NEXT: flow.dispatch @many_dispatch_0::@many_dispatch_0({{.*}}, %[[TABLE]], {{.*}}) :
// CHECK-NEXT: return

// Tiles of 128 rows, and 8 that may not be full, by 64 columns; the bias that is gathered like the weights is added inside.
// CHECK: %[[BLOCKS:.*]] = arith.constant 1536 : index
// CHECK: hal.return %[[BLOCKS]],
// CHECK: func.func @many_dispatch_0
// CHECK-SAME: name = "contraction", rows = 128 : i64
// CHECK-SAME: warpgroup_rows = 128 : i64
// CHECK: linalg.generic
// CHECK-SAME: tenon.routed
// CHECK: linalg.generic
// CORE: cp.async.cg.shared.global
// CORE: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// Rows are copied one by one, and tell the barrier of their stage when they are there; matrices come as boxes of one expert.
// GROUP-DAG: cp.async.cg.shared.global
// GROUP-DAG: cp.async.mbarrier.arrive.noinc.shared.b64
// GROUP-DAG: cp.async.bulk.tensor.3d.shared::cluster.global
// GROUP-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.bf16.bf16

// One block counts and sorts.
// CHECK: func.func @many_dispatch_1
// CHECK-SAME: tenon.strategy = {name = "route", threads = 512 : i64}
// SORTED: match.any.sync.b32
func.func @many(%x: tensor<1024x512xbf16>, %ids: tensor<1024x2xi32>, %w: tensor<8x512x4096xbf16>, %bias: tensor<8x4096xf32>) -> tensor<1024x2x4096xbf16> {
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<1024x2x4096xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<1024x2x4096xf32>) -> tensor<1024x2x4096xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(t, j, n, k) -> (t, k)>, affine_map<(t, j, n, k) -> (t, j)>,
      affine_map<(t, j, n, k) -> (t, j, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %ids : tensor<1024x512xbf16>, tensor<1024x2xi32>) outs(%begin : tensor<1024x2x4096xf32>) {
  ^bb0(%a: bf16, %i: i32, %s: f32):
    %at = arith.index_cast %i : i32 to index
    %c = linalg.index 2 : index
    %d = linalg.index 3 : index
    %b = tensor.extract %w[%at, %d, %c] : tensor<8x512x4096xbf16>
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<1024x2x4096xf32>
  %empty = tensor.empty() : tensor<1024x2x4096xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(t, j, n) -> (t, j, n)>, affine_map<(t, j, n) -> (t, j)>, affine_map<(t, j, n) -> (t, j, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %ids : tensor<1024x2x4096xf32>, tensor<1024x2xi32>) outs(%empty : tensor<1024x2x4096xbf16>) {
  ^bb0(%a: f32, %i: i32, %o: bf16):
    %at = arith.index_cast %i : i32 to index
    %c = linalg.index 2 : index
    %b = tensor.extract %bias[%at, %c] : tensor<8x4096xf32>
    %m = arith.addf %a, %b : f32
    %r = arith.truncf %m : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<1024x2x4096xbf16>
  return %y : tensor<1024x2x4096xbf16>
}
