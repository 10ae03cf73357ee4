// Every attribute of hal in every spelling that is read, and the one that is printed.
// RUN: tenon-opt --allow-unregistered-dialect --mlir-print-local-scope %s | FileCheck %s
// RUN: tenon-opt --allow-unregistered-dialect %s > %t.1
// RUN: tenon-opt --allow-unregistered-dialect %t.1 > %t.2
// RUN: diff %t.1 %t.2

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#generic = #hal.executable.target<"cuda", "cuda-nvptx-fb">

// CHECK-LABEL: "targets"
"targets"() {
  // CHECK-SAME: a0 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
  a0 = #sm_80,
  // CHECK-SAME: a1 = #hal.executable.target<"cuda", "cuda-nvptx-fb">
  a1 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {}>,
  // CHECK-SAME: a2 = #hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>, #hal.executable.target<"cuda", "cuda-nvptx-fb">]> : !hal.device
  a2 = #hal.device.target<"cuda", [#sm_80, <"cuda", "cuda-nvptx-fb">]> : !hal.device,
  // CHECK-SAME: a3 = #hal.device.target<"cuda", {legacy_sync}, [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>]> : !hal.device
  a3 = #hal.device.target<"cuda", {legacy_sync}, [#sm_80]>,
  // CHECK-SAME: a4 = #hal.device.target<"cuda", {legacy_sync}, [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>]> : !hal.device
  a4 = #hal.device.target<"cuda", {executable_targets = [#sm_80], legacy_sync}>,
  // CHECK-SAME: a5 = #hal.device.target<"cuda"> : !hal.device
  a5 = #hal.device.target<"cuda">,
  // CHECK-SAME: a6 = !hal.device
  a6 = !hal.device
} : () -> ()

// CHECK-LABEL: "objects"
"objects"() {
  // CHECK-SAME: a0 = #hal.executable.object<{path = "a.ptx"}>
  a0 = #hal.executable.object<{path = "a.ptx"}>,
  // CHECK-SAME: a1 = #hal.executable.object<{path = "a.ptx", data = dense<[1, 2]> : vector<2xi8>}>
  a1 = #hal.executable.object<{data = dense<[1, 2]> : vector<2xi8>, path = "a.ptx"}>,
  // CHECK-SAME: a2 = #hal.executable.object<{data = dense<0> : tensor<4xi8>}>
  a2 = #hal.executable.object<{data = dense<0> : tensor<4xi8>}>,
  // CHECK-SAME: a3 = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "a.ptx"}>, #hal.executable.object<{path = "b.ptx"}>], #hal.executable.target<"cuda", "cuda-nvptx-fb"> = []}>
  a3 = #hal.executable.objects<{
    #sm_80 = [#hal.executable.object<{path = "a.ptx"}>, <{path = "b.ptx"}>],
    #generic = []
  }>,
  // CHECK-SAME: a4 = #hal.executable.objects<{}>
  a4 = #hal.executable.objects<{}>
} : () -> ()

// CHECK-LABEL: "bindings"
"bindings"() {
  // CHECK-SAME: a0 = #hal.pipeline.binding<storage_buffer>
  a0 = #hal.pipeline.binding<storage_buffer>,
  // CHECK-SAME: a1 = #hal.pipeline.binding<uniform_buffer, ReadOnly>
  a1 = #hal.pipeline.binding<uniform_buffer, ReadOnly>,
  // CHECK-SAME: a2 = #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">
  a2 = #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  // CHECK-SAME: a3 = #hal.pipeline.binding<storage_buffer, ReadOnly>
  a3 = #hal.pipeline.binding<storage_buffer, "ReadOnly">,
  // CHECK-SAME: a4 = #hal.pipeline.binding<storage_buffer, Indirect, alignment = 16>
  a4 = #hal.pipeline.binding<storage_buffer, Indirect, alignment = 16 : i64>,
  // CHECK-SAME: a5 = #hal.pipeline.binding<storage_buffer>
  a5 = #hal.pipeline.binding<storage_buffer, None>,
  // CHECK-SAME: a6 = #hal.interface.binding<0, 1>
  a6 = #hal.interface.binding<0, 1>
} : () -> ()

// CHECK-LABEL: "layouts"
"layouts"() {
  // CHECK-SAME: a0 = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
  a0 = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, <storage_buffer>]>,
  // CHECK-SAME: a1 = #hal.pipeline.layout<constants = [i32, i64, f32, bf16, index], bindings = []>
  a1 = #hal.pipeline.layout<constants = [i32, i64, f32, bf16, index], bindings = []>,
  // CHECK-SAME: a2 = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>], flags = Indirect>
  a2 = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>], flags = Indirect>,
  // CHECK-SAME: a3 = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<uniform_buffer>, #hal.pipeline.binding<storage_buffer>]>
  a3 = #hal.pipeline.layout<push_constants = 2, sets = [
    <1, bindings = [<0, storage_buffer>]>,
    #hal.descriptor_set.layout<0, bindings = [
      #hal.descriptor_set.binding<1, uniform_buffer>,
      #hal.descriptor_set.binding<0, storage_buffer, ReadOnly>
    ]>
  ]>,
  // CHECK-SAME: a30 = #hal.pipeline.layout<constants = [tuple<i64, f32>, !hal.tensor_map<binding = 0, 64x32xf16>], bindings = []>
  a30 = #hal.pipeline.layout<constants = [tuple<i64, f32>, !hal.tensor_map<64x32xf16>], bindings = []>,
  // CHECK-SAME: a31 = #hal.pipeline.layout<constants = [!hal.tensor_map<binding = 1, 1x8x64xbf16, element_strides = [1, 2, 1], interleave = B32, swizzle = B32, promotion = L2B256, fill = Nans, alignment = 128>], bindings = []>
  a31 = #hal.pipeline.layout<constants = [!hal.tensor_map<fill = Nans, swizzle = B32, 1x8x64xbf16, interleave = B32, promotion = L2B256, element_strides = [1, 2, 1], alignment = 128, binding = 1>], bindings = []>,
  // CHECK-SAME: a4 = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>], flags = Indirect>
  a4 = #hal.pipeline.layout<push_constants = 0, sets = [<0, bindings = [<0, storage_buffer>], flags = Indirect>]>,
  // CHECK-SAME: a5 = #hal.descriptor_set.layout<0, bindings = [#hal.descriptor_set.binding<0, storage_buffer, ReadOnly>]>
  a5 = #hal.descriptor_set.layout<0, bindings = [<0, storage_buffer, ReadOnly>]>
} : () -> ()
