// A step of a recurrent network: the product, what is added to it and the cell, which reads one column of each gate, are one
// kernel. Its two results read the gates at different places, by a slice or from the body.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=PLAN
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches | FileCheck %s --check-prefix=FLOW
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_90a --cu-cache=none -o %t.tenon

// The matrix is the same memory, by gates; of three gates a block's columns are those of four.
// PLAN-LABEL: hal.executable.source private @step_dispatch_0
// PLAN: %{{.*}}: tensor<32x64xbf16>, %{{.*}}: tensor<3x40x64xbf16>, %{{.*}}: tensor<3x40xf32>
// PLAN-SAME: tenon.strategy = {depth_warps = 1 : i64, few = 32 : i64, few_side = 1 : i64, name = "skinny"
// PLAN: tensor<32x40x3xf32>) attrs = {tenon.gates}

// FLOW-LABEL: func.func @step
// FLOW: tensor.expand_shape %{{.*}} : tensor<120x64xbf16> into tensor<3x40x64xbf16>
// FLOW: flow.dispatch @step_dispatch_0
// FLOW-NOT: flow.dispatch
func.func @step(%h: tensor<32x64xbf16>, %w: tensor<120x64xbf16>, %bias: tensor<120xf32>, %old: tensor<32x40xf32>)
    -> (tensor<32x40xf32>, tensor<32x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x120xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<32x120xf32>) -> tensor<32x120xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, n, k) -> (b, k)>, affine_map<(b, n, k) -> (n, k)>, affine_map<(b, n, k) -> (b, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : tensor<32x64xbf16>, tensor<120x64xbf16>) outs(%start : tensor<32x120xf32>) {
    ^bb0(%a: bf16, %b: bf16, %s: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %m = arith.mulf %c, %d : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<32x120xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(b, n) -> (b, n)>, affine_map<(b, n) -> (n)>, affine_map<(b, n) -> (b, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<32x120xf32>, tensor<120xf32>) outs(%e : tensor<32x120xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
  } -> tensor<32x120xf32>
  %first = tensor.extract_slice %q[0, 0] [32, 40] [1, 1] : tensor<32x120xf32> to tensor<32x40xf32>
  %second = tensor.extract_slice %q[0, 40] [32, 40] [1, 1] : tensor<32x120xf32> to tensor<32x40xf32>
  %third = tensor.extract_slice %q[0, 80] [32, 40] [1, 1] : tensor<32x120xf32> to tensor<32x40xf32>
  %f = tensor.empty() : tensor<32x40xf32>
  %new = linalg.generic {indexing_maps = [affine_map<(b, u) -> (b, u)>, affine_map<(b, u) -> (b, u)>, affine_map<(b, u) -> (b, u)>, affine_map<(b, u) -> (b, u)>],
      iterator_types = ["parallel", "parallel"]} ins(%first, %second, %old : tensor<32x40xf32>, tensor<32x40xf32>, tensor<32x40xf32>) outs(%f : tensor<32x40xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %x = arith.mulf %a, %b : f32
      %y = arith.addf %x, %c : f32
      linalg.yield %y : f32
  } -> tensor<32x40xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(b, u) -> (b, u)>, affine_map<(b, u) -> (b, u)>, affine_map<(b, u) -> (b, u)>],
      iterator_types = ["parallel", "parallel"]} ins(%third, %new : tensor<32x40xf32>, tensor<32x40xf32>) outs(%f : tensor<32x40xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %x = arith.mulf %a, %b : f32
      linalg.yield %x : f32
  } -> tensor<32x40xf32>
  return %new, %out : tensor<32x40xf32>, tensor<32x40xf32>
}
