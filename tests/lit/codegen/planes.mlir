// A convolution of each channel for itself whose channels come first: a block brings a run of whole planes, which begins at a
// vector whatever rows do, and its results leave as such a run.
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels --iree-hal-dump-executable-sources-to=%t.sources
// RUN: cat %t.sources/*.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.kernels/each_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=OLD --input-file=%t.kernels/each_dispatch_0_sm_75.ptx
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t.tenon --device=emulator --function=few \
// RUN:   --input=1x5x3x3xf32=1 --input=5x3x3xf32=1 \
// RUN:   --expected_output="1x5x3x3xf32=[[[[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]]]]"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t.tenon --device=emulator --function=part \
// RUN:   --input=3x5x3x3xf32=1 --input=5x3x3xf32=1 \
// RUN:   --expected_output="1x5x3x3xf32=[[[[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]] [[4 6 4] [6 9 6] [4 6 4]]]]"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t.tenon --device=emulator --function=any --input=0x64x14x14xbf16 \
// RUN:   --input=64x3x3xbf16=1 --expected_output="0x64x14x14xbf16"

// Of any number of images.
// CHECK: func.func @any_dispatch_0
// CHECK-SAME: tenon.strategy = {lines = {{[0-9]+}} : i64, name = "planes", run = {{[0-9]+}} : i64
// CHECK: func.func @each_dispatch_0
// CHECK-SAME: tenon.strategy = {{.*}}name = "planes"
// What else is read for each place of a result does not lie in planes that a block brings.
// CHECK: func.func @plus_dispatch_0
// CHECK-SAME: tenon.strategy = {{.*}}name = "windows"

// Filters are there when the image is.
// PTX: cp.async.cg.shared.global
// PTX: ld.global.nc.b16
// PTX: cp.async.wait_group
// PTX: bar.sync
// PTX: ld.shared
// PTX: fma.rn.f32
// PTX: bar.sync
// PTX: st.global.v4.b32
// OLD-NOT: cp.async
// OLD: st.shared.v4.b32
func.func @each(%x: tensor<32x576x14x14xbf16>, %w: tensor<576x3x3xbf16>) -> tensor<32x576x14x14xbf16> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %v: index):
    tensor.yield %zero : bf16
  } : tensor<32x576x14x14xbf16> to tensor<32x576x16x16xbf16>
  %e = tensor.empty() : tensor<32x576x14x14xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<32x576x14x14xf32>) -> tensor<32x576x14x14xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, c, y, x, r, s) -> (n, c, y + r, x + s)>, affine_map<(n, c, y, x, r, s) -> (c, r, s)>,
      affine_map<(n, c, y, x, r, s) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<32x576x16x16xbf16>, tensor<576x3x3xbf16>) outs(%start : tensor<32x576x14x14xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %sum, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x576x14x14xf32>
  %r = arith.truncf %s : tensor<32x576x14x14xf32> to tensor<32x576x14x14xbf16>
  return %r : tensor<32x576x14x14xbf16>
}

func.func @any(%x: tensor<?x64x14x14xbf16>, %w: tensor<64x3x3xbf16>) -> tensor<?x64x14x14xbf16> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %images = tensor.dim %x, %c0 : tensor<?x64x14x14xbf16>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %v: index):
    tensor.yield %zero : bf16
  } : tensor<?x64x14x14xbf16> to tensor<?x64x16x16xbf16>
  %e = tensor.empty(%images) : tensor<?x64x14x14xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<?x64x14x14xf32>) -> tensor<?x64x14x14xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, c, y, x, r, s) -> (n, c, y + r, x + s)>, affine_map<(n, c, y, x, r, s) -> (c, r, s)>,
      affine_map<(n, c, y, x, r, s) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<?x64x16x16xbf16>, tensor<64x3x3xbf16>) outs(%start : tensor<?x64x14x14xf32>) attrs = {tenon.tile = {by = "planes"}} {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %sum, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x64x14x14xf32>
  %r = arith.truncf %s : tensor<?x64x14x14xf32> to tensor<?x64x14x14xbf16>
  return %r : tensor<?x64x14x14xbf16>
}

func.func @few(%x: tensor<1x5x3x3xf32>, %w: tensor<5x3x3xf32>) -> tensor<1x5x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %v: index):
    tensor.yield %zero : f32
  } : tensor<1x5x3x3xf32> to tensor<1x5x5x5xf32>
  %e = tensor.empty() : tensor<1x5x3x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x3x3xf32>) -> tensor<1x5x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, y, x, r, s) -> (n, c, y + r, x + s)>, affine_map<(n, c, y, x, r, s) -> (c, r, s)>,
      affine_map<(n, c, y, x, r, s) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<1x5x5x5xf32>, tensor<5x3x3xf32>) outs(%start : tensor<1x5x3x3xf32>) attrs = {tenon.tile = {by = "planes"}} {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %sum, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x5x3x3xf32>
  return %r : tensor<1x5x3x3xf32>
}

// The second of three images begins at no vector: elements come one by one.
func.func @part(%all: tensor<3x5x3x3xf32>, %w: tensor<5x3x3xf32>) -> tensor<1x5x3x3xf32> {
  %x = tensor.extract_slice %all[1, 0, 0, 0] [1, 5, 3, 3] [1, 1, 1, 1] : tensor<3x5x3x3xf32> to tensor<1x5x3x3xf32>
  %r = func.call @few(%x, %w) : (tensor<1x5x3x3xf32>, tensor<5x3x3xf32>) -> tensor<1x5x3x3xf32>
  return %r : tensor<1x5x3x3xf32>
}

func.func @plus(%x: tensor<32x64x16x16xf32>, %w: tensor<64x3x3xf32>, %y: tensor<32x64x14x14xf32>) -> tensor<32x64x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64x14x14xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64x14x14xf32>) -> tensor<32x64x14x14xf32>
  %s = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<32x64x16x16xf32>, tensor<64x3x3xf32>) outs(%start : tensor<32x64x14x14xf32>) -> tensor<32x64x14x14xf32>
  %r = arith.addf %s, %y : tensor<32x64x14x14xf32>
  return %r : tensor<32x64x14x14xf32>
}
