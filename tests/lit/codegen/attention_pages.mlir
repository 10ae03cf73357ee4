// Keys and values in pages that a table names, and as numbers of 8 bits: what looks them up is part of the attention's kernel.
// RUN: tenon-compile %s --images=ptx --target=sm_80 --print-dispatches -o %t.tenon 2>&1 | FileCheck %s
// RUN: env TENON_EMULATOR_SM=80 TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=pages --input=2x1x64xf16=0.5 --input=4x16x64xf16=1 --input=4x16x64xf16=2 '--input=2x2xi32=[[3 1][0 2]]' | FileCheck %s --check-prefix=RESULT

// CHECK-NOT: pages_dispatch_1
// CHECK: kernel 'pages_dispatch_0' ends here: 5 operations
// CHECK-NOT: pages_dispatch_1
// RESULT: 2x1x64xf16={{\[\[}}2 2 2
func.func @pages(%q: tensor<2x1x64xf16>, %keys: tensor<4x16x64xf16>, %values: tensor<4x16x64xf16>, %table: tensor<2x2xi32>) -> tensor<2x1x64xf16> {
  %zero = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %ek = tensor.empty() : tensor<2x32x64xf16>
  %k = linalg.generic {indexing_maps = [affine_map<(b, n, d) -> (b, n, d)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%ek : tensor<2x32x64xf16>) {
    ^bb0(%c: f16):
      %b = linalg.index 0 : index
      %n = linalg.index 1 : index
      %d = linalg.index 2 : index
      %page = arith.divui %n, %c16 : index
      %in = arith.remui %n, %c16 : index
      %number = tensor.extract %table[%b, %page] : tensor<2x2xi32>
      %at = arith.index_cast %number : i32 to index
      %e = tensor.extract %keys[%at, %in, %d] : tensor<4x16x64xf16>
      linalg.yield %e : f16
  } -> tensor<2x32x64xf16>
  %v = linalg.generic {indexing_maps = [affine_map<(b, n, d) -> (b, n, d)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%ek : tensor<2x32x64xf16>) {
    ^bb0(%c: f16):
      %b = linalg.index 0 : index
      %n = linalg.index 1 : index
      %d = linalg.index 2 : index
      %page = arith.divui %n, %c16 : index
      %in = arith.remui %n, %c16 : index
      %number = tensor.extract %table[%b, %page] : tensor<2x2xi32>
      %at = arith.index_cast %number : i32 to index
      %e = tensor.extract %values[%at, %in, %d] : tensor<4x16x64xf16>
      linalg.yield %e : f16
  } -> tensor<2x32x64xf16>
  %es = tensor.empty() : tensor<2x1x32xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x1x64xf16>, tensor<2x32x64xf16>) outs(%fs : tensor<2x1x32xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %z = arith.mulf %x, %y : f32
      %t = arith.addf %c, %z : f32
      linalg.yield %t : f32
  } -> tensor<2x1x32xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<2x1x32xf32>) outs(%es : tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
  %wn = arith.truncf %w : tensor<2x1x32xf32> to tensor<2x1x32xf16>
  %eo = tensor.empty() : tensor<2x1x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x1x64xf32>) -> tensor<2x1x64xf32>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<2x1x32xf16>, tensor<2x32x64xf16>) outs(%fo : tensor<2x1x64xf32>) -> tensor<2x1x64xf32>
  %r = arith.truncf %o : tensor<2x1x64xf32> to tensor<2x1x64xf16>
  return %r : tensor<2x1x64xf16>
}
