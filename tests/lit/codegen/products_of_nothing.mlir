// A result that has no elements is no kernel's: its grid would be empty, and its bounds leave nothing to prove.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx --strict -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=rows --input=0x40xf32 --input=40x72xf32=1 --input=0x72xf32 --output=- | FileCheck %s --check-prefix=ROWS
// ROWS: 0x72xf32
// RUN: tenon-run %t.tenon --device=emulator --function=columns --input=2x64xi32=1 --input=0x64xi32 --output=- | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: 2x0xi32

// CHECK-LABEL: func.func @rows
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @rows(%x: tensor<0x40xf32>, %w: tensor<40x72xf32>, %s: tensor<0x72xf32>) -> tensor<0x72xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<0x40xf32>, tensor<40x72xf32>) outs(%s : tensor<0x72xf32>) -> tensor<0x72xf32>
  %1 = math.exp %0 : tensor<0x72xf32>
  return %1 : tensor<0x72xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK-NOT: flow.dispatch
// CHECK: return
func.func @columns(%x: tensor<2x64xi32>, %w: tensor<0x64xi32>) -> tensor<2x0xi32> {
  %zero = arith.constant dense<0> : tensor<2x0xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x64xi32>, tensor<0x64xi32>) outs(%zero : tensor<2x0xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %m = arith.muli %a, %b : i32
    %n = arith.addi %s, %m : i32
    linalg.yield %n : i32
  } -> tensor<2x0xi32>
  return %0 : tensor<2x0xi32>
}
