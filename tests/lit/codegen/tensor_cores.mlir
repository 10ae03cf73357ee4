// Which instructions multiply on the tensor cores of each target: f16 and int8 of sm_75, f64 of sm_80 and of sm_90.
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_80,sm_90a -o %t.tenon --dump-kernels-to=%t
// RUN: FileCheck %s --check-prefix=HALF75 --input-file=%t/halves_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=BYTE75 --input-file=%t/bytes_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=FEW75 --input-file=%t/few_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=DOUBLE75 --input-file=%t/doubles_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=DOUBLE80 --input-file=%t/doubles_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=DOUBLE90 --input-file=%t/doubles_dispatch_0_sm_90a.ptx

// The oldest version of PTX with these instructions; threads copy, since nothing copies beside them.
// HALF75: .version 6.5
// HALF75-NOT: cp.async
// HALF75: ldmatrix.sync.aligned.m8n8.x4
// HALF75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// BYTE75: ldmatrix.sync.aligned.m8n8.x4
// BYTE75: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32
// FEW75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// DOUBLE75-NOT: mma
// DOUBLE75: fma.rn.f64
// DOUBLE80: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// DOUBLE90-NOT: m8n8k4
// DOUBLE90: mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64

func.func @halves(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%start : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %p : tensor<512x512xf32>
}

func.func @bytes(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>) -> tensor<512x512xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<512x512xi32>
  %start = linalg.fill ins(%zero : i32) outs(%e : tensor<512x512xi32>) -> tensor<512x512xi32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%start : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %p : tensor<512x512xi32>
}

func.func @few(%a: tensor<4x512xf16>, %b: tensor<512x1024xf16>) -> tensor<4x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1024xf32>) -> tensor<4x1024xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x512xf16>, tensor<512x1024xf16>) outs(%start : tensor<4x1024xf32>) -> tensor<4x1024xf32>
  return %p : tensor<4x1024xf32>
}

func.func @doubles(%a: tensor<512x512xf64>, %b: tensor<512x512xf64>) -> tensor<512x512xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<512x512xf64>
  %start = linalg.fill ins(%zero : f64) outs(%e : tensor<512x512xf64>) -> tensor<512x512xf64>
  %p = linalg.matmul ins(%a, %b : tensor<512x512xf64>, tensor<512x512xf64>) outs(%start : tensor<512x512xf64>) -> tensor<512x512xf64>
  return %p : tensor<512x512xf64>
}
