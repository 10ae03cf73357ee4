// A kernel whose parameters stand as its layout says: a scalar first, pointers and a scalar in a struct, a null pointer
// and padding that it does not use.
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_80 -o /dev/null | FileCheck %s

// CHECK: .visible .entry ordered(
// CHECK-NEXT: ordered_param_0,
// CHECK-NEXT: .param .align 8 .b8 ordered_param_1[48],
// CHECK-NEXT: ordered_param_2,
// CHECK-NEXT: .param .align 2 .b8 ordered_param_3[2]
// CHECK-NOT: ordered_param_3
// CHECK-DAG: ld.param.b32 {{.*}}, [ordered_param_0];
// CHECK-DAG: ld.param{{.*}}.b64 {{.*}}ordered_param_1+8];
// CHECK-DAG: ld.param{{.*}}.b64 {{.*}}ordered_param_1+24];
// CHECK-DAG: ld.param{{.*}}.b64 {{.*}}ordered_param_1+32];
// CHECK: add.rn.f32
// CHECK: st.global
// CHECK: ret;
#b = #hal.pipeline.binding<storage_buffer>
#layout = #hal.pipeline.layout<constants = [i64, f32], bindings = [#b, #b], parameters = [
  constant 1, struct<48, alignment = 8>(constant 0 at 8, binding 1 at 24, binding 0 at 32), hidden, padding<2, alignment = 2>]>
#id = affine_map<(d0) -> (d0)>
func.func @ordered(%n: i64, %a: f32, %x: tensor<?xf32> {tenon.dims = array<i64: 0>})
    -> (tensor<?xf32> {tenon.dims = array<i64: 0>})
    attributes {tenon.elements_per_thread = 1 : i64, tenon.workgroup_size = array<i32: 64, 1, 1>, tenon.layout = #layout} {
  %0 = arith.index_cast %n : i64 to index
  %1 = tensor.empty(%0) : tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%1 : tensor<?xf32>) {
    ^bb0(%e: f32, %o: f32):
      %s = arith.addf %e, %a : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
