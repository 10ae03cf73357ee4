// Tiles are as high as most experts have rows.
// RUN: split-file %s %t
// RUN: tenon-opt %t/known.mlir --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=KNOWN
// RUN: tenon-opt %t/unknown.mlir --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=UNKNOWN

// 128 rows each: Hopper has tiles of 256 rows, other targets of 128.
// KNOWN: func.func @known_dispatch_0
// KNOWN-SAME: rows = 128 : i64
// KNOWN-SAME: warpgroup_columns = 128 : i64, warpgroup_rows = 256 : i64

// A kernel for up to 47 rows of each of 64 experts, for up to 103, for up to 200, and for more.
// UNKNOWN-DAG: arith.constant 3071 : index
// UNKNOWN-DAG: arith.constant 6655 : index
// UNKNOWN-DAG: arith.constant 12800 : index
// UNKNOWN: warpgroup_rows = 64 : i64
// UNKNOWN: warpgroup_rows = 128 : i64
// UNKNOWN: warpgroup_rows = 256 : i64
// UNKNOWN: warpgroup_rows = 128 : i64

//--- known.mlir
func.func @known(%x: tensor<8192x64xbf16>, %ids: tensor<8192xi32>, %w: tensor<64x64x64xbf16>) -> tensor<8192x64xf32> {
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<8192x64xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (t)>, affine_map<(t, n, k) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %ids : tensor<8192x64xbf16>, tensor<8192xi32>) outs(%begin : tensor<8192x64xf32>) {
  ^bb0(%a: bf16, %i: i32, %s: f32):
    %at = arith.index_cast %i : i32 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %b = tensor.extract %w[%at, %n, %k] : tensor<64x64x64xbf16>
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<8192x64xf32>
  return %p : tensor<8192x64xf32>
}

//--- unknown.mlir
func.func @unknown(%x: tensor<?x64xbf16>, %ids: tensor<?xi32>, %w: tensor<64x64x64xbf16>) -> tensor<?x64xf32> {
  %null = arith.constant 0.0 : f32
  %zero = arith.constant 0 : index
  %rows = tensor.dim %x, %zero : tensor<?x64xbf16>
  %sums = tensor.empty(%rows) : tensor<?x64xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (t)>, affine_map<(t, n, k) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %ids : tensor<?x64xbf16>, tensor<?xi32>) outs(%begin : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %i: i32, %s: f32):
    %at = arith.index_cast %i : i32 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %b = tensor.extract %w[%at, %n, %k] : tensor<64x64x64xbf16>
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}
