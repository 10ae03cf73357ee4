// A row that does not stay on chip is read once for a maximum and the sum of exponentials, and for a mean and a variance:
// one loop with four loads in flight, and one for what is left.
// RUN: tenon-opt %s --split-input-file --tenon-print-ptx > %t.ptx
// RUN: FileCheck %s < %t.ptx

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>

// CHECK-LABEL: .visible .entry exponentials(
// CHECK-COUNT-5: ld.global.nc.b32
// CHECK-NOT: ld.global.nc.b32
// CHECK: st.global
func.func @exponentials(%n: i64, %m: i64, %x: tensor<?x?xf32> {tenon.dims = array<i64: 0, 1>}) -> (tensor<?xf32> {tenon.dims = array<i64: 0>})
    attributes {tenon.strategy = {name = "rows", threads = 256 : i64, lanes = 256 : i64, width = 1 : i64, chunks = 0 : i64, blocks = 1 : i64, rows = 1 : i64, shared = 0 : i64}} {
  %rows = arith.index_cast %n : i64 to index
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%rows) : tensor<?xf32>
  %low = linalg.fill ins(%ninf : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%low : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.maximumf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%none : tensor<?xf32>) {
    ^bb0(%a: f32, %m0: f32, %b: f32):
      %d = arith.subf %a, %m0 : f32
      %p = math.exp %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>

// CHECK-LABEL: .visible .entry squares(
// CHECK-COUNT-5: ld.global.nc.b32
// CHECK-NOT: ld.global.nc.b32
// CHECK: st.global
func.func @squares(%n: i64, %m: i64, %x: tensor<?x?xf32> {tenon.dims = array<i64: 0, 1>}) -> (tensor<?xf32> {tenon.dims = array<i64: 0>})
    attributes {tenon.strategy = {name = "rows", threads = 256 : i64, lanes = 256 : i64, width = 1 : i64, chunks = 0 : i64, blocks = 1 : i64, rows = 1 : i64, shared = 0 : i64}} {
  %rows = arith.index_cast %n : i64 to index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 1000.0 : f32
  %e = tensor.empty(%rows) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%sum : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.divf %a, %count : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  %spread = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %mean : tensor<?x?xf32>, tensor<?xf32>) outs(%none : tensor<?xf32>) {
    ^bb0(%a: f32, %c: f32, %b: f32):
      %d = arith.subf %a, %c : f32
      %p = arith.mulf %d, %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  return %spread : tensor<?xf32>
}

// -----

// A mean and a variance down columns, with eight rows in flight.
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>

// CHECK-LABEL: .visible .entry columns(
// CHECK-COUNT-9: ld.global.nc.b32
// CHECK-NOT: ld.global.nc.b32
// CHECK: st.global
func.func @columns(%n: i64, %m: i64, %x: tensor<?x?xf32> {tenon.dims = array<i64: 0, 1>}) -> (tensor<?xf32> {tenon.dims = array<i64: 1>})
    attributes {tenon.strategy = {name = "columns", threads = 256 : i64, across = 32 : i64, width = 1 : i64}} {
  %columns = arith.index_cast %m : i64 to index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 1000.0 : f32
  %e = tensor.empty(%columns) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%sum : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.divf %a, %count : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  %spread = linalg.generic {indexing_maps = [#all, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %mean : tensor<?x?xf32>, tensor<?xf32>) outs(%none : tensor<?xf32>) {
    ^bb0(%a: f32, %c: f32, %b: f32):
      %d = arith.subf %a, %c : f32
      %p = arith.mulf %d, %d : f32
      %r = arith.addf %b, %p : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  return %spread : tensor<?xf32>
}
