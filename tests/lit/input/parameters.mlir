// Parameters of a module come from a file.
// RUN: rm -rf %t && split-file %s %t
// RUN: python3 %S/Inputs/safetensors.py %t/model.safetensors
// RUN: tenon-compile %t/good.mlir --parameters=model=%t/model.safetensors --parameters=%t/model.safetensors -o %t/good.tenon --depfile=%t/deps
// RUN: tenon-run %t/good.tenon --function=f --input=2x2xf32=10 | FileCheck %t/good.mlir
// RUN: FileCheck %t/good.mlir --check-prefix=DEPS --input-file=%t/deps
// RUN: tenon-opt %t/good.mlir "--tenon-read-parameters=files=model=%t/model.safetensors,%t/model.safetensors" | FileCheck %t/good.mlir --check-prefix=READ
// RUN: tenon-opt %t/good.mlir | FileCheck %t/good.mlir --check-prefix=PRINT
// RUN: not tenon-compile %t/good.mlir -o %t/x 2>&1 | FileCheck %t/good.mlir --check-prefix=NONE
// RUN: not tenon-compile %t/bad.mlir --parameters=m=%t/model.safetensors -o %t/x 2>&1 | FileCheck %t/bad.mlir
// RUN: not tenon-compile %t/text.mlir -o %t/x 2>&1 | FileCheck %t/text.mlir
// RUN: not tenon-compile %t/good.mlir --parameters=a=%t/absent -o %t/x 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not tenon-compile %t/good.mlir --parameters=a=%s -o %t/x 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tenon-compile %t/good.mlir --parameters=%t/model.safetensors --parameters=%t/model.safetensors -o %t/x 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not ls %t/x

// ABSENT: error: {{.*}}/absent': No such file or directory
// FORMAT: error: '{{.*}}parameters.mlir' is no safetensors file: its header would have {{[0-9]+}} bytes, the file has
// TWICE: error: two parameter files for the scope ''

//--- good.mlir
// CHECK: 2x2xf32=[11 12][13 14]
// CHECK: 3xf16=0.5 1.5 -2
// CHECK: 2xi1=1 0
// CHECK: 2xi64=7 8
// DEPS: model.safetensors
// READ: util.global private @w = dense_resource<w> : tensor<2x2xf32>
// PRINT: util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<2x2xf32>
// PRINT: util.global private @scale = #flow.parameter.named<"scale of it"> : tensor<3xf16>
// NONE: good.mlir:[[#@LINE+3]]:1: error: parameter 'w' of scope 'model': no file is given for this scope: pass --parameters=model=FILE.safetensors
// NONE: good.mlir:[[#@LINE+3]]:1: error: parameter 'scale of it' of scope '': no file is given for this scope: pass --parameters=FILE.safetensors

util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<2x2xf32>
util.global private @scale = #flow.parameter.named<"scale of it"> : tensor<3xf16>
util.global private @truth = #flow.parameter.named<"truth"> : tensor<2xi1>
util.global private @count = #flow.parameter.named<"count"> : tensor<2xi64>
util.func public @f(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<3xf16>, tensor<2xi1>, tensor<2xi64>) {
  %w = util.global.load @w : tensor<2x2xf32>
  %0 = arith.addf %x, %w : tensor<2x2xf32>
  %s = util.global.load @scale : tensor<3xf16>
  %t = util.global.load @truth : tensor<2xi1>
  %c = util.global.load @count : tensor<2xi64>
  util.return %0, %s, %t, %c : tensor<2x2xf32>, tensor<3xf16>, tensor<2xi1>, tensor<2xi64>
}

//--- bad.mlir
// CHECK: bad.mlir:[[#@LINE+1]]:1: error: parameter 'w' of scope 'm': found F32 [2, 2] of 16 bytes in the file, 'tensor<4xf32>' is wanted
util.global private @a = #flow.parameter.named<"m"::"w"> : tensor<4xf32>
// CHECK: bad.mlir:[[#@LINE+1]]:1: error: parameter 'w' of scope 'm': found F32 [2, 2] of 16 bytes in the file, 'tensor<2x2xi32>' is wanted
util.global private @b = #flow.parameter.named<"m"::"w"> : tensor<2x2xi32>
// CHECK: bad.mlir:[[#@LINE+1]]:1: error: parameter 'wx' of scope 'm': the file has no such tensor; it has 'w'
util.global private @c = #flow.parameter.named<"m"::"wx"> : tensor<2x2xf32>
// CHECK: bad.mlir:[[#@LINE+1]]:1: error: parameter 'w' of scope 'm': found type 'tensor<?xf32>', a tensor of static shape is wanted
util.global private @d = #flow.parameter.named<"m"::"w"> : tensor<?xf32>
// CHECK: bad.mlir:[[#@LINE+1]]:1: error: parameter 'w' of scope 'm': found type 'i32'
util.global private @e = #flow.parameter.named<"m"::"w"> : i32

//--- text.mlir
// CHECK: text.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: a parameter has a type: write `: TYPE` behind it
util.global private @a : tensor<4xf32> = #flow.parameter.named<"m"::"w">
