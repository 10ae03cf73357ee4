// Numbers that kernels read themselves: at places that are no place of the tensor the host says so before, as ever; a number of
// a tensor's element comes from that element.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: not tenon-run %t.tenon --device=emulator --function=behind --input=4xf32=1 --input=3xi32=2 --output=- 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: index 0 of tensor.extract is not below the size of the dimension
// RUN: tenon-run %t.tenon --device=emulator --function=behind --input=4xf32=1 --input=6xi32=2 --output=- | FileCheck %s --check-prefix=INSIDE
// INSIDE: 4xf32=3 3 3 3
// RUN: tenon-run %t.tenon --device=emulator --function=third --input=4xf32=1 --input="4xi32=5 6 7 8" --output=- | FileCheck %s --check-prefix=THIRD
// THIRD: 4xf32=9 9 9 9
func.func @behind(%x: tensor<4xf32>, %p: tensor<?xi32>) -> tensor<4xf32> {
  %c5 = arith.constant 5 : index
  %g = tensor.extract %p[%c5] : tensor<?xi32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = arith.sitofp %g : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @third(%x: tensor<4xf32>, %p: tensor<4xi32>) -> tensor<4xf32> {
  %n = tensor.empty() : tensor<i32>
  %q = linalg.generic {indexing_maps = [affine_map<() -> (3)>, affine_map<() -> ()>], iterator_types = []} ins(%p : tensor<4xi32>) outs(%n : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<i32>
  %g = tensor.extract %q[] : tensor<i32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = arith.sitofp %g : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
