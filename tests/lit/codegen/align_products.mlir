// Large products read copies of operands whose rows do not begin at multiples of 16 bytes.
// RUN: tenon-opt %s --tenon-find-attention --tenon-align-products | FileCheck %s

// Rows of 1023 elements along the sum: zeros behind them, in both operands.
// CHECK-LABEL: func.func @ragged_sum
// CHECK: %[[A:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<512x1024xbf16>)
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[J]], %c1023
// CHECK: %[[AT:.*]] = arith.minsi %[[J]], %c1022
// CHECK: %[[READ:.*]] = tensor.extract %arg0[%{{.*}}, %[[AT]]]
// CHECK: arith.select %[[INSIDE]], %[[READ]], %{{.*}} : bf16
// CHECK: %[[B:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1024x512xbf16>)
// CHECK: linalg.matmul ins(%[[A]], %[[B]] : tensor<512x1024xbf16>, tensor<1024x512xbf16>) outs(%arg2
func.func @ragged_sum(%a: tensor<512x1023xbf16>, %b: tensor<1023x512xbf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<512x1023xbf16>, tensor<1023x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %p : tensor<512x512xf32>
}

// Rows of 513 columns: transposed, then they are as long as the sum.
// CHECK-LABEL: func.func @ragged_columns
// CHECK: %[[B:.*]] = linalg.transpose ins(%arg1 : tensor<1024x513xf16>) outs({{.*}} : tensor<513x1024xf16>) permutation = [1, 0]
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[B]] : tensor<512x1024xf16>, tensor<513x1024xf16>)
func.func @ragged_columns(%a: tensor<512x1024xf16>, %b: tensor<1024x513xf16>, %c: tensor<512x513xf32>) -> tensor<512x513xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<512x1024xf16>, tensor<1024x513xf16>) outs(%c : tensor<512x513xf32>) -> tensor<512x513xf32>
  return %p : tensor<512x513xf32>
}

// Exact f32 are brought one by one; where tiles are few, copies are short, and parts of longer rows are many.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: tensor<{{.*}}x1024xf32>
// CHECK: linalg.matmul ins(%arg0, %arg1 : tensor<2048x1023xf32>, tensor<1023x4096xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<72x4096xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4096x80xf32>)
func.func @exact(%a: tensor<2048x1023xf32>, %b: tensor<1023x4096xf32>, %c: tensor<2048x4096xf32>, %d: tensor<72x4095xf32>,
                 %e: tensor<4095x80xf32>, %f: tensor<72x80xf32>) -> (tensor<2048x4096xf32>, tensor<72x80xf32>) {
  %p = linalg.matmul ins(%a, %b : tensor<2048x1023xf32>, tensor<1023x4096xf32>) outs(%c : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %q = linalg.matmul ins(%d, %e : tensor<72x4095xf32>, tensor<4095x80xf32>) outs(%f : tensor<72x80xf32>) -> tensor<72x80xf32>
  return %p, %q : tensor<2048x4096xf32>, tensor<72x80xf32>
}

// Both, in a batch.
// CHECK-LABEL: func.func @batch
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4x512x512xbf16>)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<4x512x513xbf16>)
// CHECK: linalg.transpose ins(%[[B]] : tensor<4x512x513xbf16>) outs({{.*}} : tensor<4x513x512xbf16>) permutation = [0, 2, 1]
// CHECK: linalg.generic
func.func @batch(%a: tensor<4x512x511xbf16>, %b: tensor<4x511x513xbf16>, %c: tensor<4x512x513xf32>) -> tensor<4x512x513xf32> {
  %p = linalg.batch_matmul ins(%a, %b : tensor<4x512x511xbf16>, tensor<4x511x513xbf16>) outs(%c : tensor<4x512x513xf32>) -> tensor<4x512x513xf32>
  return %p : tensor<4x512x513xf32>
}

// So large a tensor is transposed first.
// CHECK-LABEL: func.func @large
// CHECK: %[[B:.*]] = linalg.transpose ins(%arg1 : tensor<8191x513xbf16>) outs({{.*}} : tensor<513x8191xbf16>) permutation = [1, 0]
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<513x8192xbf16>)
// CHECK: tensor.extract %[[B]]
func.func @large(%a: tensor<512x8191xbf16>, %b: tensor<8191x513xbf16>, %c: tensor<512x513xf32>) -> tensor<512x513xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<512x8191xbf16>, tensor<8191x513xbf16>) outs(%c : tensor<512x513xf32>) -> tensor<512x513xf32>
  return %p : tensor<512x513xf32>
}

