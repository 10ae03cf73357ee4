// Parts of one size, put together: no tensor is indexed by the number of the part, so a thread reads what it needs once
// and writes an element of each part. Here both parts are made of both halves of a row.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --images=ptx --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --input-file=%t/rotate_dispatch_0_sm_80.ptx
// RUN: not ls %t/rotate_dispatch_1_sm_80.ptx

// Aligned halves are read whole, by two loads of 16 bytes, and written by two stores.
// CHECK: .entry rotate_dispatch_0
// CHECK-DAG: ld.global{{.*}}.v4.b32
// CHECK: st.global.v4.b32
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global.v4.b32
func.func @rotate(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %a = tensor.extract_slice %x[0, 0] [64, 128] [1, 1] : tensor<64x256xf32> to tensor<64x128xf32>
  %b = tensor.extract_slice %x[0, 128] [64, 128] [1, 1] : tensor<64x256xf32> to tensor<64x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %low = linalg.sub ins(%a, %b : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %high = linalg.add ins(%a, %b : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = tensor.concat dim(1) %low, %high : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
