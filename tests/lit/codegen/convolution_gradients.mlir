// Gradients of convolutions. By the filters: a sum over all places of all images, in parts; on Hopper tensor maps bring
// patches of places, 64 channels of each.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=HOPPER --input-file=%t.kernels/by_filters_dispatch_0_sm_90a.ptx

// CHECK: !hal.tensor_map<binding = 0, 1x1x8x8x64xbf16,{{.*}}>, !hal.tensor_map<binding = 1, 1x8x8x64xbf16,
// CHECK: func.func @by_filters_dispatch_0({{.*}}) -> tensor<16x64x3x3x64xf32>
// CHECK: func.func @by_filters_dispatch_1(
// CHECK-NOT: @by_filters_dispatch_2
// HOPPER-DAG: cp.async.bulk.tensor.5d
// HOPPER-DAG: wgmma.mma_async
func.func @by_filters(%x: tensor<32x56x56x64xbf16>, %d: tensor<32x56x56x64xbf16>) -> tensor<64x3x3x64xf32> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : bf16
  } : tensor<32x56x56x64xbf16> to tensor<32x58x58x64xbf16>
  %e = tensor.empty() : tensor<64x3x3x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<64x3x3x64xf32>) -> tensor<64x3x3x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, r, s, c, n, y, x) -> (n, y + r, x + s, c)>,
      affine_map<(f, r, s, c, n, y, x) -> (n, y, x, f)>, affine_map<(f, r, s, c, n, y, x) -> (f, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %d : tensor<32x58x58x64xbf16>, tensor<32x56x56x64xbf16>) outs(%start : tensor<64x3x3x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x3x3x64xf32>
  return %r : tensor<64x3x3x64xf32>
}

// By the image, steps of two: phases of the result are a batch of convolutions of the gradient as it is, each of which
// sums the elements that it meets, and what is computed from the result is computed in its kernel. Filters that are
// turned around are read backwards.
// CHECK: func.func @by_image_dispatch_0({{.*}}tensor<128x3x3x64xbf16>) -> tensor<2x2x2x2x128x64xbf16>
// CHECK: func.func @by_image_dispatch_1({{.*}}) -> tensor<8x28x2x28x2x64xbf16> {{.*}}name = "contraction"
// CHECK: %[[TERM:.*]] = arith.mulf
// CHECK: %[[ADDED:.*]] = arith.select %{{.*}}, %[[TERM]], %{{.*}} : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[ADDED]] : f32
// CHECK-NOT: @by_image_dispatch_2
func.func @by_image(%d: tensor<8x28x28x128xbf16>, %f: tensor<128x3x3x64xbf16>) -> tensor<8x56x56x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<128x3x3x64xbf16>
  %turned = linalg.generic {indexing_maps = [affine_map<(k, r, s, c) -> (k, 2 - r, 2 - s, c)>, affine_map<(k, r, s, c) -> (k, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f : tensor<128x3x3x64xbf16>) outs(%o : tensor<128x3x3x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    linalg.yield %a : bf16
  } -> tensor<128x3x3x64xbf16>
  %z = tensor.empty() : tensor<8x58x58x128xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%z : tensor<8x58x58x128xbf16>) -> tensor<8x58x58x128xbf16>
  %wide = tensor.insert_slice %d into %zeros[0, 1, 1, 0] [8, 28, 28, 128] [1, 2, 2, 1] : tensor<8x28x28x128xbf16> into tensor<8x58x58x128xbf16>
  %e = tensor.empty() : tensor<8x56x56x64xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, y, x, c, r, s, k) -> (n, y + r, x + s, k)>,
      affine_map<(n, y, x, c, r, s, k) -> (k, r, s, c)>, affine_map<(n, y, x, c, r, s, k) -> (n, y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %turned : tensor<8x58x58x128xbf16>, tensor<128x3x3x64xbf16>) outs(%start : tensor<8x56x56x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x56x56x64xf32>
  %q = tensor.empty() : tensor<8x56x56x64xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<8x56x56x64xf32>) outs(%q : tensor<8x56x56x64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %h = arith.truncf %a : f32 to bf16
    linalg.yield %h : bf16
  } -> tensor<8x56x56x64xbf16>
  return %v : tensor<8x56x56x64xbf16>
}

