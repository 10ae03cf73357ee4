// Columns of unknown length that are read again are several kernels. Columns that are few share tiles, also of known
// sizes. No rows, and no columns.
// RUN: tenon-compile %s --target=sm_80 --images=ptx --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FORMS
// FORMS: kernel 'centred_dispatch_{{[0-9]}}' ends here: 1 operation
// FORMS-NOT: 2 operations
// RUN: tenon-run %t.tenon --device=emulator --function=centred --input=2x5x3xf32=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12,-13,-14,-15] --output=- | FileCheck %s --check-prefix=FEW
// FEW: 2x5x3xf32={{\[}}[-12 -12 -12][-9 -9 -9][-6 -6 -6][-3 -3 -3][0 0 0]{{\]\[}}[0 0 0][-3 -3 -3][-6 -6 -6][-9 -9 -9][-12 -12 -12]
// RUN: tenon-run %t.tenon --device=emulator --function=centred --input=3x20x8xf32=2 --output=- | FileCheck %s --check-prefix=MORE
// MORE: 3x20x8xf32={{\[\[}}0 0 0 0 0 0 0 0][0 0 0 0 0 0 0 0]
// RUN: tenon-run %t.tenon --device=emulator --function=centred --input=1x64x2xf32=2 --output=- | FileCheck %s --check-prefix=MOST
// MOST: 1x64x2xf32={{\[\[}}0 0][0 0]
// RUN: tenon-run %t.tenon --device=emulator --function=centred --input=1x65x2xf32=2 --output=- | FileCheck %s --check-prefix=LONG
// LONG: 1x65x2xf32={{\[\[}}0 0][0 0]
// RUN: tenon-run %t.tenon --device=emulator --function=centred --input=2x0x3xf32 --output=- | FileCheck %s --check-prefix=NONE
// NONE: 2x0x3xf32={{\[\]}}
// RUN: tenon-run %t.tenon --device=emulator --function=centred --input=2x3x0xf32 --output=- | FileCheck %s --check-prefix=EMPTY
// EMPTY: 2x3x0xf32={{\[\[\]}}
// RUN: tenon-run %t.tenon --device=emulator --function=both --input=2x0x3xf32 --output=- --output=- | FileCheck %s --check-prefix=BOTH
// BOTH: 2x3xf32={{\[}}-INF -INF -INF][-INF -INF -INF]
// RUN: tenon-run %t.tenon --device=emulator --function=known --input=3x20x5xf16=2 --output=- | FileCheck %s --check-prefix=KNOWN
// KNOWN: 3x5xf32={{\[}}40 40 40 40 40][40 40 40 40 40][40 40 40 40 40]
func.func @centred(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty(%d0, %d2) : tensor<?x?xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<?x?x?xf32>) outs(%start : tensor<?x?xf32>) {
  ^bb0(%e: f32, %s: f32):
    %n = arith.maximumf %s, %e : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  %all = tensor.empty(%d0, %d1, %d2) : tensor<?x?x?xf32>
  %centred = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %max : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%all : tensor<?x?x?xf32>) {
  ^bb0(%e: f32, %m: f32, %o: f32):
    %n = arith.subf %e, %m : f32
    linalg.yield %n : f32
  } -> tensor<?x?x?xf32>
  return %centred : tensor<?x?x?xf32>
}

func.func @both(%x: tensor<?x?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty(%d0, %d2) : tensor<?x?xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<?x?x?xf32>) outs(%start : tensor<?x?xf32>) {
  ^bb0(%e: f32, %s: f32):
    %n = arith.maximumf %s, %e : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  %all = tensor.empty(%d0, %d1, %d2) : tensor<?x?x?xf32>
  %centred = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %max : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%all : tensor<?x?x?xf32>) {
  ^bb0(%e: f32, %m: f32, %o: f32):
    %n = arith.subf %e, %m : f32
    linalg.yield %n : f32
  } -> tensor<?x?x?xf32>
  return %max, %centred : tensor<?x?xf32>, tensor<?x?x?xf32>
}

func.func @known(%x: tensor<3x20x5xf16>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x5xf32>) -> tensor<3x5xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<3x20x5xf16>) outs(%start : tensor<3x5xf32>) {
  ^bb0(%e: f16, %s: f32):
    %w = arith.extf %e : f16 to f32
    %n = arith.addf %s, %w : f32
    linalg.yield %n : f32
  } -> tensor<3x5xf32>
  return %sum : tensor<3x5xf32>
}
