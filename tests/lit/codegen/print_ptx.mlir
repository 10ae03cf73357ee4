// The PTX of a contiguous elementwise kernel: 16 bytes at a time where the bases allow it, else one by one.
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_80 -o /dev/null | FileCheck %s
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_75 -o /dev/null | FileCheck %s --check-prefix=SM75
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_90a -o /dev/null | FileCheck %s --check-prefix=SM90A
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_120 -o /dev/null | FileCheck %s --check-prefix=SM120
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_52 -o /dev/null | FileCheck %s --check-prefix=SM52
// RUN: not tenon-opt %s --tenon-print-ptx=target=sm_42 -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SM75: .version 6.3
// SM75: .target sm_75
// SM90A: .version 8.0
// SM90A: .target sm_90a
// SM120: .version 8.7
// SM120: .target sm_120
// SM52: .version 6.3
// SM52: .target sm_52
// UNKNOWN: error: unknown target 'sm_42'; known targets: {{.*}}sm_52{{.*}}sm_90a

// CHECK: .version 7.0
// CHECK: .target sm_80
// CHECK: .address_size 64
// Pointers of the bindings, then the scalars.
// CHECK: .visible .entry add(
// CHECK: .param .u64 .ptr .global .align 1 add_param_0,
// CHECK: .param .u64 .ptr .global .align 1 add_param_1,
// CHECK: .param .u64 .ptr .global .align 1 add_param_2,
// CHECK: .param .u64 add_param_3
// CHECK: .reqntid 256, 1, 1
// The bases are tested before the wide path.
// CHECK: and.b64 {{.*}}, 15;
// CHECK: ld.global.nc.v4.b32
// CHECK: ld.global.nc.v4.b32
// CHECK-COUNT-4: add.rn.f32
// CHECK: st.global.v4.b32
// CHECK: .pragma "nounroll";
// CHECK: ld.global.nc.b32
// CHECK: ld.global.nc.b32
// CHECK: add.rn.f32
// CHECK: st.global.b32
// CHECK: ret;
// CHECK-NOT: llvm.used

#id = affine_map<(d0) -> (d0)>
func.func @add(%n: i64, %x: tensor<?xf32> {tenon.dims = array<i64: 0>}, %y: tensor<?xf32> {tenon.dims = array<i64: 0>})
    -> (tensor<?xf32> {tenon.dims = array<i64: 0>}) attributes {tenon.elements_per_thread = 4 : i64} {
  %0 = arith.index_cast %n : i64 to index
  %1 = tensor.empty(%0) : tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%1 : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
