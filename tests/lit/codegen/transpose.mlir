// What is read along another axis than it is written goes through shared memory, in whole vectors on both sides.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=WORD --input-file=%t/word_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=HALF --input-file=%t/half_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=RAGGED --input-file=%t/ragged_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=READ-WORDS --input-file=%t/from_words_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=WRITE-WORDS --input-file=%t/to_words_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=FUSED --input-file=%t/fused_dispatch_0_sm_80.ptx

// 64 x 64 of 4 bytes: 4 x 4 a thread, or, where bases are not aligned, an element at a time.
// CHECK-LABEL: hal.executable.source private @word_dispatch_0
// CHECK: tenon.strategy = {name = "transpose", read = 64 : i64, threads = 256 : i64, width = 4 : i64, written = 64 : i64}
// WORD: .shared .align 16 .b8 {{.*}}[16384]
// WORD-COUNT-4: ld.global.nc.v4.b32
// WORD-COUNT-4: st.shared.v4.b32
// WORD: bar.sync
// WORD-COUNT-4: ld.shared.v4.b32
// WORD-COUNT-4: st.global.v4.b32
func.func @word(%x: tensor<1024x2048xf32>) -> tensor<2048x1024xf32> {
  %e = tensor.empty() : tensor<2048x1024xf32>
  %r = linalg.transpose ins(%x : tensor<1024x2048xf32>) outs(%e : tensor<2048x1024xf32>) permutation = [1, 0]
  return %r : tensor<2048x1024xf32>
}

// 128 x 128 of 2 bytes, 8 x 8 a thread.
// CHECK-LABEL: hal.executable.source private @half_dispatch_0
// CHECK: tenon.strategy = {name = "transpose", read = 128 : i64, threads = 256 : i64, width = 8 : i64, written = 128 : i64}
// HALF: .shared .align 16 .b8 {{.*}}[32768]
// HALF-COUNT-8: ld.global.nc.v4.b32
// HALF-COUNT-8: st.shared.v4.b32
// HALF-COUNT-8: ld.shared.v4.b32
// HALF-COUNT-8: st.global.v4.b32
func.func @half(%x: tensor<2048x4096xbf16>) -> tensor<4096x2048xbf16> {
  %e = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.transpose ins(%x : tensor<2048x4096xbf16>) outs(%e : tensor<4096x2048xbf16>) permutation = [1, 0]
  return %r : tensor<4096x2048xbf16>
}

// Of a small one, smaller tiles for more blocks.
// CHECK-LABEL: hal.executable.source private @small_dispatch_0
// CHECK: tenon.strategy = {name = "transpose", read = 64 : i64, threads = 64 : i64, width = 8 : i64, written = 16 : i64}
func.func @small(%x: tensor<16x1024xbf16>) -> tensor<1024x16xbf16> {
  %e = tensor.empty() : tensor<1024x16xbf16>
  %r = linalg.transpose ins(%x : tensor<16x1024xbf16>) outs(%e : tensor<1024x16xbf16>) permutation = [1, 0]
  return %r : tensor<1024x16xbf16>
}

// Rows that start anywhere: of each of 8 rows, both vectors of 8 bytes that hold 4 elements, out of which these are
// shifted. At the ends of the tensor, an element at a time.
// RAGGED: shf.r.wrap.b32
// RAGGED-COUNT-4: st.shared.v4.b32
// RAGGED-COUNT-32: ld.global.nc.b16
// RAGGED-COUNT-4: st.shared.v4.b32
func.func @ragged(%x: tensor<2048x4095xbf16>) -> tensor<4095x2048xbf16> {
  %e = tensor.empty() : tensor<4095x2048xbf16>
  %r = linalg.transpose ins(%x : tensor<2048x4095xbf16>) outs(%e : tensor<4095x2048xbf16>) permutation = [1, 0]
  return %r : tensor<4095x2048xbf16>
}

