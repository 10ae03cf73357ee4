// Long columns of unknown size are parts: of a slice, whose number of rows is computed, and of what may be read whole.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=slice --input=1x1300x3xf32=1 --output=- | FileCheck %s --check-prefix=SLICE
// SLICE: 1x3xf32={{\[}}1187 1187 1187]
// RUN: tenon-run %t.tenon --device=emulator --function=outer --input=2x1100x2x3xf32=1 --input=3x2xf32=0.5 --output=- | FileCheck %s --check-prefix=OUTER
// OUTER: 2x3xf32={{\[}}2200.5 2200.5 2200.5][2200.5 2200.5 2200.5]
// Of three columns, few rows and more have kernels of their own.
// RUN: tenon-run %t.tenon --device=emulator --function=three --input=2x2x5x3xf16=1 --output=- | FileCheck %s --check-prefix=FEW
// FEW: 2x3xf32={{\[}}10 10 10][10 10 10]
// RUN: tenon-run %t.tenon --device=emulator --function=three --input=2x20x5x3xf16=1 --output=- | FileCheck %s --check-prefix=MORE
// MORE: 2x3xf32={{\[}}100 100 100][100 100 100]
// Of two sums each has memory for its parts, of its own type.
// RUN: tenon-run %t.tenon --device=emulator --function=two --input=2x1100x3xi64=5 | FileCheck %s --check-prefix=TWO
// TWO: 2x3xi64={{\[}}5500 5500 5500][5500 5500 5500]
// TWO: 2x3xi64={{\[}}5 5 5][5 5 5]
func.func @two(%x: tensor<?x?x?xi64>) -> (tensor<?x?xi64>, tensor<?x?xi64>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xi64>
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xi64>
  %zero = arith.constant 0 : i64
  %least = arith.constant -9223372036854775808 : i64
  %empty = tensor.empty(%d0, %d2) : tensor<?x?xi64>
  %a = linalg.fill ins(%zero : i64) outs(%empty : tensor<?x?xi64>) -> tensor<?x?xi64>
  %b = linalg.fill ins(%least : i64) outs(%empty : tensor<?x?xi64>) -> tensor<?x?xi64>
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(i, k, j) -> (i, k, j)>, affine_map<(i, k, j) -> (i, j)>, affine_map<(i, k, j) -> (i, j)>],
    iterator_types = ["parallel", "reduction", "parallel"]
  } ins(%x : tensor<?x?x?xi64>) outs(%a, %b : tensor<?x?xi64>, tensor<?x?xi64>) {
  ^bb0(%e: i64, %sum: i64, %largest: i64):
    %s = arith.addi %e, %sum : i64
    %l = arith.maxsi %e, %largest : i64
    linalg.yield %s, %l : i64, i64
  } -> (tensor<?x?xi64>, tensor<?x?xi64>)
  return %r#0, %r#1 : tensor<?x?xi64>, tensor<?x?xi64>
}
func.func @three(%x: tensor<?x?x?x3xf16>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?x3xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%d0) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, d)>], iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%x : tensor<?x?x?x3xf16>) outs(%start : tensor<?x3xf32>) {
  ^bb0(%e: f16, %s: f32):
    %w = arith.extf %e : f16 to f32
    %n = arith.addf %s, %w : f32
    linalg.yield %n : f32
  } -> tensor<?x3xf32>
  return %sum : tensor<?x3xf32>
}

func.func @slice(%a0: tensor<?x?x?xf32>) -> (tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c113 = arith.constant 113 : index
  %a0_d0 = tensor.dim %a0, %c0 : tensor<?x?x?xf32>
  %a0_d1 = tensor.dim %a0, %c1 : tensor<?x?x?xf32>
  %a0_d2 = tensor.dim %a0, %c2 : tensor<?x?x?xf32>
  %1 = arith.subi %a0_d1, %c113 : index
  %2 = tensor.extract_slice %a0 [0, 112, 0] [%a0_d0, %1, %a0_d2] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?x?xf32>
  %3 = arith.constant 0.0 : f32
  %4 = tensor.empty(%a0_d0, %a0_d2) : tensor<?x?xf32>
  %5 = linalg.fill ins(%3 : f32) outs(%4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%2 : tensor<?x?x?xf32>) outs(%5 : tensor<?x?xf32>) {
  ^bb0(%7: f32, %8: f32):
    %9 = arith.addf %8, %7 : f32
    linalg.yield %9 : f32
  } -> tensor<?x?xf32>
  return %6 : tensor<?x?xf32>
}

func.func @outer(%a0: tensor<?x?x?x?xf32>, %a1: tensor<?x?xf32>) -> (tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a0_d0 = tensor.dim %a0, %c0 : tensor<?x?x?x?xf32>
  %a0_d1 = tensor.dim %a0, %c1 : tensor<?x?x?x?xf32>
  %a0_d2 = tensor.dim %a0, %c2 : tensor<?x?x?x?xf32>
  %a0_d3 = tensor.dim %a0, %c3 : tensor<?x?x?x?xf32>
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty(%a0_d2, %a0_d3) : tensor<?x?xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>], iterator_types = ["reduction", "reduction", "parallel", "parallel"]} ins(%a0 : tensor<?x?x?x?xf32>) outs(%3 : tensor<?x?xf32>) {
  ^bb0(%5: f32, %6: f32):
    %7 = arith.addf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<?x?xf32>
  %a1_d0 = tensor.dim %a1, %c0 : tensor<?x?xf32>
  %a1_d1 = tensor.dim %a1, %c1 : tensor<?x?xf32>
  %8 = tensor.empty(%a0_d2, %a0_d3) : tensor<?x?xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%4, %a1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%8 : tensor<?x?xf32>) {
  ^bb0(%10: f32, %11: f32, %12: f32):
    %13 = arith.addf %10, %11 : f32
    linalg.yield %13 : f32
  } -> tensor<?x?xf32>
  return %9 : tensor<?x?xf32>
}
