// Two products with a softmax between are one kernel that stores no score.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention | FileCheck %s --check-prefix=FORM
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=PLAN
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_80 -o %t.tenon --dump-kernels-to=%t.kernels --print-dispatches 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --check-prefix=SCALAR --input-file=%t.kernels/causal_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=CORE --input-file=%t.kernels/causal_dispatch_0_sm_80.ptx

// SCALAR-NOT: mma
// SCALAR: fma.rn.f32
// CORE: .reqntid 128
// CORE-DAG: cp.async.cg.shared.global
// CORE-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CORE-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CORE-DAG: ex2.approx.ftz.f32
// CORE-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CORE-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

// FORM-LABEL: func.func @causal
// FORM: %[[SCORES:.+]] = linalg.generic {{.*}} ins(%arg0, %arg1 :
// FORM: %[[LOGITS:.+]] = linalg.generic {{.*}} ins(%[[SCORES]] :
// FORM-DAG: arith.cmpi sge
// FORM-DAG: arith.mulf
// FORM: arith.select
// FORM: %[[WEIGHTS:.+]] = linalg.softmax dimension(2) ins(%[[LOGITS]] :
// FORM: linalg.generic {{.*}} ins(%[[WEIGHTS]], %arg2 :
// FORM-NOT: linalg.softmax
// PLAN: func.func @causal_dispatch_0({{.*}}) -> tensor<3x200x48xf16>
// PLAN-SAME: tenon.strategy = {cluster = 1 : i64, columns = 64 : i64, name = "attention", rows = 64 : i64, threads = 256 : i64}
// PLAN: linalg.softmax
// PLAN: linalg.generic
// PLAN: linalg.generic
// PLAN: return
// WHY: attention.mlir:[[@LINE+47]]:{{[0-9]+}}: remark: this product is not computed as attention: its scores, or what is computed from them, are read by another operation too
// WHY: remark: kernel 'causal_dispatch_0' ends here: 4 operations
func.func @causal(%q: tensor<3x200x64xf16>, %k: tensor<3x130x64xf16>, %v: tensor<3x130x48xf16>) -> tensor<3x200x48xf16> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %es = tensor.empty() : tensor<3x200x130xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<3x200x130xf32>) -> tensor<3x200x130xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<3x200x64xf16>, tensor<3x130x64xf16>) outs(%start : tensor<3x200x130xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %d = arith.extf %a : f16 to f32
      %e = arith.extf %b : f16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<3x200x130xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<3x200x130xf32>) outs(%es : tensor<3x200x130xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %scale : f32
      %m = linalg.index 1 : index
      %n = linalg.index 2 : index
      %seen = arith.cmpi sge, %m, %n : index
      %d = arith.select %seen, %c, %hidden : f32
      linalg.yield %d : f32
  } -> tensor<3x200x130xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<3x200x130xf32>) outs(%es : tensor<3x200x130xf32>) -> tensor<3x200x130xf32>
  %n = arith.truncf %w : tensor<3x200x130xf32> to tensor<3x200x130xf16>
  %eo = tensor.empty() : tensor<3x200x48xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x200x48xf32>) -> tensor<3x200x48xf32>
  %o = linalg.batch_matmul ins(%n, %v : tensor<3x200x130xf16>, tensor<3x130x48xf16>) outs(%fo : tensor<3x200x48xf32>) -> tensor<3x200x48xf32>
  %r = arith.truncf %o : tensor<3x200x48xf32> to tensor<3x200x48xf16>
  return %r : tensor<3x200x48xf16>
}

// The weights are a result, too: they are stored.
// FORM-LABEL: func.func @weights
// FORM-NOT: linalg.softmax
func.func @weights(%q: tensor<2x40x32xf32>, %k: tensor<2x32x50xf32>, %v: tensor<2x50x32xf32>) -> (tensor<2x40x32xf32>, tensor<2x40x50xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x40x50xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x40x50xf32>) -> tensor<2x40x50xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x40x32xf32>, tensor<2x32x50xf32>) outs(%fs : tensor<2x40x50xf32>) -> tensor<2x40x50xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x40x50xf32>) outs(%es : tensor<2x40x50xf32>) -> tensor<2x40x50xf32>
  %eo = tensor.empty() : tensor<2x40x32xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x40x32xf32>) -> tensor<2x40x32xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x40x50xf32>, tensor<2x50x32xf32>)
      outs(%fo : tensor<2x40x32xf32>) -> tensor<2x40x32xf32>
  return %o, %w : tensor<2x40x32xf32>, tensor<2x40x50xf32>
}
