// Generic keys are resolved against the targets of the module; objects of every key that serves a target are
// concatenated; a key for an architecture that the module does not name stays.
// RUN: split-file %s %t
// RUN: tenon-opt %t/generic.mlir --tenon-normalize-executables --mlir-print-local-scope 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: tenon-opt %t/fallback.mlir --tenon-normalize-executables --mlir-print-local-scope | FileCheck %s --check-prefix=DEFAULT
// RUN: tenon-opt %t/fallback.mlir --tenon-normalize-executables="targets=sm_80,sm_90a" --mlir-print-local-scope | FileCheck %s --check-prefix=OPTION
// RUN: tenon-opt %t/named.mlir --tenon-normalize-executables="targets=sm_80" --mlir-print-local-scope | FileCheck %s --check-prefix=NAMED
// RUN: tenon-opt %t/partial.mlir --tenon-normalize-executables --mlir-print-local-scope 2>&1 | FileCheck %s --check-prefix=PARTIAL

//--- generic.mlir
// GENERIC: module attributes {hal.device.targets = [#hal.device.target<"cuda", [{{.*}}]> : !hal.device]}
// GENERIC: objects = #hal.executable.objects<{
// GENERIC-SAME: #hal.executable.target<"cuda", "cuda-nvptx-fb", {features = "+ptx80", target_arch = "sm_80"}> = [#hal.executable.object<{path = "all.ptx"}>, #hal.executable.object<{path = "sm_80.ptx"}>, #hal.executable.object<{path = "ptx80.ptx"}>],
// GENERIC-SAME: #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}> = [#hal.executable.object<{path = "all.ptx"}>],
// GENERIC-SAME: #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}> = [#hal.executable.object<{path = "sm_75.ptx"}>]}>
#t0 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80", features = "+ptx80"}>
#t1 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#t0, #t1]>]} {
  hal.executable.source private @e attributes {objects = #hal.executable.objects<{
    <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "all.ptx"}>],
    <"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "sm_80.ptx"}>],
    <"cuda", "cuda-nvptx-fb", {features = "+ptx80"}> = [#hal.executable.object<{path = "ptx80.ptx"}>],
    <"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}> = [#hal.executable.object<{path = "sm_75.ptx"}>]
  }>} {}
}

//--- fallback.mlir
// DEFAULT: hal.device.targets = [#hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>, #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>, #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}>]> : !hal.device]
// DEFAULT: objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}> = [#hal.executable.object<{path = "all.ptx"}>], #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "all.ptx"}>], #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}> = [#hal.executable.object<{path = "all.ptx"}>]}>
// OPTION: hal.device.targets = [#hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>, #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}>]> : !hal.device]
// OPTION: objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "all.ptx"}>], #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}> = [#hal.executable.object<{path = "all.ptx"}>]}>
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  <"cuda", "cuda-nvptx-fb"> = [#hal.executable.object<{path = "all.ptx"}>]
}>} {}

//--- named.mlir
// The objects name targets: --target= is for modules that name none.
// NAMED: hal.device.targets = [#hal.device.target<"cuda", [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_89"}>]> : !hal.device]
hal.executable.source private @e attributes {objects = #hal.executable.objects<{
  <"cuda", "cuda-nvptx-fb", {target_arch = "sm_89"}> = [#hal.executable.object<{path = "sm_89.ptx"}>]
}>} {}

//--- partial.mlir
// PARTIAL: warning: 'e' has no objects for target sm_90 of the module: such a device takes PTX for an older one, if there is any
// PARTIAL: objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}> = [#hal.executable.object<{path = "sm_80.ptx"}>]}>
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
module attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_80, #sm_90]>]} {
  hal.executable.source private @e attributes {objects = #hal.executable.objects<{
    #sm_80 = [#hal.executable.object<{path = "sm_80.ptx"}>]
  }>} {}
}
