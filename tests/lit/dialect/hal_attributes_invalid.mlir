// Attributes that are refused while they are read.
// RUN: tenon-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

// expected-error @+1 {{binding type 'sampler' is unknown, 'storage_buffer' or 'uniform_buffer' is wanted}}
"x"() {a = #hal.pipeline.binding<sampler>} : () -> ()

// -----

// expected-error @+1 {{flag 'WriteOnly' is unknown, ReadOnly, Indirect or 'alignment = 16' is wanted}}
"x"() {a = #hal.pipeline.binding<storage_buffer, "ReadOnly|WriteOnly">} : () -> ()

// -----

// expected-error @+1 {{flag 'align' is unknown, ReadOnly, Indirect or 'alignment = 16' is wanted}}
"x"() {a = #hal.pipeline.binding<storage_buffer, align = 16>} : () -> ()

// -----

// expected-error @+1 {{expected '=' behind 'alignment', as in 'alignment = 16'}}
"x"() {a = #hal.pipeline.binding<storage_buffer, ReadOnly, alignment(16)>} : () -> ()

// -----

// expected-error @+1 {{flag 'ReadWrite' is unknown, Indirect is wanted}}
"x"() {a = #hal.pipeline.layout<constants = 0, bindings = [], flags = ReadWrite>} : () -> ()

// -----

// expected-error @+1 {{binding alignment is 12, a power of two up to 2097152 is wanted}}
"x"() {a = #hal.pipeline.binding<storage_buffer, alignment = 12>} : () -> ()

// -----

// expected-error @+1 {{constant type is 'i24', one of i1, i8, i16, i32, i64, f16, bf16, f32, f64, index is wanted}}
"x"() {a = #hal.pipeline.layout<constants = [i24], bindings = []>} : () -> ()

// -----

// expected-error @+1 {{expected 'constants', 'push_constants', 'bindings', 'sets', 'parameters' or 'flags'}}
"x"() {a = #hal.pipeline.layout<constant = 1>} : () -> ()

// -----

// expected-error @+1 {{found binding 2 in set 0, binding 1 is wanted: number the bindings of a set from 0, each once}}
"x"() {a = #hal.pipeline.layout<push_constants = 0, sets = [<0, bindings = [<0, storage_buffer>, <2, storage_buffer>]>]>} : () -> ()

// -----

// expected-error @+1 {{found descriptor set 1, set 0 is wanted: number the sets from 0, each once}}
"x"() {a = #hal.pipeline.layout<push_constants = 0, sets = [<1, bindings = [<0, storage_buffer>]>]>} : () -> ()

// -----

// expected-error @+1 {{layout has both 'bindings' and 'sets': keep 'bindings'}}
"x"() {a = #hal.pipeline.layout<bindings = [<storage_buffer>], sets = [<0, bindings = [<0, storage_buffer>]>]>} : () -> ()

// -----

// expected-error @+1 {{flag 'ReadOnly' belongs to a binding, a layout takes 'Indirect' only}}
"x"() {a = #hal.pipeline.layout<bindings = [], flags = ReadOnly>} : () -> ()

// -----

// expected-error @+1 {{object has 'pth = "a.ptx"', 'path = "file"' and 'data = dense<..>' are wanted}}
"x"() {a = #hal.executable.object<{pth = "a.ptx"}>} : () -> ()

// -----

// expected-error @+1 {{'executable_targets' is ["sm_80"], a list of #hal.executable.target<..> is wanted}}
"x"() {a = #hal.device.target<"cuda", {executable_targets = ["sm_80"]}>} : () -> ()

// -----

#t = #hal.executable.target<"cuda", "cuda-nvptx-fb">
// expected-error @+1 {{targets are given twice: as a list and as 'executable_targets'; keep the list}}
"x"() {a = #hal.device.target<"cuda", {executable_targets = [#t]}, [#t]>} : () -> ()

// -----

// expected-error @+1 {{type of a device target is 'i32', !hal.device is wanted}}
"x"() {a = #hal.device.target<"cuda"> : i32} : () -> ()

// -----

// expected-error @+1 {{'hal.device.targets' is ["cuda"], a list of #hal.device.target<..> is wanted}}
module attributes {hal.device.targets = ["cuda"]} {}

// -----

// expected-error @+1 {{binding alignment is -16, a power of two up to 2097152 is wanted}}
"x"() {a = #hal.pipeline.binding<storage_buffer, alignment = -16>} : () -> ()

// -----

// expected-error @+1 {{layout has -1 constants, 0 to 8191 are wanted: a kernel takes at most 32764 bytes of parameters}}
"x"() {a = #hal.pipeline.layout<constants = -1, bindings = []>} : () -> ()

// -----

// expected-error @+1 {{layout has 8192 constants, 0 to 8191 are wanted}}
"x"() {a = #hal.pipeline.layout<push_constants = 8192>} : () -> ()

// -----

// expected-error @+1 {{ordinal is -1, a number from 0 is wanted}}
"x"() {a = #hal.interface.binding<0, -1>} : () -> ()

// -----

// expected-error @+1 {{constant type is 'tuple<i32, vector<4xf32>>', one of}}
"x"() {a = #hal.pipeline.layout<constants = [tuple<i32, vector<4xf32>>], bindings = []>} : () -> ()

// -----

// expected-error @+1 {{'B256' is unknown, one of None, B32, B64, B128 is wanted}}
"x"() {a = !hal.tensor_map<8x64xf16, swizzle = B256>} : () -> ()

// -----

// expected-error @+1 {{a tensor map has a box and an element type, as in 64x64xf16}}
"x"() {a = !hal.tensor_map<binding = 0>} : () -> ()

// -----

// expected-error @+1 {{'mode' is unknown, binding, a box (64x64xf16), element_strides}}
"x"() {a = !hal.tensor_map<8x64xf16, mode = Im2col>} : () -> ()
