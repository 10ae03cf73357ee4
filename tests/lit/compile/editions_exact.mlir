// Exact products of f32 whose plan is the same for sm_90a and others are one kernel for all of them; tensor cores' and those
// of clusters are not.
// RUN: tenon-compile %s --images=ptx -o %t.tenon && tenon-dump %t.tenon | FileCheck %s
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --explain | FileCheck %s --check-prefix=SM90
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --function=alike --input=256x64xf32=1 --input=64x256xf32=2 | FileCheck %s --check-prefix=RAN
// RUN: env TENON_EMULATOR_SM=75 tenon-run %t.tenon --device=emulator --function=alike --input=256x64xf32=1 --input=64x256xf32=2 | FileCheck %s --check-prefix=RAN
// RUN: tenon-compile %s --f32-products=tf32 --images=ptx -o %t.tenon && tenon-dump %t.tenon | FileCheck %s --check-prefix=TF32
// Nothing differs: there is no edition.
// RUN: sed -n '/^func.func @alike/,/^}/p' %s > %t.alike.mlir
// RUN: tenon-compile %t.alike.mlir --images=ptx -o %t.tenon && tenon-dump %t.tenon | FileCheck %s --check-prefix=ONE
// RUN: tenon-compile %t.alike.mlir --target=sm_80,sm_90a --images=ptx -o %t.tenon && tenon-dump %t.tenon | FileCheck %s --check-prefix=ONE

// CHECK: edition for sm_90a:
// CHECK: dispatch 'alike_dispatch_0'::'alike_dispatch_0'
// CHECK: dispatch 'divided_dispatch_0_sm_90a'::'divided_dispatch_0'
// CHECK: executable 'alike_dispatch_0': 1 export, 3 variants
// CHECK-NOT: executable 'alike_dispatch_0
// SM90: executable 'alike_dispatch_0'
// SM90-NOT: executable 'divided_dispatch_0'
// SM90: executable 'divided_dispatch_0_sm_90a'
// RAN: 256x256xf32=[128 128
// TF32: executable 'alike_dispatch_0': 1 export, 2 variants
// TF32: executable 'alike_dispatch_0_sm_90a': 1 export, 1 variant
// ONE: function 'alike'
// ONE-NOT: edition for
// ONE-NOT: executable 'alike_dispatch_0_sm_90a'
func.func @alike(%a: tensor<256x64xf32>, %b: tensor<64x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x64xf32>, tensor<64x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}
func.func @divided(%a: tensor<256x2048xf32>, %b: tensor<2048x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x2048xf32>, tensor<2048x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}