// Rows of columns become wider where the operand has more elements than the result, and starts from one value; so does what is
// computed from each element behind. The copy is longer, too.
// CHECK-LABEL: func.func @wide_rows
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4032x72xf16>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<4032x208xf16>)
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<72x208xf32>)
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<72x208xf32>) outs({{.*}} : tensor<72x208xf16>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<70x201xf16>)
// CHECK: tensor.extract %[[Q]]
func.func @wide_rows(%a: tensor<4001x70xf16>, %b: tensor<4001x201xf16>) -> tensor<70x201xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x201xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70x201xf32>) -> tensor<70x201xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4001x70xf16>, tensor<4001x201xf16>) outs(%f : tensor<70x201xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %m = arith.mulf %v, %w : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<70x201xf32>
  %g = tensor.empty() : tensor<70x201xf16>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<70x201xf32>) outs(%g : tensor<70x201xf16>) {
  ^bb0(%x: f32, %o: f16):
    %r = arith.truncf %x : f32 to f16
    linalg.yield %r : f16
  } -> tensor<70x201xf16>
  return %q : tensor<70x201xf16>
}

// Fewer multiplications are enough where unaligned rows are long, and then they have as many elements more that they may be taken apart.
// CHECK-LABEL: func.func @long_rows
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<100x704xbf16>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<704x304xbf16>)
// CHECK: linalg.matmul
func.func @long_rows(%a: tensor<100x700xbf16>, %b: tensor<700x304xbf16>, %c: tensor<100x304xf32>) -> tensor<100x304xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<100x700xbf16>, tensor<700x304xbf16>) outs(%c : tensor<100x304xf32>) -> tensor<100x304xf32>
  return %p : tensor<100x304xf32>
}

// Tensor cores do not turn bytes.
// CHECK-LABEL: func.func @bytes
// CHECK: linalg.transpose ins(%arg1 : tensor<1024x512xi8>)
func.func @bytes(%a: tensor<512x1024xi8>, %b: tensor<1024x512xi8>, %c: tensor<512x512xi32>) -> tensor<512x512xi32> {
  %p = linalg.matmul ins(%a, %b : tensor<512x1024xi8>, tensor<1024x512xi8>) outs(%c : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %p : tensor<512x512xi32>
}

// Aligned, small, of few rows, of unknown sizes: as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tensor.extract
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @others(%a: tensor<512x1024xbf16>, %b: tensor<1024x512xbf16>, %c: tensor<512x512xf32>,
                  %d: tensor<100x101xbf16>, %e: tensor<101x100xbf16>, %f: tensor<100x100xf32>,
                  %g: tensor<16x4095xbf16>, %h: tensor<4095x4096xbf16>, %i: tensor<16x4096xf32>,
                  %j: tensor<?x4095xbf16>, %k: tensor<4095x4096xbf16>, %l: tensor<?x4096xf32>)
    -> (tensor<512x512xf32>, tensor<100x100xf32>, tensor<16x4096xf32>, tensor<?x4096xf32>) {
  %p = linalg.matmul ins(%a, %b : tensor<512x1024xbf16>, tensor<1024x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  %q = linalg.matmul ins(%d, %e : tensor<100x101xbf16>, tensor<101x100xbf16>) outs(%f : tensor<100x100xf32>) -> tensor<100x100xf32>
  %r = linalg.matmul ins(%g, %h : tensor<16x4095xbf16>, tensor<4095x4096xbf16>) outs(%i : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %s = linalg.matmul ins(%j, %k : tensor<?x4095xbf16>, tensor<4095x4096xbf16>) outs(%l : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %p, %q, %r, %s : tensor<512x512xf32>, tensor<100x100xf32>, tensor<16x4096xf32>, tensor<?x4096xf32>
}

// Attention's kernel reads its operands itself.
// CHECK-LABEL: func.func @attention
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @attention(%q: tensor<8x513x64xbf16>, %k: tensor<8x513x64xbf16>, %v: tensor<8x513x64xbf16>) -> tensor<8x513x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x513x513xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x513x513xf32>) -> tensor<8x513x513xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<8x513x64xbf16>, tensor<8x513x64xbf16>) outs(%f : tensor<8x513x513xf32>) -> tensor<8x513x513xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<8x513x513xf32>) outs(%e : tensor<8x513x513xf32>) -> tensor<8x513x513xf32>
  %b = tensor.empty() : tensor<8x513x513xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<8x513x513xf32>) outs(%b : tensor<8x513x513xbf16>) {
    ^bb0(%x: f32, %y: bf16):
      %t = arith.truncf %x : f32 to bf16
      linalg.yield %t : bf16
  } -> tensor<8x513x513xbf16>
  %oe = tensor.empty() : tensor<8x513x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x513x64xf32>) -> tensor<8x513x64xf32>
  %o = linalg.batch_matmul ins(%n, %v : tensor<8x513x513xbf16>, tensor<8x513x64xbf16>) outs(%of : tensor<8x513x64xf32>) -> tensor<8x513x64xf32>
  return %o : tensor<8x513x64xf32>
}

