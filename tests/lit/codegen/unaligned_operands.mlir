// Rows are whole vectors, so that only operands that begin anywhere are read element by element. That hardly ever happens, and
// reduced elements are a loop there: LLVM takes most of its time for products with those that are written out.
// The emulator as a library of Python's: not with a sanitizer, whose runtime must come first in a process.
// UNSUPPORTED: sanitize
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: python3 %S/Inputs/launch_unaligned_product.py %t.kernels/small_dispatch_0_sm_80.ptx small_dispatch_0 64 128 32 2 256 | FileCheck %s --check-prefix=RIGHT
// RIGHT: right at every offset
// RUN: grep -c fma.rn.f32 %t.kernels/wide_dispatch_0_sm_80.ptx | FileCheck %s --check-prefix=COUNT
// 64 products of a thread for each of 16 reduced elements, and of a loop's, and of the last behind it:
// COUNT: {{^1152$}}
func.func @small(%a: tensor<64x32xf32>, %b: tensor<32x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x128xf32>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
func.func @wide(%a: tensor<1536x256xf32>, %b: tensor<256x1024xf32>) -> tensor<1536x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1536x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1536x1024xf32>) -> tensor<1536x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1536x256xf32>, tensor<256x1024xf32>) outs(%f : tensor<1536x1024xf32>) -> tensor<1536x1024xf32>
  return %r : tensor<1536x1024xf32>
}
