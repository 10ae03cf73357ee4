// What importers write around the layers of a net is no kernel of its own: weights that are turned and repeated for each
// input, queries, keys and values out of one product, the average of a whole image.
// RUN: tenon-compile %s --target=sm_90a --images=ptx --print-dispatches -o %t.tenon 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck %s --check-prefix=TURNED < %t.remarks
// RUN: tenon-run %t.tenon --device=emulator --function=layer --input=2x3x5x64xbf16=1 --input=128x64xbf16=2 | FileCheck %s --check-prefix=LAYER
// RUN: tenon-run %t.tenon --device=emulator --function=packed --input=1x64x3x2x64xbf16=1 --input=1x64x64xi1=0 | FileCheck %s --check-prefix=HIDDEN
// RUN: tenon-run %t.tenon --device=emulator --function=packed --input=1x64x3x2x64xbf16=3 --input=1x64x64xi1=1 | FileCheck %s --check-prefix=SEEN
// RUN: tenon-run %t.tenon --device=emulator --function=counted --input=2x3x6x6xbf16=4 | FileCheck %s --check-prefix=COUNTED
// RUN: tenon-run %t.tenon --device=emulator --function=average --input=2x3x6x6xf32=36 | FileCheck %s --check-prefix=AVERAGE
// RUN: tenon-run %t.tenon --device=emulator --function=groups --input=1x16x4x4xbf16=1 --input=16x8x3x3xbf16=1 --input=16xbf16=-32 | FileCheck %s --check-prefix=GROUPS

// CHECK: kernel 'layer_dispatch_0' ends here: 2 operations
// CHECK-NOT: layer_dispatch_1
// TURNED: contraction '6x5x128x64 pppr: bf16(d0, d1, d3), bf16(d2, d3)
// LAYER: 2x3x5x128xbf16=
// LAYER-SAME: [128 128
func.func @layer(%x: tensor<2x3x5x64xbf16>, %w: tensor<128x64xbf16>) -> tensor<2x3x5x128xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xbf16>
  %t = linalg.transpose ins(%w : tensor<128x64xbf16>) outs(%e : tensor<64x128xbf16>) permutation = [1, 0]
  %e4 = tensor.empty() : tensor<2x3x64x128xbf16>
  %w4 = linalg.broadcast ins(%t : tensor<64x128xbf16>) outs(%e4 : tensor<2x3x64x128xbf16>) dimensions = [0, 1]
  %a = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x3x5x64xbf16> into tensor<6x5x64xbf16>
  %b = tensor.collapse_shape %w4 [[0, 1], [2], [3]] : tensor<2x3x64x128xbf16> into tensor<6x64x128xbf16>
  %e5 = tensor.empty() : tensor<6x5x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e5 : tensor<6x5x128xf32>) -> tensor<6x5x128xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<6x5x64xbf16>, tensor<6x64x128xbf16>) outs(%f : tensor<6x5x128xf32>) -> tensor<6x5x128xf32>
  %e6 = tensor.empty() : tensor<6x5x128xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<6x5x128xf32>) outs(%e6 : tensor<6x5x128xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %y = arith.truncf %in : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<6x5x128xbf16>
  %o = tensor.expand_shape %n [[0, 1], [2], [3]] output_shape [2, 3, 5, 128] : tensor<6x5x128xbf16> into tensor<2x3x5x128xbf16>
  return %o : tensor<2x3x5x128xbf16>
}

#q = affine_map<(b, m, n, k1, k2) -> (b, m, k1)>
#k = affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>
#v = affine_map<(b, m, n, k1, k2) -> (b, k2, n)>
#s = affine_map<(b, m, n, k1, k2) -> ()>
#m = affine_map<(b, m, n, k1, k2) -> (b, m, k2)>
#o = affine_map<(b, m, n, k1, k2) -> (b, m, n)>

