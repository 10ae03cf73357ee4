// Slices, concatenations, pads and gathers of rows are read 16 bytes at a time, where those are aligned when the kernel
// runs; where they are not, and where a vector straddles a boundary, one element at a time.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=CONCAT --input-file=%t/concat_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=SLICE --input-file=%t/slice_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=PAD --input-file=%t/pad_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t/rows_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=RAGGED --input-file=%t/ragged_dispatch_0_sm_80.ptx

// Each part where all lanes lie in it.
// CONCAT-COUNT-2: ld.global.nc.v4.b32
// CONCAT: st.global.v4.b32
func.func @concat(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// SLICE-DAG: ld.global.nc.v4.b32
// SLICE-DAG: ld.global.nc.b32
// SLICE: st.global.v4.b32
func.func @slice(%a: tensor<300x200xf32>) -> tensor<300x128xf32> {
  %0 = tensor.extract_slice %a[0, 7] [300, 128] [1, 1] : tensor<300x200xf32> to tensor<300x128xf32>
  return %0 : tensor<300x128xf32>
}

// PAD: ld.global.nc.v4.b32
// PAD: st.global.v4.b32
func.func @pad(%a: tensor<?x?xf32>, %low: index) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %0 = tensor.pad %a low[0, %low] high[0, 3] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// ROWS: ld.global.nc.v4.b32
// ROWS: st.global.v4.b32
func.func @rows(%table: tensor<5000x1024xf16>, %at: tensor<64xi64>) -> tensor<64x1024xf16> {
  %e = tensor.empty() : tensor<64x1024xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<64xi64>) outs(%e : tensor<64x1024xf16>) {
    ^bb0(%n: i64, %o: f16):
      %i = arith.index_cast %n : i64 to index
      %j = linalg.index 1 : index
      %x = tensor.extract %table[%i, %j] : tensor<5000x1024xf16>
      linalg.yield %x : f16
  } -> tensor<64x1024xf16>
  return %0 : tensor<64x1024xf16>
}

// Rows of 1001: the vectors are those of the whole result, and the bias under one of them starts anywhere.
// RAGGED-DAG: ld.global.nc.v4.b32
// RAGGED-DAG: ld.global.nc.v4.b32
// RAGGED: st.global.v4.b32
func.func @ragged(%a: tensor<300x1001xf32>, %bias: tensor<1001xf32>) -> tensor<300x1001xf32> {
  %e = tensor.empty() : tensor<300x1001xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %bias : tensor<300x1001xf32>, tensor<1001xf32>) outs(%e : tensor<300x1001xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<300x1001xf32>
  return %0 : tensor<300x1001xf32>
}