// Rows that are a multiple of a word long, but of no vector, are read and written in words.
// READ-WORDS-COUNT-8: ld.global.nc.v2.b16
// READ-WORDS: bar.sync
func.func @from_words(%x: tensor<4096x250xbf16>) -> tensor<250x4096xbf16> {
  %e = tensor.empty() : tensor<250x4096xbf16>
  %r = linalg.transpose ins(%x : tensor<4096x250xbf16>) outs(%e : tensor<250x4096xbf16>) permutation = [1, 0]
  return %r : tensor<250x4096xbf16>
}
// WRITE-WORDS: bar.sync
// WRITE-WORDS-COUNT-8: ld.shared.b32
// WRITE-WORDS-COUNT-8: st.global.b32
func.func @to_words(%x: tensor<250x4096xbf16>) -> tensor<4096x250xbf16> {
  %e = tensor.empty() : tensor<4096x250xbf16>
  %r = linalg.transpose ins(%x : tensor<250x4096xbf16>) outs(%e : tensor<4096x250xbf16>) permutation = [1, 0]
  return %r : tensor<4096x250xbf16>
}

// Height and width are one axis of 3136: 13 tiles of 256 of it, times the 16 channels.
// CHECK-LABEL: hal.executable.source private @channels_last_dispatch_0
// CHECK: arith.constant 832 : index
// CHECK: tenon.strategy = {name = "transpose", read = 256 : i64, threads = 256 : i64, width = 4 : i64, written = 16 : i64}
func.func @channels_last(%x: tensor<64x16x56x56xf32>) -> tensor<64x56x56x16xf32> {
  %e = tensor.empty() : tensor<64x56x56x16xf32>
  %r = linalg.transpose ins(%x : tensor<64x16x56x56xf32>) outs(%e : tensor<64x56x56x16xf32>) permutation = [0, 2, 3, 1]
  return %r : tensor<64x56x56x16xf32>
}

// What lies along the result's rows is read from where it is.
// CHECK-LABEL: hal.executable.source private @fused_dispatch_0
// CHECK: tenon.strategy = {name = "transpose"
// FUSED-COUNT-1: .shared .align 16
// FUSED: bar.sync
// FUSED: ld.global.nc.v4.b32
// FUSED: add.rn.f32
// FUSED: st.global.v4.b32
func.func @fused(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Three channels would leave most of a tile empty; what comes with its rows whole is no transpose.
// CHECK-LABEL: hal.executable.source private @colours_dispatch_0
// CHECK: tenon.strategy = {apart = 4 : i64, name = "elementwise"
func.func @colours(%x: tensor<64x3x224x224xf32>) -> tensor<64x224x224x3xf32> {
  %e = tensor.empty() : tensor<64x224x224x3xf32>
  %r = linalg.transpose ins(%x : tensor<64x3x224x224xf32>) outs(%e : tensor<64x224x224x3xf32>) permutation = [0, 2, 3, 1]
  return %r : tensor<64x224x224x3xf32>
}
// Where they come last, a thread has three vectors, from end to end, and turns them in registers.
// CHECK-LABEL: hal.executable.source private @colours_last_dispatch_0
// CHECK: tenon.strategy = {name = "short_turns", threads = 128 : i64, width = 4 : i64}
func.func @colours_last(%x: tensor<64x224x224x3xf32>) -> tensor<64x3x224x224xf32> {
  %e = tensor.empty() : tensor<64x3x224x224xf32>
  %r = linalg.transpose ins(%x : tensor<64x224x224x3xf32>) outs(%e : tensor<64x3x224x224xf32>) permutation = [0, 3, 1, 2]
  return %r : tensor<64x3x224x224xf32>
}
// CHECK-LABEL: hal.executable.source private @heads_dispatch_0
// CHECK: tenon.strategy = {name = "elementwise"
func.func @heads(%x: tensor<64x16x128xf32>) -> tensor<16x64x128xf32> {
  %e = tensor.empty() : tensor<16x64x128xf32>
  %r = linalg.transpose ins(%x : tensor<64x16x128xf32>) outs(%e : tensor<16x64x128xf32>) permutation = [1, 0, 2]
  return %r : tensor<16x64x128xf32>
}
