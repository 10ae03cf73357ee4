// Of unknown sizes a program by mma.sync has a kernel for each range of results, each with larger tiles. Where a device has so few
// multiprocessors that the largest tile is worth it from the end of the first range on, there is no kernel between.
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon --iree-hal-dump-executable-sources-to=%t.sm_80
// RUN: cat %t.sm_80/*.mlir | FileCheck %s --check-prefix=THREE
// RUN: tenon-compile %s --images=ptx --target=sm_87 -o %t.tenon --iree-hal-dump-executable-sources-to=%t.sm_87
// RUN: cat %t.sm_87/*.mlir | FileCheck %s --check-prefix=TWO

// THREE: tenon.strategy = {columns = 64 : i64, {{.*}}rows = 64 : i64
// THREE: tenon.strategy = {columns = 128 : i64, {{.*}}rows = 128 : i64
// THREE: tenon.strategy = {columns = 256 : i64, {{.*}}rows = 128 : i64
// TWO: tenon.strategy = {columns = 64 : i64, {{.*}}rows = 64 : i64
// TWO-NOT: columns = 128 : i64
// TWO: tenon.strategy = {columns = 256 : i64, {{.*}}rows = 128 : i64
func.func @product(%a: tensor<?x512xf16>, %b: tensor<512x?xf16>) -> tensor<?x?xf32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %m = tensor.dim %a, %i0 : tensor<?x512xf16>
  %n = tensor.dim %b, %i1 : tensor<512x?xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x512xf16>, tensor<512x?xf16>) outs(%s : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
