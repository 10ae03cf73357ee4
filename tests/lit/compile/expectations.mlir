// check.expect_* become expectations of the program, compared by the host when a call has ended.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-dump --json %t.tenon | FileCheck %s --check-prefix=JSON
// RUN: tenon-check %t.tenon | FileCheck %s --check-prefix=RAN

#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @expectations {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
  } {
    hal.executable.export public @copy layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
    hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
  }

  // A value that is compared is no longer updated in place: the host looks at it after the last command.
  // CHECK-LABEL: function 'compared_before_the_update'
  // CHECK:         b0 = constant 0
  // CHECK-NEXT:    b1 = transient
  // CHECK-NEXT:    b2 = transient
  // CHECK-NEXT:    b3 = constant 1
  // CHECK-NEXT:  commands:
  // CHECK-NEXT:    dispatch 'k'::'copy' {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    copy b1 -> b2
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b2)
  // CHECK-NEXT:  expectations:
  // CHECK-NEXT:    check.expect_eq tensor<4xf32> = b1, shape (r{{[0-9]+}}) wanted tensor<4xf32> = b0, shape (r{{[0-9]+}})  // expectations.mlir:[[#]]:5
  // CHECK-NEXT:    check.expect_almost_eq_const tensor<4xf32> = b2, shape {{.*}} wanted tensor<4xf32> = b3, {{.*}}, atol 0.0001, rtol 0.5  // expectations.mlir
  // JSON: "expectations": [
  // JSON-NEXT: "check.expect_eq tensor<4xf32> = b1
  // RAN: PASS @compared_before_the_update expectations.mlir:[[#@LINE+8]]:5: check.expect_eq
  // RAN: PASS @compared_before_the_update expectations.mlir:[[#@LINE+9]]:5: check.expect_almost_eq_const
  func.func @compared_before_the_update() {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %0 = flow.dispatch @k::@copy[%w](%n, %c) : (i32, tensor<4xf32>) -> tensor<4xf32>
    // Compared before %0 is updated in the text, looked at after it.
    check.expect_eq(%0, %c) : tensor<4xf32>
    %1 = flow.dispatch @k::@scale[%w](%n, %0) : (i32, tensor<4xf32>) -> %0
    check.expect_almost_eq_const(%1, dense<[2.0, 4.0, 6.0, 8.5]> : tensor<4xf32>, rtol 0.5) : tensor<4xf32>
    return
  }

  // Scalars are registers. A dispatch that only an expectation needs is run.
  // CHECK-LABEL: function 'scalars'
  // CHECK:       expectations:
  // CHECK-NEXT:    check.expect_true i1 = r
  // CHECK-NEXT:    check.expect_false index = r
  // CHECK-NEXT:    check.expect_all_true tensor<2xi64> = b
  // RAN: PASS @scalars {{.*}} check.expect_true
  // RAN: PASS @scalars {{.*}} check.expect_false
  // RAN: PASS @scalars {{.*}} check.expect_all_true
  func.func @scalars() {
    %0 = arith.constant 0 : index
    %c = util.unfoldable_constant dense<[1, 2]> : tensor<2xi64>
    %two = tensor.dim %c, %0 : tensor<2xi64>
    %yes = arith.cmpi sgt, %two, %0 : index
    check.expect_true(%yes) : i1
    check.expect_false(%0) : index
    %sum = arith.addi %c, %c : tensor<2xi64>
    check.expect_all_true(%sum) : tensor<2xi64>
    return
  }
  // RAN: 2 functions: 5 expectations hold, 0 failed
}
