// Names and documentation of functions, in Tenon's attributes or IREE's, in what a program says of itself.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-dump --json %t.tenon | FileCheck %s --check-prefix=JSON

// CHECK: function 'axpy'(a: f32, x: tensor<?xf32>, tensor<?xf32>) -> (sum: tensor<?xf32>)
// CHECK-NEXT: {{^  }}a * x + y
// CHECK: function 'iree'(lhs: tensor<4xf32>) -> (tensor<4xf32>)
// CHECK-NEXT: {{^  }}sync func @iree
// CHECK: function 'plain'(tensor<4xf32>) -> (tensor<4xf32>)
// JSON: "input_names"
// JSON: "a"
// JSON: "x"
// JSON: ""
// JSON: "sum"
// JSON: "documentation"{{.*}}"a * x + y"
func.func @axpy(%a: f32 {tenon.name = "a"}, %x: tensor<?xf32> {tenon.name = "x"}, %y: tensor<?xf32>) -> (tensor<?xf32> {tenon.name = "sum"})
    attributes {tenon.documentation = "a * x + y"} {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.mulf %p, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
util.func public @iree(%x: tensor<4xf32> {iree.identifier = "lhs"}) -> tensor<4xf32> attributes {iree.reflection = {iree.abi.declaration = "sync func @iree"}} {
  %0 = arith.addf %x, %x : tensor<4xf32>
  util.return %0 : tensor<4xf32>
}
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
