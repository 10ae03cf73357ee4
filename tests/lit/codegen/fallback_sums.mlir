// A fallback keeps sums of bf16 in f32, as every other kernel does, and rounds them once.
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_90 -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry row_sums(
// CHECK: cvt.rn.bf16.f32
// CHECK-NOT: {{cvt.rn.bf16.f32|add.*bf16}}
// CHECK: add.rn.f32
// CHECK-NOT: {{cvt.rn.bf16.f32|add.*bf16}}
func.func @row_sums(%n: i64, %k: i64, %x: tensor<?x?xbf16> {tenon.dims = array<i64: 0, 1>}) -> (tensor<?xbf16> {tenon.dims = array<i64: 0>})
    attributes {tenon.elements_per_thread = 1 : i64, tenon.workgroup_size = array<i32: 32, 1, 1>} {
  %rows = arith.index_cast %n : i64 to index
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty(%rows) : tensor<?xbf16>
  %start = linalg.fill ins(%zero : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xbf16>) outs(%start : tensor<?xbf16>) {
    ^bb0(%a: bf16, %s: bf16):
      %t = arith.addf %s, %a : bf16
      linalg.yield %t : bf16
  } -> tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

// A body that does more than combine is computed as it is written.
// CHECK-LABEL: .entry powers(
// CHECK: fma.rn.bf16
func.func @powers(%n: i64, %k: i64, %x: tensor<?x?xbf16> {tenon.dims = array<i64: 0, 1>}) -> (tensor<?xbf16> {tenon.dims = array<i64: 0>})
    attributes {tenon.elements_per_thread = 1 : i64, tenon.workgroup_size = array<i32: 32, 1, 1>} {
  %rows = arith.index_cast %n : i64 to index
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty(%rows) : tensor<?xbf16>
  %start = linalg.fill ins(%zero : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xbf16>) outs(%start : tensor<?xbf16>) {
    ^bb0(%a: bf16, %s: bf16):
      %p = arith.mulf %s, %s : bf16
      %t = arith.addf %p, %a : bf16
      linalg.yield %t : bf16
  } -> tensor<?xbf16>
  return %0 : tensor<?xbf16>
}
