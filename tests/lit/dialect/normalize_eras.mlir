// The sample, in today's words, in those of two older eras, and as variants: one normalized module.
// RUN: tenon-opt %samples/custom_dispatch/example.mlir --tenon-normalize-executables > %t.new
// RUN: tenon-opt %S/Inputs/era_push_constants.mlir --tenon-normalize-executables > %t.push_constants
// RUN: tenon-opt %S/Inputs/era_descriptor_sets.mlir --tenon-normalize-executables > %t.descriptor_sets
// RUN: tenon-opt %S/Inputs/era_variants.mlir --tenon-normalize-executables > %t.variants
// RUN: diff %t.new %t.push_constants
// RUN: diff %t.new %t.descriptor_sets
// RUN: diff %t.new %t.variants
// Normalizing twice changes nothing.
// RUN: tenon-opt %t.new --tenon-normalize-executables | diff %t.new -
// RUN: FileCheck %s < %t.new

// CHECK-DAG: #[[T75:.*]] = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
// CHECK-DAG: #[[T80:.*]] = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// CHECK-DAG: #[[T90:.*]] = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
// CHECK-DAG: #[[L0:.*]] = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
// CHECK-DAG: #[[L1:.*]] = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
// CHECK: hal.executable.source private @executable <objects = #hal.executable.objects<{#[[T75]] = [#hal.executable.object<{path = "kernels_sm_75.ptx"}>], #[[T80]] = [#hal.executable.object<{path = "kernels_sm_80.ptx"}>], #[[T90]] = [#hal.executable.object<{path = "kernels_sm_90.ptx"}>]}>> {
// CHECK:   hal.executable.export public @simple_mul ordinal(0) layout(#[[L0]]) count(%{{.*}}: !hal.device, %{{.*}}: index) -> (index, index, index) {
// CHECK:   } <workgroup_size = [64 : index, 1 : index, 1 : index]>
// CHECK:   hal.executable.export public @simple_mul_inplace ordinal(1) layout(#[[L1]]) count(%{{.*}}: !hal.device, %{{.*}}: index) -> (index, index, index) {
// CHECK:   } <workgroup_size = [64 : index, 1 : index, 1 : index]>
// CHECK: flow.dispatch @executable::@simple_mul[
// CHECK: flow.dispatch @executable::@simple_mul_inplace[
