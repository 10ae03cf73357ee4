// How wide a thread is, per element type and indexing map.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=HALF --input-file=%t/half_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=DOUBLE --input-file=%t/double_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=BYTE --input-file=%t/byte_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=LESS --input-file=%t/less_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=BIAS --input-file=%t/bias_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=TRANSPOSE --input-file=%t/transpose_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=STATIC --input-file=%t/static3_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=SUM --input-file=%t/sum_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=MATMUL --input-file=%t/matmul_dispatch_0_sm_80.ptx

// Eight 16-bit elements are 16 bytes; two 64-bit ones; eight bytes are a thread's.
// HALF: ld.global.nc.v4.b32
// HALF-COUNT-4: add.rn.f16x2
// HALF: st.global.v4.b32
// DOUBLE: ld.global.nc.v2.b64
// DOUBLE: st.global.v2.b64
// BYTE: ld.global.nc.v2.b32
// BYTE: st.global.v2.b32

// Truth values are bytes: four of them leave in one store.
// LESS: ld.global.nc.v4.b32
// LESS: st.global.b32

// The bias is read by columns. Rows that are no multiple of four elements take the narrow path.
// BIAS-DAG: ld.global.nc.v4.b32
// BIAS-DAG: ld.global.nc.v4.b32
// BIAS-DAG: st.global.v4.b32

// Reads along a column of 128, writes along a row.
// TRANSPOSE: ld.global.nc.v4.b32
// TRANSPOSE: st.global.v4.b32

// Three dimensions that lie together are one: no division. Static sizes are no parameters.
// STATIC: .param .u64 .ptr .global .align 1 static3_dispatch_0_param_2
// STATIC-NEXT: )
// STATIC-NOT: {{div|rem}}
// STATIC: ld.global.nc.v4.b32
// STATIC-NOT: {{div|rem}}
// STATIC: ret;

// Threads of a row add up what they have: a tree. Behind the result is what parts of few long rows leave.
// SUM: .param .u64 .ptr .global .align 1 sum_dispatch_0_param_2,
// SUM: .param .u64 sum_dispatch_0_param_3,
// SUM: .param .u64 sum_dispatch_0_param_4
// SUM-NEXT: )
// SUM: shfl.sync.bfly.b32
// SUM: add.rn.f32

// a, b, the start of c, c, and three sizes.
// MATMUL: .param .u64 .ptr .global .align 1 matmul_dispatch_0_param_3,
// MATMUL-NEXT: .param .u64 matmul_dispatch_0_param_4,
// MATMUL-NEXT: .param .u64 matmul_dispatch_0_param_5,
// MATMUL-NEXT: .param .u64 matmul_dispatch_0_param_6
// MATMUL-NEXT: )
// MATMUL: fma.rn.f32

func.func @half(%a: tensor<?xf16>) -> tensor<?xf16> {
  %0 = arith.addf %a, %a : tensor<?xf16>
  return %0 : tensor<?xf16>
}
func.func @double(%a: tensor<?xf64>) -> tensor<?xf64> {
  %0 = arith.addf %a, %a : tensor<?xf64>
  return %0 : tensor<?xf64>
}
func.func @byte(%a: tensor<?xi8>) -> tensor<?xi8> {
  %0 = arith.addi %a, %a : tensor<?xi8>
  return %0 : tensor<?xi8>
}
func.func @less(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xi1> {
  %0 = arith.cmpf olt, %a, %b : tensor<?xf32>
  return %0 : tensor<?xi1>
}
func.func @bias(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.broadcast ins(%b : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [0]
  %1 = arith.addf %a, %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @transpose(%a: tensor<64x128xf32>) -> tensor<128x64xf32> {
  %e = tensor.empty() : tensor<128x64xf32>
  %0 = linalg.transpose ins(%a : tensor<64x128xf32>) outs(%e : tensor<128x64xf32>) permutation = [1, 0]
  return %0 : tensor<128x64xf32>
}
func.func @static3(%a: tensor<4x8x32xf32>, %b: tensor<4x8x32xf32>) -> tensor<4x8x32xf32> {
  %0 = arith.addf %a, %b : tensor<4x8x32xf32>
  return %0 : tensor<4x8x32xf32>
}
func.func @sum(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
