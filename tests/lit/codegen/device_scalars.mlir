// Where a row is written lies on the device, and comes inside of the tensor by arithmetic: the kernel reads it, and the host waits
// for nothing. Here it is counted from the end, too.
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s --check-prefix=HOST
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=append --input=4x2xf32=1 --input=1x2xf32=7 --input=i32=2 | FileCheck %s --check-prefix=THIRD
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=append --input=4x2xf32=1 --input=1x2xf32=7 --input=i32=-1 | FileCheck %s --check-prefix=LAST
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=append --input=4x2xf32=1 --input=1x2xf32=7 --input=i32=100 | FileCheck %s --check-prefix=LAST

// HOST: commands:
// HOST-NEXT: dispatch 'append_dispatch_0'::'append_dispatch_0' {{.*}} constants ()
// HOST-NEXT: results:
// THIRD: 4x2xf32=[1 1][1 1][7 7][1 1]
// LAST: 4x2xf32=[1 1][1 1][1 1][7 7]
#none = affine_map<() -> ()>
func.func @append(%cache: tensor<4x2xf32>, %row: tensor<1x2xf32>, %position: tensor<i32>) -> tensor<4x2xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c0_i32 = arith.constant 0 : i32
  %c4_i32 = arith.constant 4 : i32
  %e = tensor.empty() : tensor<i32>
  %p = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%position : tensor<i32>) outs(%e : tensor<i32>) {
    ^bb0(%a: i32, %o: i32):
      %negative = arith.cmpi slt, %a, %c0_i32 : i32
      %sum = arith.addi %a, %c4_i32 : i32
      %s = arith.select %negative, %sum, %a : i32
      linalg.yield %s : i32
  } -> tensor<i32>
  %n = tensor.extract %p[] : tensor<i32>
  %i = arith.index_cast %n : i32 to index
  %low = arith.maxsi %i, %c0 : index
  %at = arith.minsi %low, %c3 : index
  %r = tensor.insert_slice %row into %cache[%at, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
