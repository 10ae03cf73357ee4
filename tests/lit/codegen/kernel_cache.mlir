// What was generated is found again: with the same bytes, on any number of threads, and under another name by another
// program.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80,sm_90 --images=ptx --cu-cache=%t/cache --dump-kernels-to=%t/cold -o %t/cold.tenon
// RUN: ls %t/cache/kernels | count 4
// RUN: tenon-compile %s --target=sm_80,sm_90 --images=ptx --cu-cache=%t/cache --dump-kernels-to=%t/warm -o %t/warm.tenon
// RUN: cmp %t/cold.tenon %t/warm.tenon
// RUN: ls %t/cache/kernels | count 4
// RUN: tenon-compile %s --target=sm_80,sm_90 --images=ptx --cu-cache=none --jobs=1 -o %t/none.tenon
// RUN: cmp %t/cold.tenon %t/none.tenon
// RUN: env TENON_CACHE_DIR=%t/variable tenon-compile %s --target=sm_80 --images=ptx -o %t/variable.tenon
// RUN: ls %t/variable/kernels | count 2
// RUN: env TENON_CACHE_DIR=none XDG_CACHE_HOME=%t/xdg tenon-compile %s --target=sm_80 --images=ptx -o %t/variable.tenon
// RUN: not ls %t/xdg
// RUN: sed s/@double/@renamed/ %s > %t/renamed.mlir
// RUN: tenon-compile %t/renamed.mlir --target=sm_80,sm_90 --images=ptx --cu-cache=%t/cache --dump-kernels-to=%t/warm -o %t/renamed.tenon
// RUN: ls %t/cache/kernels | count 4
// RUN: cat %t/warm/double_dispatch_0_sm_80.ptx %t/warm/renamed_dispatch_0_sm_80.ptx | FileCheck %s
// RUN: not grep __tenon_kernel %t/warm/renamed_dispatch_0_sm_80.ptx
// RUN: tenon-run %t/renamed.tenon --function=renamed --input=4xf32=1,2,3,4 | FileCheck %s --check-prefix=VALUE

// What was damaged is generated anew; a compiler that was built anew has names of its own.
// RUN: find %t/cache/kernels -type f -exec truncate -s 100 "{}" ";"
// RUN: tenon-compile %s --target=sm_80,sm_90 --images=ptx --cu-cache=%t/cache -o %t/again.tenon
// RUN: cmp %t/cold.tenon %t/again.tenon

// CHECK: .visible .entry double_dispatch_0(
// CHECK: .visible .entry renamed_dispatch_0(
// VALUE: 4xf32=2 4 6 8

func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @square(%y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %y, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
