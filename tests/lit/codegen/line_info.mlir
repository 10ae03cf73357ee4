// Lines of this file in PTX, where they are asked for.
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_80 line-info=true" -o /dev/null | FileCheck %s
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_80" -o /dev/null | FileCheck %s --check-prefix=NONE
// RUN: rm -rf %t && mkdir %t
// RUN: tenon-compile %s --target=sm_80 --images=ptx --line-info --cu-cache=%t/cache --dump-kernels-to=%t/with -o %t/with.tenon
// RUN: FileCheck %s < %t/with/k_dispatch_0_sm_80.ptx

// A cache must not give the lines of another file, nor none.
// RUN: sed 1d %s > %t/moved.mlir
// RUN: tenon-compile %t/moved.mlir --target=sm_80 --images=ptx --line-info --cu-cache=%t/cache --dump-kernels-to=%t/moved -o %t/moved.tenon
// RUN: FileCheck %s --check-prefix=MOVED < %t/moved/k_dispatch_0_sm_80.ptx
// RUN: tenon-compile %s --target=sm_80 --images=ptx --cu-cache=%t/cache --dump-kernels-to=%t/none -o %t/none.tenon
// RUN: FileCheck %s --check-prefix=NONE < %t/none/k_dispatch_0_sm_80.ptx

// The PTX loads: the driver looks for no file.
// RUN: tenon-run %t/with.tenon --function=k --input=8xf32=3 | FileCheck %s --check-prefix=VALUE
// VALUE: 8xf32=6 6 6 6 6 6 6 6

// NONE-NOT: {{^[[:space:]]*}}.loc
// NONE-NOT: {{^[[:space:]]*}}.file
// NONE: ret;
// CHECK: .target sm_80{{$}}
// CHECK: .loc {{[0-9]+}} [[#@LINE+13]]
// CHECK: add.rn.f32
// CHECK: .file {{.*}}line_info.mlir"
// MOVED: .loc {{[0-9]+}} [[#@LINE+9]]
// MOVED: add.rn.f32
// MOVED: .file {{.*}}moved.mlir"

#id = affine_map<(d0) -> (d0)>
func.func @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