// A named window that no copy pays for is made generic, and is looked at once more as such.
// CHECK-LABEL: func.func @small_named_windows
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.conv
// CHECK: return
func.func @small_named_windows(%x: tensor<1x?x1xi8>, %f: tensor<2x1x8xi8>, %o: tensor<1x?x8xi32>,
                               %y: tensor<1x5x5x4xf32>, %g: tensor<3x3x4x8xf32>, %p: tensor<1x3x3x8xf32>)
    -> (tensor<1x?x8xi32>, tensor<1x3x3x8xf32>) {
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %f : tensor<1x?x1xi8>, tensor<2x1x8xi8>) outs(%o : tensor<1x?x8xi32>) -> tensor<1x?x8xi32>
  %1 = linalg.conv_2d_nhwc_hwcf ins(%y, %g : tensor<1x5x5x4xf32>, tensor<3x3x4x8xf32>) outs(%p : tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32>
  return %0, %1 : tensor<1x?x8xi32>, tensor<1x3x3x8xf32>
}

// An unknown number of images whose channels are no neighbours: they are turned before their border is put around
// them, so that it copies vectors.
// CHECK-LABEL: func.func @images
// CHECK: %[[TURNED:.*]] = linalg.transpose ins(%arg0 : tensor<?x64x28x28xbf16>) outs(%{{.*}} : tensor<?x28x28x64xbf16>) permutation = [0, 2, 3, 1]
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x30x30x64xbf16>)
// CHECK: tensor.extract %[[TURNED]]
// CHECK: linalg.transpose ins(%arg1 : tensor<64x64x3x3xbf16>)
// CHECK: linalg.generic {{.*}} ins(%[[WIDE]], %{{.*}} : tensor<?x30x30x64xbf16>, tensor<64x3x3x64xbf16>)
func.func @images(%i: tensor<?x64x28x28xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<?x64x28x28xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c27 = arith.constant 27 : index
  %c28 = arith.constant 28 : index
  %none = arith.constant 0.0 : bf16
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %i, %c0 : tensor<?x64x28x28xbf16>
  %room = tensor.empty(%n) : tensor<?x64x30x30xbf16>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%room : tensor<?x64x30x30xbf16>) {
  ^bb0(%old: bf16):
    %image = linalg.index 0 : index
    %channel = linalg.index 1 : index
    %line = linalg.index 2 : index
    %place = linalg.index 3 : index
    %y = arith.subi %line, %c1 : index
    %x = arith.subi %place, %c1 : index
    %inLines = arith.cmpi ult, %y, %c28 : index
    %inPlaces = arith.cmpi ult, %x, %c28 : index
    %inside = arith.andi %inLines, %inPlaces : i1
    %lower = arith.minsi %y, %c27 : index
    %atLine = arith.maxsi %lower, %c0 : index
    %left = arith.minsi %x, %c27 : index
    %atPlace = arith.maxsi %left, %c0 : index
    %read = tensor.extract %i[%image, %channel, %atLine, %atPlace] : tensor<?x64x28x28xbf16>
    %value = arith.select %inside, %read, %none : bf16
    linalg.yield %value : bf16
  } -> tensor<?x64x30x30xbf16>
  %empty = tensor.empty(%n) : tensor<?x64x28x28xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x28x28xf32>) -> tensor<?x64x28x28xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%wide, %w : tensor<?x64x30x30xbf16>, tensor<64x64x3x3xbf16>)
      outs(%start : tensor<?x64x28x28xf32>) -> tensor<?x64x28x28xf32>
  return %r : tensor<?x64x28x28xf32>
}

// Windows of each channel alone, which an earlier pass made generic: between them channels lie last, and images are turned where
// they come in and go out.
// CHECK-LABEL: func.func @each_channel
// CHECK: linalg.transpose ins(%arg0 : tensor<2x32x16x16xf32>) outs({{.*}} : tensor<2x16x16x32xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x14x14x32xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x12x12x32xf32>)
// CHECK: linalg.transpose ins({{.*}} : tensor<2x12x12x32xf32>) outs({{.*}} : tensor<2x32x12x12xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
#window = affine_map<(n, c, y, x, r, s) -> (n, c, y + r, x + s)>
#filter = affine_map<(n, c, y, x, r, s) -> (c, r, s)>
#of_window = affine_map<(n, c, y, x, r, s) -> (n, c, y, x)>
func.func @each_channel(%x: tensor<2x32x16x16xf32>, %w: tensor<32x3x3xf32>) -> tensor<2x32x12x12xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32x14x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x32x14x14xf32>) -> tensor<2x32x14x14xf32>
  %a = linalg.generic {indexing_maps = [#window, #filter, #of_window], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x32x16x16xf32>, tensor<32x3x3xf32>) outs(%f : tensor<2x32x14x14xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x32x14x14xf32>
  %e2 = tensor.empty() : tensor<2x32x12x12xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x32x12x12xf32>) -> tensor<2x32x12x12xf32>
  %b = linalg.generic {indexing_maps = [#window, #filter, #of_window], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %w : tensor<2x32x14x14xf32>, tensor<32x3x3xf32>) outs(%f2 : tensor<2x32x12x12xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x32x12x12xf32>
  return %b : tensor<2x32x12x12xf32>
}
