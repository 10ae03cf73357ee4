// Sums whose two tensors lie in both orders: a warp is a square of both. Columns that are few and odd, of known and of
// unknown number; rows that no warp has whole; what is read by place; what is stored beside a variance.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=narrow --input=70x19x13xf16=1 --input=70x13x19xf16=0.5 --output=- | FileCheck %s --check-prefix=NARROW
// NARROW: 70x13xf32={{\[}}28.5 28.5 28.5 28.5 28.5 28.5 28.5 28.5 28.5 28.5 28.5 28.5 28.5][
// RUN: tenon-run %t.tenon --device=emulator --function=any --input=3x37x5xf32=1 --input=3x5x37xf32=2 --output=- | FileCheck %s --check-prefix=FEW
// FEW: 3x5xf32={{\[}}111 111 111 111 111][111 111 111 111 111][111 111 111 111 111]
// RUN: tenon-run %t.tenon --device=emulator --function=any --input=2x1100x3xf32=1 --input=2x3x1100xf32=2 --output=- | FileCheck %s --check-prefix=PARTS
// PARTS: 2x3xf32={{\[}}3300 3300 3300][3300 3300 3300]
// RUN: tenon-run %t.tenon --device=emulator --function=any --input=1x70x35xf32=1 --input=1x35x70xf32=2 --output=- | FileCheck %s --check-prefix=WIDE
// WIDE: 1x35xf32={{\[}}210 210 210 210
// RUN: tenon-run %t.tenon --device=emulator --function=variance --input=3x7xf32=1 --input=2x7xf32=6 --output=- --output=- | FileCheck %s --check-prefix=VARIANCE
// VARIANCE: 5x7xf32={{\[}}1 1 1 1 1 1 1][1 1 1 1 1 1 1][1 1 1 1 1 1 1][6 6 6 6 6 6 6][6 6 6 6 6 6 6]
// VARIANCE: 7xf32=30 30 30 30 30 30 30
func.func @narrow(%x: tensor<70x19x13xf16>, %y: tensor<70x13x19xf16>) -> tensor<70x13xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<70x13xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<70x13xf32>) -> tensor<70x13xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c, b)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %y : tensor<70x19x13xf16>, tensor<70x13x19xf16>) outs(%start : tensor<70x13xf32>) {
  ^bb0(%e: f16, %f: f16, %s: f32):
    %w = arith.extf %e : f16 to f32
    %v = arith.extf %f : f16 to f32
    %m = arith.addf %w, %v : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<70x13xf32>
  return %sum : tensor<70x13xf32>
}

func.func @any(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%d0, %d2) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c, b)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%start : tensor<?x?xf32>) {
  ^bb0(%e: f32, %f: f32, %s: f32):
    %m = arith.addf %e, %f : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %sum : tensor<?x?xf32>
}

func.func @variance(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e0 = tensor.dim %y, %c0 : tensor<?x?xf32>
  %rows = arith.addi %d0, %e0 : index
  %both = tensor.concat dim(0) %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%d1) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>], iterator_types = ["reduction", "parallel"]} ins(%both : tensor<?x?xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%e: f32, %s: f32):
    %n = arith.addf %s, %e : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  %count = arith.index_cast %rows : index to i64
  %real = arith.sitofp %count : i64 to f32
  %mean = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%sum : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %n = arith.divf %e, %real : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (b)>], iterator_types = ["reduction", "parallel"]} ins(%both, %mean : tensor<?x?xf32>, tensor<?xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%e: f32, %m: f32, %s: f32):
    %d = arith.subf %e, %m : f32
    %q = arith.mulf %d, %d : f32
    %n = arith.addf %s, %q : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  return %both, %squares : tensor<?x?xf32>, tensor<?xf32>
}
