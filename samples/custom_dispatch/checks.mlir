// Tests of the kernels, as a program: functions without arguments, whose check.expect_* say what must come out.
//
//   tenon-compile checks.mlir --object-search-path=. -o checks.tenon
//   tenon-check checks.tenon

// PTX for the oldest architecture runs on every later device.
#nvptx_sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#read = #hal.pipeline.binding<storage_buffer, ReadOnly>
#write = #hal.pipeline.binding<storage_buffer>

module @checks {
  hal.executable.source private @executable <
    objects = #hal.executable.objects<{#nvptx_sm_75 = [#hal.executable.object<{path = "kernels_sm_75.ptx"}>]}>
  > {
    hal.executable.export public @simple_mul ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [#read, #read, #write]>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]>
    hal.executable.export public @simple_mul_inplace ordinal(1)
        layout(#hal.pipeline.layout<constants = 1, bindings = [#read, #write]>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
      %c1 = arith.constant 1 : index
      hal.return %x, %c1, %c1 : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]>
  }

  // Against numbers written down. An input is kept from the optimizer by util.unfoldable_constant.
  func.func @multiplies() {
    %n = arith.constant 4 : i32
    %w = arith.constant 4 : index
    %a = util.unfoldable_constant dense<[1.0, 2.0, 3.0, -4.0]> : tensor<4xf32>
    %b = util.unfoldable_constant dense<[5.0, 0.5, 0.0, 0.25]> : tensor<4xf32>
    %0 = flow.dispatch @executable::@simple_mul[%w](%n, %a, %b)
        : (i32, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    check.expect_eq_const(%0, dense<[5.0, 1.0, 0.0, -1.0]> : tensor<4xf32>) : tensor<4xf32>
    return
  }

  // Against the same computed by a kernel that the compiler generates, at a size that fills no whole block.
  func.func @agrees_with_generated_code() {
    %n = arith.constant 100 : i32
    %w = arith.constant 100 : index
    %a = util.unfoldable_constant dense<1.1> : tensor<100xf32>
    %b = util.unfoldable_constant dense<0.7> : tensor<100xf32>
    %0 = flow.dispatch @executable::@simple_mul[%w](%n, %a, %b)
        : (i32, tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
    %1 = flow.dispatch @executable::@simple_mul_inplace[%w](%n, %a, %0)
        : (i32, tensor<100xf32>, tensor<100xf32>) -> %0
    %product = arith.mulf %a, %b : tensor<100xf32>
    %expected = arith.mulf %product, %a : tensor<100xf32>
    check.expect_almost_eq(%1, %expected, atol 0.0, rtol 1.0e-6) : tensor<100xf32>
    return
  }
}
