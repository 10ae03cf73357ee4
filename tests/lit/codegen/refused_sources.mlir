// Executables whose device code cannot be generated.
// RUN: tenon-opt %s --tenon-generate-kernels --split-input-file --verify-diagnostics -o /dev/null

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
// expected-error @+1 {{'both' has both objects and a module of device code, which is not supported}}
hal.executable.source private @both attributes {objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "k.ptx"}>]}>} {
  hal.executable.export public @both ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {workgroup_size = [256 : index, 1 : index, 1 : index]}
  builtin.module {
    func.func @both(%a: tensor<4xf32>) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }
  }
}

// -----

hal.executable.source private @two {
  hal.executable.export public @two ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {workgroup_size = [256 : index, 1 : index, 1 : index]}
  builtin.module {
  }
  // expected-error @+1 {{a source of device code may hold one module}}
  builtin.module {
  }
}
