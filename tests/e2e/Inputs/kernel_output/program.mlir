#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
module @kernel_output {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.cu"}>]}>
  } {
    hal.executable.export public @hello layout(#layout) count(%d: !hal.device, %n: index) -> (index, index, index) {
      %1 = arith.constant 1 : index
      hal.return %n, %1, %1 : index, index, index
    } attributes {workgroup_size = [1 : index]}
    hal.executable.export public @twice layout(#layout) count(%d: !hal.device, %n: index) -> (index, index, index) {
      %1 = arith.constant 1 : index
      hal.return %n, %1, %1 : index, index, index
    } attributes {workgroup_size = [1 : index]}
    hal.executable.export public @positive layout(#layout) count(%d: !hal.device, %n: index) -> (index, index, index) {
      %1 = arith.constant 1 : index
      hal.return %n, %1, %1 : index, index, index
    } attributes {workgroup_size = [1 : index]}
  }
  func.func @prints() -> tensor<2xi32> {
    %n = arith.constant 2 : index
    %0 = flow.dispatch @k::@hello[%n]() : () -> tensor<2xi32>
    %1 = flow.dispatch @k::@twice[%n](%0) : (tensor<2xi32>) -> %0
    return %1 : tensor<2xi32>
  }
  func.func @asserts() -> tensor<2xi32> {
    %n = arith.constant 2 : index
    %0 = flow.dispatch @k::@hello[%n]() : () -> tensor<2xi32>
    %1 = flow.dispatch @k::@positive[%n](%0) : (tensor<2xi32>) -> %0
    %2 = flow.dispatch @k::@twice[%n](%1) : (tensor<2xi32>) -> %1
    return %2 : tensor<2xi32>
  }
}
