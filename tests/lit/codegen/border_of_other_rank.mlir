// A border around an image that has no dimension of batches: what is turned is the border, and not the image. With more filters than
// places (patches in the order of the filters), and with fewer (channels last).
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon

// RUN: tenon-run %t.tenon --device=emulator --function=patches --input=128x8x6xbf16=1 --input=256x128x3x3xbf16=1 --output=- | FileCheck %s --check-prefix=PATCHES
// PATCHES: 1x256x8x6xf32={{\[\[\[}}512 768 768 768 768 512]
func.func @patches(%image: tensor<128x8x6xbf16>, %filters: tensor<256x128x3x3xbf16>) -> tensor<1x256x8x6xf32> {
  %none = arith.constant 0.0 : bf16
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<1x128x10x8xbf16>
  %border = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%room : tensor<1x128x10x8xbf16>) {
  ^bb0(%old: bf16):
    %one = arith.constant 1 : index
    %first = arith.constant 0 : index
    %rows = arith.constant 8 : index
    %columns = arith.constant 6 : index
    %lowest = arith.constant 7 : index
    %last = arith.constant 5 : index
    %c = linalg.index 1 : index
    %row = linalg.index 2 : index
    %column = linalg.index 3 : index
    %y = arith.subi %row, %one : index
    %x = arith.subi %column, %one : index
    %above = arith.minsi %y, %lowest : index
    %yInside = arith.maxsi %above, %first : index
    %before = arith.minsi %x, %last : index
    %xInside = arith.maxsi %before, %first : index
    %isRow = arith.cmpi ult, %y, %rows : index
    %isColumn = arith.cmpi ult, %x, %columns : index
    %isInside = arith.andi %isRow, %isColumn : i1
    %element = tensor.extract %image[%c, %yInside, %xInside] : tensor<128x8x6xbf16>
    %value = arith.select %isInside, %element, %none : bf16
    linalg.yield %value : bf16
  } -> tensor<1x128x10x8xbf16>
  %empty = tensor.empty() : tensor<1x256x8x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x256x8x6xf32>) -> tensor<1x256x8x6xf32>
  %result = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%border, %filters : tensor<1x128x10x8xbf16>, tensor<256x128x3x3xbf16>) outs(%start : tensor<1x256x8x6xf32>) -> tensor<1x256x8x6xf32>
  return %result : tensor<1x256x8x6xf32>
}

// RUN: tenon-run %t.tenon --device=emulator --function=turned --input=128x16x18xbf16=1 --input=64x128x3x3xbf16=1 --output=- | FileCheck %s --check-prefix=TURNED
// TURNED: 1x64x16x18xf32={{\[\[\[}}512 768 768 768 768 768 768 768 768 768 768 768 768 768 768 768 768 512]
func.func @turned(%image: tensor<128x16x18xbf16>, %filters: tensor<64x128x3x3xbf16>) -> tensor<1x64x16x18xf32> {
  %none = arith.constant 0.0 : bf16
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<1x128x18x20xbf16>
  %border = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%room : tensor<1x128x18x20xbf16>) {
  ^bb0(%old: bf16):
    %one = arith.constant 1 : index
    %first = arith.constant 0 : index
    %rows = arith.constant 16 : index
    %columns = arith.constant 18 : index
    %lowest = arith.constant 15 : index
    %last = arith.constant 17 : index
    %c = linalg.index 1 : index
    %row = linalg.index 2 : index
    %column = linalg.index 3 : index
    %y = arith.subi %row, %one : index
    %x = arith.subi %column, %one : index
    %above = arith.minsi %y, %lowest : index
    %yInside = arith.maxsi %above, %first : index
    %before = arith.minsi %x, %last : index
    %xInside = arith.maxsi %before, %first : index
    %isRow = arith.cmpi ult, %y, %rows : index
    %isColumn = arith.cmpi ult, %x, %columns : index
    %isInside = arith.andi %isRow, %isColumn : i1
    %element = tensor.extract %image[%c, %yInside, %xInside] : tensor<128x16x18xbf16>
    %value = arith.select %isInside, %element, %none : bf16
    linalg.yield %value : bf16
  } -> tensor<1x128x18x20xbf16>
  %empty = tensor.empty() : tensor<1x64x16x18xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x16x18xf32>) -> tensor<1x64x16x18xf32>
  %result = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%border, %filters : tensor<1x128x18x20xbf16>, tensor<64x128x3x3xbf16>) outs(%start : tensor<1x64x16x18xf32>) -> tensor<1x64x16x18xf32>
  return %result : tensor<1x64x16x18xf32>
}
