// Zero points are taken out of products: tensor cores multiply int8 as it lies in memory.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-align-products | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=tiny --input=1x2x2x1xi8=5 --input=1x3x3x1xi8=2 --expected_output="1x2x2x1xi32=16 16 16 16"

// The image has its zero point around it: it is multiplied with zeros there, and the sums of the filters are those of what
// is inside of the image.
// CHECK-LABEL: func.func @padded(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x18x18x64xi8>, tensor<96x3x3x64xi8>)
// CHECK: arith.extsi
// CHECK-NEXT: arith.extsi
// CHECK-NEXT: arith.muli
// CHECK-NEXT: arith.addi
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<96x3x3x64xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<96x3x3xi32>) outs(%{{.*}} : tensor<3x3x96xi32>)
// CHECK: return
func.func @padded(%i: tensor<2x16x16x64xi8>, %w: tensor<96x3x3x64xi8>) -> tensor<2x16x16x96xi32> {
  %zero = arith.constant 0 : i32
  %point = arith.constant -5 : i32
  %edge = arith.constant -5 : i8
  %p = tensor.pad %i low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %edge : i8
  } : tensor<2x16x16x64xi8> to tensor<2x18x18x64xi8>
  %e = tensor.empty() : tensor<2x16x16x96xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x16x16x96xi32>) -> tensor<2x16x16x96xi32>
  %r = linalg.conv_2d_nhwc_fhwc_q ins(%p, %w, %point, %zero : tensor<2x18x18x64xi8>, tensor<96x3x3x64xi8>, i32, i32) outs(%f : tensor<2x16x16x96xi32>) -> tensor<2x16x16x96xi32>
  return %r : tensor<2x16x16x96xi32>
}

// Zero points that nobody knows yet: both sums.
// CHECK-LABEL: func.func @matrices(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x256xi8>, tensor<256x128xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<256x128xi8>) outs(%{{.*}} : tensor<128xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x256xi8>) outs(%{{.*}} : tensor<?xi32>)
// CHECK: return
func.func @matrices(%a: tensor<?x256xi8>, %b: tensor<256x128xi8>, %x: i32, %y: i32, %o: tensor<?x128xi32>) -> tensor<?x128xi32> {
  %r = linalg.quantized_matmul ins(%a, %b, %x, %y : tensor<?x256xi8>, tensor<256x128xi8>, i32, i32) outs(%o : tensor<?x128xi32>) -> tensor<?x128xi32>
  return %r : tensor<?x128xi32>
}

// Over before the sums beside it would be.
// CHECK-LABEL: func.func @tiny(
// CHECK-NOT: arith.extsi
// CHECK: linalg.conv_2d_nhwc_fhwc_q
func.func @tiny(%i: tensor<1x2x2x1xi8>, %w: tensor<1x3x3x1xi8>) -> tensor<1x2x2x1xi32> {
  %zero = arith.constant 0 : i32
  %point = arith.constant 3 : i32
  %edge = arith.constant 3 : i8
  %p = tensor.pad %i low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %edge : i8
  } : tensor<1x2x2x1xi8> to tensor<1x4x4x1xi8>
  %e = tensor.empty() : tensor<1x2x2x1xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x2x2x1xi32>) -> tensor<1x2x2x1xi32>
  %r = linalg.conv_2d_nhwc_fhwc_q ins(%p, %w, %point, %zero : tensor<1x4x4x1xi8>, tensor<1x3x3x1xi8>, i32, i32) outs(%f : tensor<1x2x2x1xi32>) -> tensor<1x2x2x1xi32>
  return %r : tensor<1x2x2x1xi32>
}
