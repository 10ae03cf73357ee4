// Kernels that differ in the bounds of a clamp: each is written around what ptxas makes of a NaN (ptxas_errors.h), as it is alone.
// RUN: rm -rf %t.dump
// RUN: tenon-compile %s --target=sm_90a --images=ptx --cu-cache=none --dump-to=%t.dump -o %t.tenon
// RUN: FileCheck %s --input-file=%t.dump/kernels/k0_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --input-file=%t.dump/kernels/k3_dispatch_0_sm_90a.ptx
// CHECK: selp.f32 {{.*}}isNan; }

func.func @k0(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %bound = arith.constant dense<1.0> : tensor<1000xf32>
  %zero = arith.constant dense<0.0> : tensor<1000xf32>
  %smaller = arith.minnumf %x, %bound : tensor<1000xf32>
  %clamped = arith.maxnumf %smaller, %zero : tensor<1000xf32>
  return %clamped : tensor<1000xf32>
}

func.func @k1(%x: tensor<1004xf32>) -> tensor<1004xf32> {
  %bound = arith.constant dense<6.0> : tensor<1004xf32>
  %zero = arith.constant dense<0.0> : tensor<1004xf32>
  %smaller = arith.minnumf %x, %bound : tensor<1004xf32>
  %clamped = arith.maxnumf %smaller, %zero : tensor<1004xf32>
  return %clamped : tensor<1004xf32>
}

func.func @k2(%x: tensor<1008xf32>) -> tensor<1008xf32> {
  %bound = arith.constant dense<2.0> : tensor<1008xf32>
  %zero = arith.constant dense<0.0> : tensor<1008xf32>
  %smaller = arith.minnumf %x, %bound : tensor<1008xf32>
  %clamped = arith.maxnumf %smaller, %zero : tensor<1008xf32>
  return %clamped : tensor<1008xf32>
}

func.func @k3(%x: tensor<1012xf32>) -> tensor<1012xf32> {
  %bound = arith.constant dense<20.0> : tensor<1012xf32>
  %zero = arith.constant dense<0.0> : tensor<1012xf32>
  %smaller = arith.minnumf %x, %bound : tensor<1012xf32>
  %clamped = arith.maxnumf %smaller, %zero : tensor<1012xf32>
  return %clamped : tensor<1012xf32>
}
