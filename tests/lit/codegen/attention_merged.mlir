// Attention over keys in two parts, merged by the logarithms of both sums: what reads a logarithm for every column of a result is no part of
// the attention's kernel.
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon --print-dispatches 2>&1 | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_90a -o %t.tenon

// CHECK: remark: another kernel computes what this reads: it reads the logarithms of the attention's sums, which are known behind its results
#q = affine_map<(m, n, d) -> (m, d)>
#k = affine_map<(m, n, d) -> (n, d)>
#s = affine_map<(m, n, d) -> (m, n)>
#row = affine_map<(m, e) -> (m)>
#all = affine_map<(m, e) -> (m, e)>
#one = affine_map<(m) -> (m)>
func.func private @part(%q: tensor<130x64xf16>, %k: tensor<300x64xf16>, %v: tensor<300x64xf16>) -> (tensor<130x64xf32>, tensor<130xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<130x300xf32>
  %er = tensor.empty() : tensor<130xf32>
  %eo = tensor.empty() : tensor<130x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<130x300xf32>) -> tensor<130x300xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<130xf32>) -> tensor<130xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%er : tensor<130xf32>) -> tensor<130xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<130x64xf32>) -> tensor<130x64xf32>
  %s = linalg.matmul indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<130x64xf16>, tensor<300x64xf16>) outs(%fs : tensor<130x300xf32>) -> tensor<130x300xf32>
  %l = linalg.reduce { arith.maximumf } ins(%s : tensor<130x300xf32>) outs(%fl : tensor<130xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %l : tensor<130x300xf32>, tensor<130xf32>) outs(%es : tensor<130x300xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %x = arith.subf %a, %b : f32
      %y = math.exp %x : f32
      linalg.yield %y : f32
  } -> tensor<130x300xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<130x300xf32>) outs(%ft : tensor<130xf32>) dimensions = [1]
  %en = tensor.empty() : tensor<130x300xf16>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%p, %t : tensor<130x300xf32>, tensor<130xf32>) outs(%en : tensor<130x300xf16>) {
    ^bb0(%a: f32, %b: f32, %c: f16):
      %x = arith.divf %a, %b : f32
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
  } -> tensor<130x300xf16>
  %o = linalg.matmul ins(%w, %v : tensor<130x300xf16>, tensor<300x64xf16>) outs(%fo : tensor<130x64xf32>) -> tensor<130x64xf32>
  %log = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%l, %t : tensor<130xf32>, tensor<130xf32>) outs(%er : tensor<130xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %x = math.log %b : f32
      %y = arith.addf %a, %x : f32
      linalg.yield %y : f32
  } -> tensor<130xf32>
  return %o, %log : tensor<130x64xf32>, tensor<130xf32>
}

func.func @merged(%q: tensor<130x64xf16>, %k0: tensor<300x64xf16>, %v0: tensor<300x64xf16>, %k1: tensor<300x64xf16>, %v1: tensor<300x64xf16>) -> tensor<130x64xf32> {
  %o0, %l0 = call @part(%q, %k0, %v0) : (tensor<130x64xf16>, tensor<300x64xf16>, tensor<300x64xf16>) -> (tensor<130x64xf32>, tensor<130xf32>)
  %o1, %l1 = call @part(%q, %k1, %v1) : (tensor<130x64xf16>, tensor<300x64xf16>, tensor<300x64xf16>) -> (tensor<130x64xf32>, tensor<130xf32>)
  %eo = tensor.empty() : tensor<130x64xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%o0, %o1, %l0, %l1 : tensor<130x64xf32>, tensor<130x64xf32>, tensor<130xf32>, tensor<130xf32>) outs(%eo : tensor<130x64xf32>) {
    ^bb0(%a: f32, %b: f32, %x: f32, %y: f32, %c: f32):
      %most = arith.maximumf %x, %y : f32
      %dx = arith.subf %x, %most : f32
      %dy = arith.subf %y, %most : f32
      %wx = math.exp %dx : f32
      %wy = math.exp %dy : f32
      %ax = arith.mulf %a, %wx : f32
      %by = arith.mulf %b, %wy : f32
      %sum = arith.addf %ax, %by : f32
      %all = arith.addf %wx, %wy : f32
      %z = arith.divf %sum, %all : f32
      linalg.yield %z : f32
  } -> tensor<130x64xf32>
  return %r : tensor<130x64xf32>
}
