// Kernels of unknown sizes are told whether their tensors have fewer elements than words count, and compute positions in
// 32 bits where they have. Inside of a pad no place is clamped.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_90a --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/pad_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=CLAMPS --input-file=%t/pad_dispatch_0_sm_90a.ptx

// The reciprocals of both inner sizes of the result, of its number of elements, and of that of %x.
// CHECK-LABEL: func.func @pad_dispatch_0(
// CHECK-COUNT-4: tenon.reciprocal
// PTX-LABEL: .entry pad_dispatch_0(
// Both are compared, then there is a kernel for words, and one for numbers of 64 bits.
// PTX: setp.{{lt|gt}}.u64
// PTX: mul.wide.u32 %tenon_product
// PTX: mul.hi.u64
// CLAMPS-NOT: {{min|max}}.s64
func.func @pad(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %z = arith.constant 0.0 : f32
  %r = tensor.pad %x low[0, 1, 0] high[0, 2, 3] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %z : f32
  } : tensor<?x?x?xf32> to tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
