// Argmax is a reduction of one number, by many threads: the element's bits above, its place below. Where a place does not
// fit beside the element, the best element is found first. What depends on the order stays one thread's.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: hal.executable.source private @known_dispatch_0
// CHECK: name = "rows"
// CHECK: arith.maxui {{.*}} : i64
// CHECK-NOT: arith.maxui
// CHECK: tensor.extract
// CHECK: arith.cmpf ogt
func.func @known(%x: tensor<400x5000xf32>, %v: tensor<400xf32>, %p: tensor<400xi64>) -> (tensor<400xf32>, tensor<400xi64>) {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<400x5000xf32>) outs(%v, %p : tensor<400xf32>, tensor<400xi64>) {
    ^bb0(%a: f32, %b: f32, %o: i64):
      %i = linalg.index 1 : index
      %h = arith.index_cast %i : index to i64
      %c = arith.cmpf ogt, %a, %b : f32
      %m = arith.select %c, %a, %b : f32
      %n = arith.select %c, %h, %o : i64
      linalg.yield %m, %n : f32, i64
  } -> (tensor<400xf32>, tensor<400xi64>)
  return %r#0, %r#1 : tensor<400xf32>, tensor<400xi64>
}

// Sixteen bits and a place below 65535: 32.
// CHECK-LABEL: hal.executable.source private @narrow_dispatch_0
// CHECK: arith.maxui {{.*}} : i32
func.func @narrow(%x: tensor<400x5000xf16>, %v: tensor<400xf16>, %p: tensor<400xi64>) -> tensor<400xi64> {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<400x5000xf16>) outs(%v, %p : tensor<400xf16>, tensor<400xi64>) {
    ^bb0(%a: f16, %b: f16, %o: i64):
      %i = linalg.index 1 : index
      %h = arith.index_cast %i : index to i64
      %c = arith.cmpf olt, %a, %b : f16
      %m = arith.select %c, %a, %b : f16
      %n = arith.select %c, %h, %o : i64
      linalg.yield %m, %n : f16, i64
  } -> (tensor<400xf16>, tensor<400xi64>)
  return %r#1 : tensor<400xi64>
}

// CHECK-LABEL: hal.executable.source private @unknown_dispatch_0
// CHECK: arith.maxui {{.*}} : i32
// CHECK: arith.maxui {{.*}} : i64
func.func @unknown(%x: tensor<400x?xf32>, %v: tensor<400xf32>, %p: tensor<400xi64>) -> tensor<400xi64> {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<400x?xf32>) outs(%v, %p : tensor<400xf32>, tensor<400xi64>) {
    ^bb0(%a: f32, %b: f32, %o: i64):
      %i = linalg.index 1 : index
      %h = arith.index_cast %i : index to i64
      %c = arith.cmpf ogt, %a, %b : f32
      %m = arith.select %c, %a, %b : f32
      %n = arith.select %c, %h, %o : i64
      linalg.yield %m, %n : f32, i64
  } -> (tensor<400xf32>, tensor<400xi64>)
  return %r#1 : tensor<400xi64>
}

// CHECK-LABEL: hal.executable.source private @in_order_dispatch_0
// CHECK-NOT: tenon.strategy
// CHECK-NOT: arith.maxui
// CHECK: arith.cmpf ugt
func.func @in_order(%x: tensor<400x50xf32>, %v: tensor<400xf32>, %p: tensor<400xi64>) -> tensor<400xi64> {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<400x50xf32>) outs(%v, %p : tensor<400xf32>, tensor<400xi64>) {
    ^bb0(%a: f32, %b: f32, %o: i64):
      %i = linalg.index 1 : index
      %h = arith.index_cast %i : index to i64
      %c = arith.cmpf ugt, %a, %b : f32
      %m = arith.select %c, %a, %b : f32
      %n = arith.select %c, %h, %o : i64
      linalg.yield %m, %n : f32, i64
  } -> (tensor<400xf32>, tensor<400xi64>)
  return %r#1 : tensor<400xi64>
}
