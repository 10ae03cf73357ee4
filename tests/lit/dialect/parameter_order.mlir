// The order of a kernel's parameters, as it is written and printed.
// RUN: tenon-opt --allow-unregistered-dialect --mlir-print-local-scope %s | FileCheck %s
// RUN: tenon-opt --allow-unregistered-dialect %s > %t.1
// RUN: tenon-opt --allow-unregistered-dialect %t.1 > %t.2
// RUN: diff %t.1 %t.2

#b = #hal.pipeline.binding<storage_buffer>

// CHECK-LABEL: "orders"
"orders"() {
  // CHECK-SAME: a0 = #hal.pipeline.layout<constants = [i32, f32], bindings = [#hal.pipeline.binding<storage_buffer>], parameters = [constant 0, binding 0, constant 1]>
  a0 = #hal.pipeline.layout<constants = [i32, f32], bindings = [#b], parameters = [constant 0, binding 0, constant 1]>,
  // CHECK-SAME: a1 = #hal.pipeline.layout<constants = [i64], bindings = [#hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>], parameters = [hidden, struct<32, alignment = 8>(binding 0 at 0, constant 0 at 8, hidden at 16, binding 1 at 24), padding<4, alignment = 2>], flags = Indirect>
  a1 = #hal.pipeline.layout<parameters = [hidden, struct<32, alignment = 8>(binding 0 at 0, constant 0 at 8, hidden at 16, binding 1 at 24), padding<4, alignment = 2>], flags = Indirect, bindings = [#b, #b], constants = [i64]>,
  // CHECK-SAME: a2 = #hal.pipeline.layout<constants = [tuple<i64, i64>], bindings = [#hal.pipeline.binding<storage_buffer>], parameters = [constant 0(binding 0 at 8)]>
  a2 = #hal.pipeline.layout<constants = [tuple<i64, i64>], bindings = [#b], parameters = [constant 0(binding 0 at 8)]>,
  // CHECK-SAME: a3 = #hal.pipeline.layout<bindings = []>
  a3 = #hal.pipeline.layout<bindings = [], parameters = []>,
  // CHECK-SAME: a4 = #hal.parameter<struct<8, alignment = 8>(binding 0 at 0)>
  a4 = #hal.parameter<struct<8, alignment = 8>(binding 0 at 0)>
} : () -> ()
