// Tensor constants: equal bytes are stored once, whatever their type; of a splat, one element.
// RUN: tenon-compile %s -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-run %t.tenon --function=constants | FileCheck %s --check-prefix=VALUES
// VALUES: 4xf32=0 0 0 0
// VALUES: 2x2xi32=[0 0][0 0]
// VALUES: 3xf16=1 2 3
// VALUES: 3xi1=1 0 1
// VALUES: 2xi32=1 2
// VALUES: 0xf32=

// CHECK-LABEL: function 'constants'
// CHECK:         b0 = constant 0
// CHECK-NEXT:    b1 = constant 1
// CHECK-NEXT:    b2 = constant 2
// CHECK-NEXT:    b3 = constant 3
// CHECK-NEXT:    b4 = constant 4
// CHECK-NEXT:  results:
// CHECK-NEXT:    tensor<4xf32> = b0
// CHECK-NEXT:    tensor<2x2xi32> = b0
// CHECK-NEXT:    tensor<3xf16> = b1
// CHECK-NEXT:    tensor<3xi1> = b2
// CHECK-NEXT:    tensor<2xi32> = b3
// CHECK-NEXT:    tensor<0xf32> = b4
// CHECK:       constant 0: 16 bytes, 1 of them repeated
// CHECK-NEXT:  constant 1: 6 bytes
// CHECK-NEXT:  constant 2: 3 bytes
// CHECK-NEXT:  constant 3: 8 bytes
// CHECK-NEXT:  constant 4: 0 bytes
func.func @constants() -> (tensor<4xf32>, tensor<2x2xi32>, tensor<3xf16>, tensor<3xi1>, tensor<2xi32>, tensor<0xf32>) {
  %0 = arith.constant dense<0.0> : tensor<4xf32>
  %1 = arith.constant dense<[[0, 0], [0, 0]]> : tensor<2x2xi32>
  %2 = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf16>
  %3 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %4 = arith.constant dense_resource<words> : tensor<2xi32>
  %5 = util.unfoldable_constant dense<> : tensor<0xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<2x2xi32>, tensor<3xf16>, tensor<3xi1>, tensor<2xi32>, tensor<0xf32>
}

{-#
  dialect_resources: {
    builtin: {
      words: "0x040000000100000002000000"
    }
  }
#-}
