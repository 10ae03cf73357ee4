// Inputs and outputs as text: every form that tenon-run reads, and what it prints.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @f32(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  return %arg0 : tensor<?xf32>
}
// RUN: tenon-run %t.tenon --function=f32 --input=4xf32=1.5 | FileCheck %s --check-prefix=SPLAT
// SPLAT: EXEC @f32
// SPLAT-NEXT: result[0]: hal.buffer_view
// SPLAT-NEXT: {{^}}4xf32=1.5 1.5 1.5 1.5{{$}}

// RUN: tenon-run %t.tenon --function=@f32 --input='4xf32=1e10, inf, -inf, nan' | FileCheck %s --check-prefix=FLOATS
// FLOATS: {{^}}4xf32=1E+10 INF -INF {{-?}}NAN{{$}}

// RUN: tenon-run %t.tenon --function=f32 --input=3xf32 | FileCheck %s --check-prefix=ZEROS
// ZEROS: {{^}}3xf32=0 0 0{{$}}

// RUN: tenon-run %t.tenon --function=f32 --input=0xf32 | FileCheck %s --check-prefix=EMPTY
// EMPTY: {{^}}0xf32={{$}}

// RUN: tenon-run %t.tenon --function=f32 --input=2000xf32=1 --output_max_element_count=3 | FileCheck %s --check-prefix=MANY
// MANY: {{^}}2000xf32=1 1 1...{{$}}

// Standard input and --module name the program too.
// RUN: cat %t.tenon | tenon-run - --function=f32 --input=1xf32=7 | FileCheck %s --check-prefix=ONE
// RUN: tenon-run --module=%t.tenon --function=f32 --input=1xf32=7 | FileCheck %s --check-prefix=ONE
// ONE: {{^}}1xf32=7{{$}}

func.func @i32(%arg0: tensor<?x?xi32>) -> tensor<?x?xi32> {
  return %arg0 : tensor<?x?xi32>
}
// RUN: tenon-run %t.tenon --function=i32 --input='2x3xi32=[[1 2 3][4 5 6]]' | FileCheck %s --check-prefix=NESTED
// RUN: tenon-run %t.tenon --function=i32 --input='2x3xi32=[1 2 3][4 5 6]' | FileCheck %s --check-prefix=NESTED
// RUN: tenon-run %t.tenon --function=i32 --input='2x3xi32=1,2,3,4,5,0x6' | FileCheck %s --check-prefix=NESTED
// NESTED: {{^}}2x3xi32=[1 2 3][4 5 6]{{$}}

func.func @i64(%arg0: tensor<2xi64>, %arg1: tensor<2xi8>) -> (tensor<2xi64>, tensor<2xi8>) {
  return %arg0, %arg1 : tensor<2xi64>, tensor<2xi8>
}
// RUN: tenon-run %t.tenon --function=i64 --input='2xi64=9007199254740993 -1' --input='2xi8=0xff 127' | FileCheck %s --check-prefix=TWO
// TWO: result[0]: hal.buffer_view
// TWO-NEXT: {{^}}2xi64=9007199254740993 -1{{$}}
// TWO-NEXT: result[1]: hal.buffer_view
// TWO-NEXT: {{^}}2xi8=-1 127{{$}}

func.func @scalars(%arg0: i32, %arg1: i64) -> (i32, i64) {
  %0 = arith.muli %arg1, %arg1 : i64
  return %arg0, %0 : i32, i64
}
// RUN: tenon-run %t.tenon --function=scalars --input=-7 --input=i64=3 | FileCheck %s --check-prefix=SCALARS
// SCALARS: EXEC @scalars
// SCALARS-NEXT: {{^}}result[0]: i32=-7{{$}}
// SCALARS-NEXT: {{^}}result[1]: i64=9{{$}}
