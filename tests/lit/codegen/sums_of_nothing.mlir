// What is summed has as many elements as it says when the program runs, perhaps none: then the sum is what it begins with.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=product --input=3x0xi32 --output=- | FileCheck %s --check-prefix=NONE
// NONE: i32=7
// RUN: tenon-run %t.tenon --device=emulator --function=product --input=2x1xi32=[[2][3]] --output=- | FileCheck %s --check-prefix=TWO
// TWO: i32=42
// RUN: tenon-run %t.tenon --device=emulator --function=product --input=3x4001xi32=1 --output=- | FileCheck %s --check-prefix=PARTS
// PARTS: i32=7
func.func @product(%x: tensor<?x?xi32>) -> tensor<i32> {
  %seven = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<i32>
  %start = linalg.fill ins(%seven : i32) outs(%empty : tensor<i32>) -> tensor<i32>
  %product = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%start : tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %b : i32
    linalg.yield %c : i32
  } -> tensor<i32>
  return %product : tensor<i32>
}
