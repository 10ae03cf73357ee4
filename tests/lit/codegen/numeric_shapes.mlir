// Broadcasts, transposes, reductions and products, against results worked out by hand.
// REQUIRES: nvcc
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90 -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=bias --input="2x3xf32=1 2 3 4 5 6" --input="3xf32=10 20 30" --input="2xf32=1 -1" --expected_output="2x3xf32=11 22 33 -14 -25 -36"
// RUN: tenon-run %t.tenon --device=emulator --function=bias --input="2x4xf32=1 2 3 4 5 6 7 8" --input="4xf32=10 20 30 40" --input="2xf32=1 -1" --expected_output="2x4xf32=11 22 33 44 -15 -26 -37 -48"
// RUN: tenon-run %t.tenon --device=emulator --function=transpose --input="2x3xf16=1 2 3 4 5 6" --expected_output="3x2xf16=1 4 2 5 3 6"
// RUN: tenon-run %t.tenon --device=emulator --function=rotate --input="2x2x3xi32=1 2 3 4 5 6 7 8 9 10 11 12" --expected_output="3x2x2xi32=1 4 7 10 2 5 8 11 3 6 9 12"
// RUN: tenon-run %t.tenon --device=emulator --function=row_sum --input="2x3xf32=1 2 3 4 5 6" --expected_output="2xf32=6 15"
// RUN: tenon-run %t.tenon --device=emulator --function=row_sum --input="3x0xf32" --expected_output="3xf32=0 0 0"
// RUN: tenon-run %t.tenon --device=emulator --function=column_max --input="2x3xf32=1 7 3 4 5 -6" --expected_output="3xf32=4 7 3"
// RUN: tenon-run %t.tenon --device=emulator --function=matmul --input="2x3xf32=1 2 3 4 5 6" --input="3x2xf32=1 0 0 1 1 1" --input="2x2xf32=100 0 0 100" --expected_output="2x2xf32=104 5 10 111"
// RUN: tenon-run %t.tenon --device=emulator --function=convolution --input="5xf32=1 2 3 4 5" --input="3xf32=1 0 -1" --expected_output="3xf32=-2 -2 -2"
// RUN: tenon-run %t.tenon --device=emulator --function=softmax --input="2x2xf32=0 0 1000 1000" --expected_output="2x2xf32=0.5 0.5 0.5 0.5"
// RUN: tenon-run %t.tenon --device=emulator --function=stretch --input="3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12" --input="1x4xf32=100 200 300 400" --input="3x1xf32=0.5 0.25 0.125" --expected_output="3x4xf32=101.5 202.5 303.5 404.5 105.25 206.25 307.25 408.25 109.125 210.125 311.125 412.125"
// RUN: tenon-run %t.tenon --device=emulator --function=pool --input="7xi32=5 1 -3 9 2 2 4" --expected_output="3xi32=5 9 4"
// RUN: tenon-run %t.tenon --device=emulator --function=batch --input="2x2x2xf64=1 2 3 4 5 6 7 8" --input="2x2x2xf64=1 0 0 1 0 1 1 0" --expected_output="2x2x2xf64=1 2 3 4 6 5 8 7"

func.func @bias(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.broadcast ins(%b : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [0]
  %1 = linalg.broadcast ins(%c : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %2 = arith.addf %a, %0 : tensor<?x?xf32>
  %3 = arith.mulf %2, %1 : tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
func.func @transpose(%a: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %a, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%n, %m) : tensor<?x?xf16>
  %0 = linalg.transpose ins(%a : tensor<?x?xf16>) outs(%e : tensor<?x?xf16>) permutation = [1, 0]
  return %0 : tensor<?x?xf16>
}
func.func @rotate(%a: tensor<2x2x3xi32>) -> tensor<3x2x2xi32> {
  %e = tensor.empty() : tensor<3x2x2xi32>
  %0 = linalg.transpose ins(%a : tensor<2x2x3xi32>) outs(%e : tensor<3x2x2xi32>) permutation = [2, 0, 1]
  return %0 : tensor<3x2x2xi32>
}
func.func @row_sum(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}
func.func @column_max(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [0]
  return %r : tensor<?xf32>
}
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @convolution(%a: tensor<?xf32>, %w: tensor<3xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %n = arith.subi %d, %c2 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.conv_1d ins(%a, %w : tensor<?xf32>, tensor<3xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
// exp(x - max) / sum, row by row: reductions and elementwise kernels in one function.
func.func @softmax(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %e1 = tensor.empty() : tensor<2xf32>
  %e2 = tensor.empty() : tensor<2x2xf32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%low : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %max = linalg.reduce { arith.maximumf } ins(%a : tensor<2x2xf32>) outs(%s0 : tensor<2xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<2xf32>) outs(%e2 : tensor<2x2xf32>) dimensions = [1]
  %d = arith.subf %a, %maxes : tensor<2x2xf32>
  %x = math.exp2 %d : tensor<2x2xf32>
  %s1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<2x2xf32>) outs(%s1 : tensor<2xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<2xf32>) outs(%e2 : tensor<2x2xf32>) dimensions = [1]
  %r = arith.divf %x, %sums : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
// A dimension of one that is read for every position.
func.func @stretch(%a: tensor<?x?xf32>, %b: tensor<1x?xf32>, %c: tensor<?x1xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<?x?xf32>, tensor<1x?xf32>, tensor<?x1xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      %t = arith.addf %s, %z : f32
      linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// A window of three, two apart.
func.func @pool(%a: tensor<7xi32>) -> tensor<3xi32> {
  %low = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<3xi32>
  %w = tensor.empty() : tensor<3xi32>
  %f = linalg.fill ins(%low : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2 + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<7xi32>, tensor<3xi32>) outs(%f : tensor<3xi32>) {
    ^bb0(%x: i32, %y: i32, %o: i32):
      %t = arith.maxsi %x, %o : i32
      linalg.yield %t : i32
  } -> tensor<3xi32>
  return %r : tensor<3xi32>
}
func.func @batch(%a: tensor<?x?x?xf64>, %b: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %a, %c0 : tensor<?x?x?xf64>
  %m = tensor.dim %a, %c1 : tensor<?x?x?xf64>
  %k = tensor.dim %b, %c2 : tensor<?x?x?xf64>
  %e = tensor.empty(%n, %m, %k) : tensor<?x?x?xf64>
  %z = arith.constant 0.0 : f64
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%f : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}
