// Rows that are no multiple of a vector, but of half a one, go by halves, two of them on their way in each thread: no row is
// torn, and no element goes by itself.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --images=ptx --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --input-file=%t/permuted_dispatch_0_sm_80.ptx
// CHECK: ld.global.nc.v2.b32
// CHECK-NOT: st.global
// CHECK: ld.global.nc.v2.b32
// CHECK-COUNT-2: st.global.v2.b32
func.func @permuted(%x: tensor<64x1000x16x100xbf16>) -> tensor<64x16x1000x100xbf16> {
  %e = tensor.empty() : tensor<64x16x1000x100xbf16>
  %t = linalg.transpose ins(%x : tensor<64x1000x16x100xbf16>) outs(%e : tensor<64x16x1000x100xbf16>) permutation = [0, 2, 1, 3]
  return %t : tensor<64x16x1000x100xbf16>
}
