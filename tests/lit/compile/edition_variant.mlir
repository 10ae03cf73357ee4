// A variant that the device's edition has none of is refused, as one is that the device does not run.
// RUN: tenon-compile %s --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --variant=sm_90a --explain | FileCheck %s --check-prefix=SM90
// RUN: env TENON_EMULATOR_SM=86 tenon-run %t.tenon --device=emulator --variant=sm_75 --explain | FileCheck %s --check-prefix=SM75
// RUN: not env TENON_EMULATOR_SM=86 tenon-run %t.tenon --device=emulator --variant=sm_90a --explain 2>&1 | FileCheck %s

// SM90: edition for sm_90a, one of 2
// SM90: * sm_90a
// SM75: edition for other devices, one of 2
// SM75: * sm_75
// CHECK: error: variant 'sm_90a' of '{{.*}}' is of an edition that does not run on 'Tenon emulator sm_86
func.func @run(%a: tensor<128x64xbf16>, %b: tensor<64x192xbf16>) -> tensor<128x192xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x192xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x192xf32>) -> tensor<128x192xf32>
  %p = linalg.matmul ins(%a, %b : tensor<128x64xbf16>, tensor<64x192xbf16>) outs(%f : tensor<128x192xf32>) -> tensor<128x192xf32>
  return %p : tensor<128x192xf32>
}
