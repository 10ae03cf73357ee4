// Generated kernels of sm_90 and later are launched while the one before them ends, and wait for it before they read.
// Code for older targets has no such wait, nor is it the code of another target under a new name.
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90 -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=OLD --input-file=%t.kernels/square_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=NEW --input-file=%t.kernels/square_dispatch_0_sm_90.ptx
// RUN: tenon-dump %t.tenon | FileCheck %s --check-prefix=LAUNCH
// RUN: tenon-run %t.tenon --device=emulator --function=square --input=4xf32=3 --expected_output=4xf32=9
// OLD-NOT: griddepcontrol
// NEW-NOT: ld.global
// NEW: griddepcontrol.wait;
// NEW-NOT: griddepcontrol.wait;
// LAUNCH: launch: workgroup 256x1x1, programmatic dependent launch
func.func @square(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %x : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
