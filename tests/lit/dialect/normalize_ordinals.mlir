// Exports without an ordinal take the free numbers in the order written.
// RUN: tenon-opt %s --tenon-normalize-executables | FileCheck %s

#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "all.ptx"}>]
}>} {
  // CHECK: @a ordinal(0) {{.*}} <workgroup_size = [64 : index, 1 : index, 1 : index]>
  hal.executable.export @a layout(#layout) attributes {workgroup_size = [64]}
  // CHECK: @b ordinal(1) {{.*}} <workgroup_size = [8 : index, 4 : index, 1 : index]>
  hal.executable.export @b ordinal(1) layout(#layout) attributes {workgroup_size = [8 : i32, 4 : i32]}
  // CHECK: @c ordinal(2) {{.*}} <workgroup_size = [1 : index, 2 : index, 3 : index]>
  hal.executable.export @c layout(#layout) attributes {workgroup_size = [1 : index, 2 : index, 3 : index]}
}