// CHECK: kernel 'packed_dispatch_{{[0-3]}}' ends here: 4 operations
// CHECK-NOT: packed_dispatch_4
// HIDDEN: [0 0
// SEEN: [3 3
func.func @packed(%qkv: tensor<1x64x3x2x64xbf16>, %mask: tensor<1x64x64xi1>) -> tensor<2x64x64xbf16> {
  %c = arith.constant 0.125 : bf16
  %q5 = tensor.extract_slice %qkv[0, 0, 0, 0, 0] [1, 64, 1, 2, 64] [1, 1, 1, 1, 1] : tensor<1x64x3x2x64xbf16> to tensor<1x64x1x2x64xbf16>
  %q4 = tensor.collapse_shape %q5 [[0], [1, 2], [3], [4]] : tensor<1x64x1x2x64xbf16> into tensor<1x64x2x64xbf16>
  %k5 = tensor.extract_slice %qkv[0, 0, 1, 0, 0] [1, 64, 1, 2, 64] [1, 1, 1, 1, 1] : tensor<1x64x3x2x64xbf16> to tensor<1x64x1x2x64xbf16>
  %k4 = tensor.collapse_shape %k5 [[0], [1, 2], [3], [4]] : tensor<1x64x1x2x64xbf16> into tensor<1x64x2x64xbf16>
  %v5 = tensor.extract_slice %qkv[0, 0, 2, 0, 0] [1, 64, 1, 2, 64] [1, 1, 1, 1, 1] : tensor<1x64x3x2x64xbf16> to tensor<1x64x1x2x64xbf16>
  %v4 = tensor.collapse_shape %v5 [[0], [1, 2], [3], [4]] : tensor<1x64x1x2x64xbf16> into tensor<1x64x2x64xbf16>
  %e4 = tensor.empty() : tensor<1x2x64x64xbf16>
  %qt = linalg.transpose ins(%q4 : tensor<1x64x2x64xbf16>) outs(%e4 : tensor<1x2x64x64xbf16>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k4 : tensor<1x64x2x64xbf16>) outs(%e4 : tensor<1x2x64x64xbf16>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v4 : tensor<1x64x2x64xbf16>) outs(%e4 : tensor<1x2x64x64xbf16>) permutation = [0, 2, 1, 3]
  %em = tensor.empty() : tensor<1x2x64x64xi1>
  %m4 = linalg.broadcast ins(%mask : tensor<1x64x64xi1>) outs(%em : tensor<1x2x64x64xi1>) dimensions = [1]
  %qs = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
  %ks = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
  %vs = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
  %ms = tensor.collapse_shape %m4 [[0, 1], [2], [3]] : tensor<1x2x64x64xi1> into tensor<2x64x64xi1>
  %e = tensor.empty() : tensor<2x64x64xbf16>
  %r = iree_linalg_ext.attention {indexing_maps = [#q, #k, #v, #s, #m, #o]}
      ins(%qs, %ks, %vs, %c, %ms : tensor<2x64x64xbf16>, tensor<2x64x64xbf16>, tensor<2x64x64xbf16>, bf16, tensor<2x64x64xi1>)
      outs(%e : tensor<2x64x64xbf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x64x64xbf16>
  return %r : tensor<2x64x64xbf16>
}

// CHECK: kernel 'average_dispatch_0' ends here
// CHECK-NOT: average_dispatch_1
// AVERAGE: 2x3x1x1xf32={{.*}}36{{.*}}36
func.func @average(%x: tensor<2x3x6x6xf32>) -> tensor<2x3x1x1xf32> {
  %z = arith.constant 0.0 : f32
  %count = arith.constant 36.0 : f32
  %n = arith.constant 6 : index
  %window = tensor.empty() : tensor<6x6xi1>
  %e = tensor.empty() : tensor<2x3x1x1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %padded = tensor.pad %x low[0, 0, 0, 0] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<2x3x6x6xf32> to tensor<2x3x7x7xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, i, j) -> (i, j)>, affine_map<(a, b, c, d, i, j) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%window : tensor<6x6xi1>) outs(%f : tensor<2x3x1x1xf32>) {
  ^bb0(%w: i1, %o: f32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %i = linalg.index 4 : index
    %j = linalg.index 5 : index
    %v = tensor.extract %padded[%a, %b, %i, %j] : tensor<2x3x7x7xf32>
    %p = arith.cmpi ult, %i, %n : index
    %q = arith.select %p, %v, %z : f32
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<2x3x1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x3x1x1xf32>) outs(%e : tensor<2x3x1x1xf32>) {
  ^bb0(%in: f32, %o: f32):
    %v = arith.divf %in, %count : f32
    linalg.yield %v : f32
  } -> tensor<2x3x1x1xf32>
  return %r : tensor<2x3x1x1xf32>
}

// The average comes with how many elements it is of, as a tensor, and keeps the dimensions that it was taken over.
// CHECK: kernel 'counted_dispatch_0' ends here: 2 operations
// CHECK-NOT: counted_dispatch_1
// COUNTED: 2x3x1x1xbf16={{.*}}4{{.*}}4
func.func @counted(%x: tensor<2x3x6x6xbf16>) -> tensor<2x3x1x1xbf16> {
  %z = arith.constant 0.0 : bf16
  %count = arith.constant 36.0 : bf16
  %window = tensor.empty() : tensor<6x6xi1>
  %c = tensor.empty() : tensor<1x1xbf16>
  %e = tensor.empty() : tensor<2x3x1x1xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<2x3x1x1xbf16>) -> tensor<2x3x1x1xbf16>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, i, j) -> (i, j)>, affine_map<(a, b, c, d, i, j) -> (a, b, c, d)>,
                                          affine_map<(a, b, c, d, i, j) -> (c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%window : tensor<6x6xi1>) outs(%f, %c : tensor<2x3x1x1xbf16>, tensor<1x1xbf16>) {
  ^bb0(%w: i1, %o: bf16, %n: bf16):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %i = linalg.index 4 : index
    %j = linalg.index 5 : index
    %v = tensor.extract %x[%a, %b, %i, %j] : tensor<2x3x6x6xbf16>
    %t = arith.addf %v, %o : bf16
    linalg.yield %t, %count : bf16, bf16
  } -> (tensor<2x3x1x1xbf16>, tensor<1x1xbf16>)
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s#1 : tensor<1x1xbf16>) outs(%s#0 : tensor<2x3x1x1xbf16>) {
  ^bb0(%in: bf16, %o: bf16):
    %v = arith.divf %o, %in : bf16
    linalg.yield %v : bf16
  } -> tensor<2x3x1x1xbf16>
  return %r : tensor<2x3x1x1xbf16>
}

