// A kernel whose result lies where it reads does not promise that what it reads stays as it is.
// RUN: rm -rf %t
// RUN: tenon-compile %s --images=ptx --target=sm_80 --dump-kernels-to=%t -o %t.tenon
// RUN: FileCheck %s --input-file=%t/over_dispatch_0_sm_80.ptx --check-prefix=OVER
// RUN: FileCheck %s --input-file=%t/beside_dispatch_0_sm_80.ptx --check-prefix=BESIDE

// OVER-NOT: ld.global.nc
// OVER:     ld.global.v4
// OVER:     st.global
func.func @over(%x: tensor<65536xf32> {tenon.donated}) -> tensor<65536xf32> {
  %0 = arith.mulf %x, %x : tensor<65536xf32>
  return %0 : tensor<65536xf32>
}

// BESIDE: ld.global.nc
func.func @beside(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %0 = arith.addf %x, %x : tensor<65536xf32>
  return %0 : tensor<65536xf32>
}
