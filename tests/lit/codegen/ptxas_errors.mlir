// PTX that ptxas gets wrong is written in another way: stores of a float's low bits, a NaN that is clamped, |smallest integer|,
// whether the smallest of 16 bits is one of those that it was chosen from.
// RUN: tenon-compile %s --target=sm_75,sm_90 --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: FileCheck %s --check-prefix=LOW < %t/low_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=LOW < %t/low_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=CLAMP < %t/clamp_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=ABS < %t/abs_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=LEAST < %t/least_dispatch_0_sm_90.ptx
// RUN: tenon-run %t.tenon --function=low --device=emulator --input=3xf32=1.5,1.00048828125,-2 | FileCheck %s --check-prefix=BITS
// RUN: tenon-run %t.tenon --function=clamp --device=emulator --input=4xf32=nan,0.5,7,-7 | FileCheck %s --check-prefix=BOUND
// RUN: tenon-run %t.tenon --function=abs --device=emulator --input=2xi32=-2147483648,-7 | FileCheck %s --check-prefix=LEFT
// RUN: tenon-run %t.tenon --function=least --device=emulator --input=3xi8=1,5,-1 --input=3xi8=2,4,-1 --input=3xi8=3,6,-1 | FileCheck %s --check-prefix=FIRST

// LOW: mov.b32 %tenon_bits, [[SUM:%r[0-9]+]];{{.*}}st.global.b16
// BITS: 3xi16=0 4096 0
func.func @low(%x: tensor<3xf32>) -> tensor<3xi16> {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %sum = arith.addf %x, %zero : tensor<3xf32>
  %bits = arith.bitcast %sum : tensor<3xf32> to tensor<3xi32>
  %low = arith.trunci %bits : tensor<3xi32> to tensor<3xi16>
  return %low : tensor<3xi16>
}

// CLAMP: min.f32 {{.*}}[[SMALLER:%r[0-9]+]], [[X:%r[0-9]+]], 0f3F800000;
// CLAMP-SAME: setp.nan.f32 {{.*}}%tenon_isNan, [[X]], [[X]]; selp.f32 {{.*}}[[SMALLER]], 0f3F800000, [[SMALLER]], %tenon_isNan; }
// BOUND: 4xf32=1 0.5 1 0
func.func @clamp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %smaller = arith.minnumf %x, %one : tensor<4xf32>
  %clamped = arith.maxnumf %smaller, %zero : tensor<4xf32>
  return %clamped : tensor<4xf32>
}

// ABS-NOT: abs.s32
// ABS: max.s32 {{.*}}%tenon_negative; }
// LEFT: 2xi32=-8 7
func.func @abs(%x: tensor<2xi32>) -> tensor<2xi32> {
  %sixty = arith.constant dense<60> : tensor<2xi32>
  %without = math.absi %x : tensor<2xi32>
  %left = arith.remsi %without, %sixty : tensor<2xi32>
  return %left : tensor<2xi32>
}

// LEAST: min.u16 [[LEAST:%rs[0-9]+]]
// LEAST-NOT: setp.eq.b16
// LEAST: setp.ne.b16 %tenon_differ, {{.*}}; not.pred {{.*}}, %tenon_differ; }
// FIRST: 3xi1=1 0 1
func.func @least(%x: tensor<3xi8>, %y: tensor<3xi8>, %z: tensor<3xi8>) -> tensor<3xi1> {
  %two = arith.minui %x, %y : tensor<3xi8>
  %least = arith.minui %two, %z : tensor<3xi8>
  %isFirst = arith.cmpi eq, %least, %x : tensor<3xi8>
  return %isFirst : tensor<3xi1>
}
