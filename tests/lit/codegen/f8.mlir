// Products of f8: the bytes are factors of tensor cores where those know them, and are widened elsewhere.
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_89,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=BITS --input-file=%t.kernels/large_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=CORE --input-file=%t.kernels/large_dispatch_0_sm_89.ptx
// RUN: FileCheck %s --check-prefix=GROUP --input-file=%t.kernels/large_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=SUMS --input-file=%t.kernels/large_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=FEW --input-file=%t.kernels/few_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=WIDEN --input-file=%t.kernels/widen_dispatch_0_sm_89.ptx
// RUN: FileCheck %s --check-prefix=WIDENBITS --input-file=%t.kernels/widen_dispatch_0_sm_80.ptx
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --f8-sums=narrow --dump-kernels-to=%t.narrow
// RUN: FileCheck %s --check-prefix=NARROW --input-file=%t.narrow/large_dispatch_0_sm_90a.ptx
// RUN: not tenon-compile %s --f8-sums=f16 -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FLAG

// BITS: .version 7.0
// BITS-NOT: mma
// BITS: fma.rn.f32
// CORE: .version 8.4
// CORE: ldmatrix.sync.aligned.m8n8.x4
// CORE: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// A step's sums begin at nothing, in two turns of 128 columns, and are added to those of all steps.
// GROUP: .reqntid 384
// GROUP: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2 {{.*}}, a, b, 0, 1, 1;
// GROUP-COUNT-3: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2 {{.*}}, a, b, 1, 1, 1;
// GROUP: wgmma.wait_group.sync.aligned 0;
// SUMS-COUNT-128: add.rn.f32
// NARROW: wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e5m2 {{.*}}, a, b, p, 1, 1;
// FEW: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32
// WIDEN: cvt.rn.f16x2.e4m3x2
// WIDENBITS-NOT: e4m3
// FLAG: --f8-sums is 'f32' or 'narrow', not 'f16'

func.func @large(%a: tensor<4096x512xf8E4M3FN>, %b: tensor<4096x512xf8E5M2>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4096x512xf8E4M3FN>, tensor<4096x512xf8E5M2>) outs(%start : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %p : tensor<4096x4096xf32>
}

func.func @few(%a: tensor<4x512xf8E4M3FN>, %b: tensor<4096x512xf8E5M2>) -> tensor<4x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4x512xf8E4M3FN>, tensor<4096x512xf8E5M2>) outs(%start : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  return %p : tensor<4x4096xf32>
}

func.func @widen(%a: tensor<4096xf8E4M3FN>) -> tensor<4096xf32> {
  %r = arith.extf %a : tensor<4096xf8E4M3FN> to tensor<4096xf32>
  return %r : tensor<4096xf32>
}
