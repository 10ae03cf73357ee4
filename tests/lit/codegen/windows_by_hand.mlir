// A tile of results that is written by hand where sizes are not known is one result a thread, and right.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies | sed 's/run = 1 /run = 4 /; s/lines = 1 /lines = 2 /' > %t.mlir
// RUN: FileCheck %s --check-prefix=BYHAND --input-file=%t.mlir
// RUN: tenon-compile %t.mlir --images=ptx --target=sm_80 -o %t.tenon
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --device=emulator --function=pool --input=1x3x4x8xf32=2 --input=3x3xf32=0 \
// RUN:   --input=1x1x2x8xf32=1 --expected_output="1x1x2x8xf32=2"

// BYHAND: tenon.strategy = {lines = 2 : i64, name = "windows", run = 4 : i64
func.func @pool(%i: tensor<?x?x?x8xf32>, %w: tensor<3x3xf32>, %o: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  %r = linalg.pooling_nhwc_max ins(%i, %w : tensor<?x?x?x8xf32>, tensor<3x3xf32>) outs(%o : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return %r : tensor<?x?x?x8xf32>
}