// By the filters of windows of one place, with steps of two: dimensions of one are none of the kernel's, and there is neither
// a tensor of zeros nor a kernel for what is computed from the result.
// CHECK: func.func @by_points_dispatch_0({{.*}}) -> tensor<2048x1024xbf16>
// CHECK-NOT: @by_points_dispatch_1
func.func @by_points(%x: tensor<32x14x14x1024xbf16>, %d: tensor<32x7x7x2048xbf16>) -> tensor<2048x1x1x1024xbf16> {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x1x1x1024xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<2048x1x1x1024xf32>) -> tensor<2048x1x1x1024xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, r, s, c, n, y, x) -> (n, y * 2 + r, x * 2 + s, c)>,
      affine_map<(f, r, s, c, n, y, x) -> (n, y, x, f)>, affine_map<(f, r, s, c, n, y, x) -> (f, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %d : tensor<32x14x14x1024xbf16>, tensor<32x7x7x2048xbf16>) outs(%start : tensor<2048x1x1x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2048x1x1x1024xf32>
  %o = tensor.empty() : tensor<2048x1x1x1024xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<2048x1x1x1024xf32>) outs(%o : tensor<2048x1x1x1024xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %g = arith.truncf %a : f32 to bf16
    linalg.yield %g : bf16
  } -> tensor<2048x1x1x1024xbf16>
  return %n : tensor<2048x1x1x1024xbf16>
}

// By the image, channels first: the phases' convolution has them last, and its result is turned, rounded to bf16.
// It is the kernel of by_image.
// CHECK: func.func @first_by_image_dispatch_{{[01]}}({{.*}}) -> tensor<8x28x28x128xbf16>
// CHECK: func.func @first_by_image_dispatch_2(%arg0: tensor<8x56x56x64xbf16>) -> tensor<8x64x56x56xbf16>
// CHECK-NOT: @first_by_image_dispatch_3
func.func @first_by_image(%d: tensor<8x128x28x28xbf16>, %f: tensor<128x64x3x3xbf16>) -> tensor<8x64x56x56xbf16> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %z = tensor.empty() : tensor<8x128x58x58xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%z : tensor<8x128x58x58xbf16>) -> tensor<8x128x58x58xbf16>
  %wide = tensor.insert_slice %d into %zeros[0, 0, 1, 1] [8, 128, 28, 28] [1, 1, 2, 2] : tensor<8x128x28x28xbf16> into tensor<8x128x58x58xbf16>
  %e = tensor.empty() : tensor<8x64x56x56xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<8x64x56x56xf32>) -> tensor<8x64x56x56xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, y, x, k, r, s) -> (n, k, y + r, x + s)>,
      affine_map<(n, c, y, x, k, r, s) -> (k, c, r, s)>, affine_map<(n, c, y, x, k, r, s) -> (n, c, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %f : tensor<8x128x58x58xbf16>, tensor<128x64x3x3xbf16>) outs(%start : tensor<8x64x56x56xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x64x56x56xf32>
  %q = tensor.empty() : tensor<8x64x56x56xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<8x64x56x56xf32>) outs(%q : tensor<8x64x56x56xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %h = arith.truncf %a : f32 to bf16
    linalg.yield %h : bf16
  } -> tensor<8x64x56x56xbf16>
  return %v : tensor<8x64x56x56xbf16>
}

