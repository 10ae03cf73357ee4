// Blocks may be written in any order. They are put into one in which a block stands behind all that must run before it:
// filters that are turned in a later block than the convolution that reads them were looked at once they were gone.
// RUN: tenon-opt --tenon-lower-control-flow %s | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --function=f --input=1x64x18x18xf16=1 --input=64x64x3x3xf16=2 --input=1 --input=1 --expected_output=1x64x16x16xf32=1152
// RUN: tenon-run %t.tenon --function=f --input=1x64x18x18xf16=1 --input=64x64x3x3xf16=2 --input=1 --input=0 --expected_output=1x64x16x16xf32=0
// RUN: tenon-run %t.tenon --function=f --input=1x64x18x18xf16=1 --input=64x64x3x3xf16=2 --input=0 --input=1 --expected_output=1x64x16x16xf32=0

// CHECK-LABEL: func.func @f
// CHECK:       cf.cond_br %{{.*}}, ^[[TURN:bb[0-9]+]], ^[[NONE:bb[0-9]+]]
// CHECK:       ^[[TURN]]:
// CHECK:       linalg.generic
// CHECK:       cf.cond_br %{{.*}}, ^[[SUM:bb[0-9]+]], ^[[NONE]]
// CHECK:       ^[[SUM]]:
// CHECK:       linalg.generic
func.func @f(%image: tensor<1x64x18x18xf16>, %filters: tensor<64x64x3x3xf16>, %c: i1, %d: i1) -> tensor<1x64x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  cf.cond_br %c, ^turn, ^none
^sum:
  %sum = linalg.generic {
    indexing_maps = [affine_map<(n, f, y, x, c, v, u) -> (n, c, y + v, x + u)>,
                     affine_map<(n, f, y, x, c, v, u) -> (c, f, v, u)>,
                     affine_map<(n, f, y, x, c, v, u) -> (n, f, y, x)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%image, %turned : tensor<1x64x18x18xf16>, tensor<64x64x3x3xf16>) outs(%start : tensor<1x64x16x16xf32>) {
  ^bb0(%a: f16, %b: f16, %before: f32):
    %wide = arith.extf %a : f16 to f32
    %by = arith.extf %b : f16 to f32
    %product = arith.mulf %wide, %by : f32
    %after = arith.addf %before, %product : f32
    linalg.yield %after : f32
  } -> tensor<1x64x16x16xf32>
  cf.br ^end(%sum : tensor<1x64x16x16xf32>)
^turn:
  %room = tensor.empty() : tensor<64x64x3x3xf16>
  %turned = linalg.generic {
    indexing_maps = [affine_map<(c, f, v, u) -> (c, f, 2 - v, 2 - u)>, affine_map<(c, f, v, u) -> (c, f, v, u)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%filters : tensor<64x64x3x3xf16>) outs(%room : tensor<64x64x3x3xf16>) {
  ^bb0(%a: f16, %before: f16):
    linalg.yield %a : f16
  } -> tensor<64x64x3x3xf16>
  cf.cond_br %d, ^sum, ^none
^none:
  cf.br ^end(%start : tensor<1x64x16x16xf32>)
^end(%result: tensor<1x64x16x16xf32>):
  return %result : tensor<1x64x16x16xf32>
}