// A sum over one element is no sum any more, and what it started from is read like anything else.
// RUN: tenon-run %t.tenon --device=emulator --function=one --input=1x1xf32=3 | FileCheck %s --check-prefix=ONE
// ONE: 1x1xf32=[0]
func.func @one(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x1xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<1xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1xf32>
  %q = tensor.empty() : tensor<1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<1x1xf32>, tensor<1xf32>) outs(%q : tensor<1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// A convolution in groups: the image gets them behind its border, and loses them in front of the norm. Corners of 4 x 4
// places meet 4 elements of 8 channels, sides 6, others 9.
// CHECK: kernel 'groups_dispatch_0' ends here: 2 operations
// CHECK-NOT: groups_dispatch_1
// GROUPS: 1x16x4x4xbf16=
// GROUPS-SAME: [0 16 16 0][16 40 40 16][16 40 40 16][0 16 16 0]
func.func @groups(%x: tensor<1x16x4x4xbf16>, %w: tensor<16x8x3x3xbf16>, %b: tensor<16xbf16>) -> tensor<1x16x4x4xbf16> {
  %z = arith.constant 0.0 : f32
  %o = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %y: index, %s: index):
    tensor.yield %o : bf16
  } : tensor<1x16x4x4xbf16> to tensor<1x16x6x6xbf16>
  %g = tensor.expand_shape %p [[0], [1, 2], [3], [4]] output_shape [1, 2, 8, 6, 6] : tensor<1x16x6x6xbf16> into tensor<1x2x8x6x6xbf16>
  %f = tensor.expand_shape %w [[0, 1], [2], [3], [4]] output_shape [2, 8, 8, 3, 3] : tensor<16x8x3x3xbf16> into tensor<2x8x8x3x3xbf16>
  %e = tensor.empty() : tensor<1x2x8x4x4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x8x4x4xf32>) -> tensor<1x2x8x4x4xf32>
  %r = linalg.conv_2d_ngchw_gfchw ins(%g, %f : tensor<1x2x8x6x6xbf16>, tensor<2x8x8x3x3xbf16>) outs(%i : tensor<1x2x8x4x4xf32>) -> tensor<1x2x8x4x4xf32>
  %m = tensor.collapse_shape %r [[0], [1, 2], [3], [4]] : tensor<1x2x8x4x4xf32> into tensor<1x16x4x4xf32>
  %e4 = tensor.empty() : tensor<1x16x4x4xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(n, c, y, s) -> (n, c, y, s)>, affine_map<(n, c, y, s) -> (c)>,
      affine_map<(n, c, y, s) -> (n, c, y, s)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%m, %b : tensor<1x16x4x4xf32>, tensor<16xbf16>) outs(%e4 : tensor<1x16x4x4xbf16>) {
  ^bb0(%in: f32, %bias: bf16, %out: bf16):
    %1 = arith.extf %bias : bf16 to f32
    %2 = arith.addf %in, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<1x16x4x4xbf16>
  return %v : tensor<1x16x4x4xbf16>
}