// Of each channel for itself, by the image, steps of two: one kernel reads the image without its zeros, and the filters
// backwards, in tiles of 4 x 4 results.
// CHECK: func.func @each_by_image_dispatch_0({{.*}}tensor<3x3x144xf16>{{.*}}) -> tensor<32x56x56x144xf16> {{.*}}{lines = 4 : i64, name = "windows", run = 4 : i64,
// CHECK-NOT: @each_by_image_dispatch_1
func.func @each_by_image(%d: tensor<32x28x28x144xf16>, %f: tensor<3x3x144xf16>) -> tensor<32x56x56x144xf16> {
  %zero = arith.constant 0.0 : f16
  %o = tensor.empty() : tensor<3x3x144xf16>
  %turned = linalg.generic {indexing_maps = [affine_map<(r, s, c) -> (2 - r, 2 - s, c)>, affine_map<(r, s, c) -> (r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%f : tensor<3x3x144xf16>) outs(%o : tensor<3x3x144xf16>) {
  ^bb0(%a: f16, %b: f16):
    linalg.yield %a : f16
  } -> tensor<3x3x144xf16>
  %z = tensor.empty() : tensor<32x58x58x144xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%z : tensor<32x58x58x144xf16>) -> tensor<32x58x58x144xf16>
  %wide = tensor.insert_slice %d into %zeros[0, 1, 1, 0] [32, 28, 28, 144] [1, 2, 2, 1] : tensor<32x28x28x144xf16> into tensor<32x58x58x144xf16>
  %e = tensor.empty() : tensor<32x56x56x144xf16>
  %start = linalg.fill ins(%zero : f16) outs(%e : tensor<32x56x56x144xf16>) -> tensor<32x56x56x144xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, y, x, c, r, s) -> (n, y + r, x + s, c)>, affine_map<(n, y, x, c, r, s) -> (r, s, c)>,
      affine_map<(n, y, x, c, r, s) -> (n, y, x, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%wide, %turned : tensor<32x58x58x144xf16>, tensor<3x3x144xf16>) outs(%start : tensor<32x56x56x144xf16>) {
  ^bb0(%a: f16, %b: f16, %s: f16):
    %m = arith.mulf %a, %b : f16
    %t = arith.addf %s, %m : f16
    linalg.yield %t : f16
  } -> tensor<32x56x56x144xf16>
  return %r : tensor<32x56x56x144xf16>
}

// The border around a large image of f32 is nobody's tensor.
// CHECK: func.func @exact_dispatch_0({{.*}}tensor<32x56x56x64xf32>)
// CHECK-NOT: @exact_dispatch_1
func.func @exact(%i: tensor<32x56x56x64xf32>, %f: tensor<64x3x3x64xf32>) -> tensor<32x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.pad %i low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<32x56x56x64xf32> to tensor<32x58x58x64xf32>
  %e = tensor.empty() : tensor<32x56x56x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%wide, %f : tensor<32x58x58x64xf32>, tensor<64x3x3x64xf32>) outs(%start : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  return %r : tensor<32x56x56x64xf32>
}

// By the image, a window of one in steps of two, channels first: the product is that of the places without the zeros. Its
// rows of 14 x 14 places are no whole vectors, so that the channels are brought last; the zeros come between its results.
// CHECK: func.func @points_by_image_dispatch_{{[01]}}({{.*}}tensor<8x512x14x14xbf16>{{.*}}) -> tensor<8x14x14x512xbf16>
// CHECK: func.func @points_by_image_dispatch_{{[01]}}({{.*}}) -> tensor<8x256x14x14xbf16>
// CHECK: func.func @points_by_image_dispatch_2(%arg0: tensor<8x256x14x14xbf16>) -> tensor<8x256x28x28xbf16>
// CHECK-NOT: @points_by_image_dispatch_3
func.func @points_by_image(%d: tensor<8x512x14x14xbf16>, %f: tensor<512x256x1x1xbf16>) -> tensor<8x256x28x28xbf16> {
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  %z = tensor.empty() : tensor<8x512x28x28xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%z : tensor<8x512x28x28xbf16>) -> tensor<8x512x28x28xbf16>
  %wide = tensor.insert_slice %d into %zeros[0, 0, 0, 0] [8, 512, 14, 14] [1, 1, 2, 2] : tensor<8x512x14x14xbf16> into tensor<8x512x28x28xbf16>
  %e = tensor.empty() : tensor<8x256x28x28xf32>
  %start = linalg.fill ins(%none : f32) outs(%e : tensor<8x256x28x28xf32>) -> tensor<8x256x28x28xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, y, x, k, r, s) -> (n, k, y + r, x + s)>,
      affine_map<(n, c, y, x, k, r, s) -> (k, c, r, s)>, affine_map<(n, c, y, x, k, r, s) -> (n, c, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%wide, %f : tensor<8x512x28x28xbf16>, tensor<512x256x1x1xbf16>) outs(%start : tensor<8x256x28x28xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %m = arith.mulf %g, %h : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x256x28x28xf32>
  %q = tensor.empty() : tensor<8x256x28x28xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<8x256x28x28xf32>) outs(%q : tensor<8x256x28x28xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %h = arith.truncf %a : f32 to bf16
    linalg.yield %h : bf16
  } -> tensor<8x256x28x28xbf16>
  return %v : tensor<8x256x28x28xbf16>
}
