// Wrong inputs and wrong command lines: an error, exit status 1 (2 for the command line), and no launch.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @f(%arg0: tensor<4x?xf32>, %arg1: i32) -> tensor<4x?xf32> {
  return %arg0 : tensor<4x?xf32>
}
func.func @g(%arg0: tensor<i32>) -> tensor<i32> {
  return %arg0 : tensor<i32>
}

// RUN: not tenon-run %t.tenon --function=f --input=4x2xf32=1 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT-NOT: EXEC
// COUNT: tenon-run: error: 1 input given, function 'f' takes 2 (tensor<4x?xf32>, i32)

// RUN: not tenon-run %t.tenon --function=f --input=4x2xf32=1 --input=1 --input=1 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: tenon-run: error: 3 inputs given, function 'f' takes 2

// RUN: not tenon-run %t.tenon --function=f --input=4x2xf64=1 --input=1 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT-NOT: EXEC
// ELEMENT: input 0 of function 'f' is tensor<4x2xf64>, expected tensor<4x?xf32>: the element types differ

// RUN: not tenon-run %t.tenon --function=f --input=8xf32=1 --input=1 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: input 0 of function 'f' is tensor<8xf32>, expected tensor<4x?xf32>: rank 1, expected rank 2

// RUN: not tenon-run %t.tenon --function=f --input=3x2xf32=1 --input=1 2>&1 | FileCheck %s --check-prefix=EXTENT
// EXTENT: input 0 of function 'f' is tensor<3x2xf32>, expected tensor<4x?xf32>: dimension 0 is 3, expected 4

// RUN: not tenon-run %t.tenon --function=f --input=4x2xf32=1 --input=8xi32=1 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: input 1 ('8xi32=1'): '8xi32=1' is given for a scalar of type i32

// RUN: not tenon-run %t.tenon --function=f --input=4x2xf32=1 --input=1.5 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: input 1 ('1.5'): '1.5' is no i32

// RUN: not tenon-run %t.tenon --function=f --input='4x2xf32=1 2' --input=1 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: input 0 ('4x2xf32=1 2'): 2 elements, 4x2xf32 has 8 (one alone would fill it)

// RUN: not tenon-run %t.tenon --function=f --input=@%t.missing.npy --input=1 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: input 0 ('@{{.*}}missing.npy'): cannot read '{{.*}}missing.npy': No such file or directory

// RUN: not tenon-run %t.tenon --function=h 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: tenon-run: error: {{.*}}'h'
// FUNCTION-SAME: 'f'

// RUN: not tenon-run %t.tenon 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: tenon-run: error: name one of the program's functions: 'f', 'g'

// RUN: not tenon-run %t.tenon --function=g --input=i32=1 --output=- --output=- 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// OUTPUTS: tenon-run: error: 2 --output given, the function has 1 result

// RUN: not tenon-run %s --function=f 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: tenon-run: error: {{.*}}errors.mlir

// RUN: not tenon-run %t.missing --function=f 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: tenon-run: error: cannot read '{{.*}}.missing': No such file or directory

// RUN: not tenon-run %t.tenon --function=g --frobnicate 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: tenon-run: error: {{.*}}--frobnicate

// RUN: not tenon-run 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: tenon-run: error: no program given

// RUN: not tenon-run %t.tenon --device=tpu --function=g 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: tenon-run: error: unknown device 'tpu': expected cuda, cuda:ORDINAL, emulator or emulator:ORDINAL

// RUN: not tenon-run %t.tenon --device=emulator:7 --function=g 2>&1 | FileCheck %s --check-prefix=ORDINAL
// ORDINAL: tenon-run: error: no device 7: the driver '{{.*}}' has 1 device

// RUN: not env TENON_CUDA_DRIVER=%t.no_such_driver.so tenon-run %t.tenon --function=g --input=i32=1 2>&1 | FileCheck %s --check-prefix=DRIVER
// DRIVER: tenon-run: error: the driver that TENON_CUDA_DRIVER names cannot be loaded; tried
// DRIVER-NEXT: no_such_driver.so: {{.*}}cannot open shared object file
