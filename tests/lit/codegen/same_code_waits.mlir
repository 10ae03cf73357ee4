// Kernels of known sizes begin with the same wait on every target that has one, and are otherwise the same: LLVM makes
// each once, for the oldest target, in whatever order targets are named. Which other targets there are changes nothing.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_90a,sm_75,sm_80 --images=ptx --cu-cache=none --dump-kernels-to=%t/all -o %t/all.tenon --print-statistics 2>&1 | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: tenon-compile %s --target=sm_80 --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: tenon-compile %s --target=sm_90a --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: diff -r %t/all %t/each
// RUN: FileCheck %s --check-prefix=NEW --input-file=%t/all/sums_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=OLD --input-file=%t/all/sums_dispatch_0_sm_80.ptx

// Of four kernels, the halves of f64 alone are written in another way from sm_86 on. The product has the same plan on all.
// CHECK: PTX: 5 generated, 0 from the cache, 7 shared

// NEW: .target sm_90a
// NEW: .entry sums_dispatch_0(
// NEW-NOT: ld.global
// NEW: griddepcontrol.wait;
// NEW: griddepcontrol.launch_dependents;
// NEW: ld.global
// NEW-NOT: griddepcontrol
// OLD: .target sm_80
// OLD-NOT: griddepcontrol
func.func @sums(%x: tensor<64x4096xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64x4096xf32>) outs(%y : tensor<64xf32>) dimensions = [1]
  return %r : tensor<64xf32>
}
func.func @doubles(%x: tensor<64x4096xf64>, %y: tensor<64xf64>) -> tensor<64xf64> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64x4096xf64>) outs(%y : tensor<64xf64>) dimensions = [1]
  return %r : tensor<64xf64>
}
// Threads of a warp vote on what they leave to it.
func.func @joined(%x: tensor<64x64xf32>, %y: tensor<64x32xf32>) -> tensor<64x96xf32> {
  %r = tensor.concat dim(1) %x, %y : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
// On targets but sm_90a another strategy's variant, of which nothing is left without tensor cores.
func.func @product(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
