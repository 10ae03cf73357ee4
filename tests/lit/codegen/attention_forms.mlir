// Between the products of an attention, dimensions are divided and united, keys are repeated and turned, and the
// exponential is a power of two: it is one kernel all the same.
// RUN: tenon-compile %s --images=ptx --target=sm_80 --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=keeps --input=2x3x4xf32=0.5 | FileCheck %s --check-prefix=KEEPS

// ONE-NOT: flat_dispatch_1
// ONE: kernel 'flat_dispatch_0' ends here: 4 operations
// ONE-NOT: flat_dispatch_1
// KEEPS: 2x3x1xf32={{\[\[2\]\[2\]\[2\]\]\[\[2\]\[2\]\[2\]\]}}
#q = affine_map<(b, h, g, n, d) -> (b, h, n, d)>
#o = affine_map<(b, h, g, n, d) -> (b, h, g, n, d)>
// heads are flat for the products, keys are repeated, softmax in four dimensions, powers of 2
func.func @flat(%q: tensor<2x6x40x32xf16>, %k: tensor<2x3x70x32xf16>, %v: tensor<2x3x70x32xf16>, %mask: tensor<2x1x40x70xi1>) -> tensor<2x6x40x32xf16> {
  %zero = arith.constant 0.0 : f32
  %neg = arith.constant 0xFF800000 : f32
  %c = arith.constant 0.25503488 : f32
  %ek = tensor.empty() : tensor<2x3x2x70x32xf16>
  %k5 = linalg.generic {indexing_maps = [#q, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x3x70x32xf16>) outs(%ek : tensor<2x3x2x70x32xf16>) {
    ^bb0(%a: f16, %b: f16):
      linalg.yield %a : f16
  } -> tensor<2x3x2x70x32xf16>
  %v5 = linalg.generic {indexing_maps = [#q, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x3x70x32xf16>) outs(%ek : tensor<2x3x2x70x32xf16>) {
    ^bb0(%a: f16, %b: f16):
      linalg.yield %a : f16
  } -> tensor<2x3x2x70x32xf16>
  %k4 = tensor.collapse_shape %k5 [[0], [1, 2], [3], [4]] : tensor<2x3x2x70x32xf16> into tensor<2x6x70x32xf16>
  %v4 = tensor.collapse_shape %v5 [[0], [1, 2], [3], [4]] : tensor<2x3x2x70x32xf16> into tensor<2x6x70x32xf16>
  %et = tensor.empty() : tensor<2x6x32x70xf16>
  %kt = linalg.transpose ins(%k4 : tensor<2x6x70x32xf16>) outs(%et : tensor<2x6x32x70xf16>) permutation = [0, 1, 3, 2]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x6x40x32xf16> into tensor<12x40x32xf16>
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x6x32x70xf16> into tensor<12x32x70xf16>
  %v3 = tensor.collapse_shape %v4 [[0, 1], [2], [3]] : tensor<2x6x70x32xf16> into tensor<12x70x32xf16>
  %es = tensor.empty() : tensor<12x40x70xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<12x40x70xf32>) -> tensor<12x40x70xf32>
  %s3 = linalg.batch_matmul ins(%q3, %k3 : tensor<12x40x32xf16>, tensor<12x32x70xf16>) outs(%fs : tensor<12x40x70xf32>) -> tensor<12x40x70xf32>
  %s4 = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 6, 40, 70] : tensor<12x40x70xf32> into tensor<2x6x40x70xf32>
  %e4 = tensor.empty() : tensor<2x6x40x70xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, 0, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s4, %mask : tensor<2x6x40x70xf32>, tensor<2x1x40x70xi1>) outs(%e4 : tensor<2x6x40x70xf32>) {
    ^bb0(%a: f32, %seen: i1, %b: f32):
      %x = arith.mulf %a, %c : f32
      %y = arith.select %seen, %x, %neg : f32
      linalg.yield %y : f32
  } -> tensor<2x6x40x70xf32>
  %er = tensor.empty() : tensor<2x6x40xf32>
  %fm = linalg.fill ins(%neg : f32) outs(%er : tensor<2x6x40xf32>) -> tensor<2x6x40xf32>
  %m = linalg.reduce { arith.maximumf } ins(%l : tensor<2x6x40x70xf32>) outs(%fm : tensor<2x6x40xf32>) dimensions = [3]
  %p = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l, %m : tensor<2x6x40x70xf32>, tensor<2x6x40xf32>) outs(%e4 : tensor<2x6x40x70xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %x = arith.subf %a, %b : f32
      %y = math.exp2 %x : f32
      linalg.yield %y : f32
  } -> tensor<2x6x40x70xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<2x6x40xf32>) -> tensor<2x6x40xf32>
  %sum = linalg.reduce { arith.addf } ins(%p : tensor<2x6x40x70xf32>) outs(%fz : tensor<2x6x40xf32>) dimensions = [3]
  %en = tensor.empty() : tensor<2x6x40x70xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %sum : tensor<2x6x40x70xf32>, tensor<2x6x40xf32>) outs(%en : tensor<2x6x40x70xf16>) {
    ^bb0(%a: f32, %b: f32, %o: f16):
      %x = arith.divf %a, %b : f32
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
  } -> tensor<2x6x40x70xf16>
  %w3 = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x6x40x70xf16> into tensor<12x40x70xf16>
  %eo = tensor.empty() : tensor<12x40x32xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<12x40x32xf32>) -> tensor<12x40x32xf32>
  %o3 = linalg.batch_matmul ins(%w3, %v3 : tensor<12x40x70xf16>, tensor<12x70x32xf16>) outs(%fo : tensor<12x40x32xf32>) -> tensor<12x40x32xf32>
  %n3 = arith.truncf %o3 : tensor<12x40x32xf32> to tensor<12x40x32xf16>
  %r = tensor.expand_shape %n3 [[0, 1], [2], [3]] output_shape [2, 6, 40, 32] : tensor<12x40x32xf16> into tensor<2x6x40x32xf16>
  return %r : tensor<2x6x40x32xf16>
}

// A reduction that keeps its dimension is one like any other.
func.func @keeps(%a: tensor<2x3x4xf32>) -> tensor<2x3x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<2x3x4xf32>) outs(%f : tensor<2x3x1xf32>) {
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<2x3x1xf32>
  return %r : tensor<2x3x1xf32>
}
