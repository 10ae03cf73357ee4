// Targets with the same code share LLVM's work; what each gets is what it gets alone.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90a,sm_100 --images=ptx --cu-cache=none --dump-kernels-to=%t/all -o %t/all.tenon --print-statistics 2>&1 | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: tenon-compile %s --target=sm_80 --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: tenon-compile %s --target=sm_90a --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: tenon-compile %s --target=sm_100 --images=ptx --cu-cache=none --dump-kernels-to=%t/each -o %t/one.tenon
// RUN: diff -r %t/all %t/each

// f32: sm_75 = sm_80 = sm_90a. maximum: sm_80 = sm_90a. bf16, i8 and exp of f64: each its own or the same.
// CHECK: PTX: {{[0-9]+}} generated, 0 from the cache, {{[1-9][0-9]*}} shared

#id = affine_map<(d0) -> (d0)>
func.func @f32(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %y : tensor<?xf32>
  %1 = math.exp %0 : tensor<?xf32>
  %2 = arith.mulf %1, %y : tensor<?xf32>
  %3 = arith.addf %2, %x : tensor<?xf32>
  return %3 : tensor<?xf32>
}
func.func @maximum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.maximumf %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @bf16(%x: tensor<?xbf16>, %y: tensor<?xbf16>) -> tensor<?xbf16> {
  %0 = arith.mulf %x, %y : tensor<?xbf16>
  %1 = arith.addf %0, %y : tensor<?xbf16>
  return %1 : tensor<?xbf16>
}
func.func @f16(%x: tensor<?xf16>, %y: tensor<?xf16>) -> tensor<?xf16> {
  %0 = arith.maximumf %x, %y : tensor<?xf16>
  return %0 : tensor<?xf16>
}
func.func @i8(%x: tensor<?xi8>, %y: tensor<?xi8>) -> tensor<?xi8> {
  %0 = arith.muli %x, %y : tensor<?xi8>
  return %0 : tensor<?xi8>
}
func.func @f64(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = math.sin %x : tensor<?xf64>
  %1 = math.erf %0 : tensor<?xf64>
  return %1 : tensor<?xf64>
}
func.func @truth(%x: tensor<?xi64>, %y: tensor<?xi64>) -> tensor<?xi1> {
  %0 = arith.cmpi slt, %x, %y : tensor<?xi64>
  return %0 : tensor<?xi1>
}
// Of so many tiles with short sums that a program for sm_90a alone takes none apart by clusters.
func.func @matmul(%x: tensor<4096x64xf32>, %y: tensor<64x4096xf32>, %z: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4096x64xf32>, tensor<64x4096xf32>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
// Barriers, shuffles, shared memory.
func.func @sums(%x: tensor<?x4096xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4096xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x4096xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}
func.func @softmax(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %e = tensor.empty() : tensor<64x4096xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}
func.func @maxima(%x: tensor<64x4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<64x4096xf32>) outs(%y : tensor<4096xf32>) dimensions = [0]
  return %r : tensor<4096xf32>
}
