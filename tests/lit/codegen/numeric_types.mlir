// One computation in every element type, and between them.
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90 -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=i8 --input="5xi8=1 2 -3 100 5" --input="5xi8=7 7 7 100 -1" --expected_output="5xi8=8 16 -24 116 0"
// RUN: tenon-run %t.tenon --device=emulator --function=i16 --input="5xi16=1 2 -3 300 5" --input="5xi16=7 7 7 100 -1" --expected_output="5xi16=8 16 -24 30300 0"
// RUN: tenon-run %t.tenon --device=emulator --function=i64 --input="3xi64=1 -2 4294967296" --input="3xi64=7 7 2" --expected_output="3xi64=8 -16 12884901888"
// RUN: tenon-run %t.tenon --device=emulator --function=f16 --input="9xf16=1 2 -3 0.5 5 6 7 8 9" --input="9xf16=1 1 1 1 1 1 1 1 0.25" --expected_output="9xf16=2 4 -6 1 10 12 14 16 4.5"
// RUN: tenon-run %t.tenon --device=emulator --function=bf16 --input="9xbf16=1 2 -3 0.5 5 6 7 8 9" --input="9xbf16=1 1 1 1 1 1 1 1 0.25" --expected_output="9xbf16=2 4 -6 1 10 12 14 16 4.5"
// RUN: env TENON_EMULATOR_SM=75 tenon-run %t.tenon --device=emulator --function=bf16 --input="9xbf16=1 2 -3 0.5 5 6 7 8 9" --input="9xbf16=1 1 1 1 1 1 1 1 0.25" --expected_output="9xbf16=2 4 -6 1 10 12 14 16 4.5"
// RUN: tenon-run %t.tenon --device=emulator --function=f32 --input="5xf32=1 2 -3 0.5 9" --input="5xf32=1 1 1 1 0.25" --expected_output="5xf32=2 4 -6 1 4.5"
// RUN: tenon-run %t.tenon --device=emulator --function=f64 --input="3xf64=1 2 1e300" --input="3xf64=1 1 1" --expected_output="3xf64=2 4 2e300"
// RUN: tenon-run %t.tenon --device=emulator --function=pick --input="6xi1=1 0 1 1 0 0" --input="6xf32=1 2 3 4 5 6" --input="6xf32=-1 -2 -3 -4 -5 -6" --expected_output="6xf32=1 -2 3 4 -5 -6"
// RUN: tenon-run %t.tenon --device=emulator --function=less --input="5xf32=1 2 3 4 5" --input="5xf32=3 3 3 3 3" --expected_output="5xi1=1 1 0 0 0"
// RUN: tenon-run %t.tenon --device=emulator --function=convert --input="4xi8=1 -2 100 -128" --expected_output="4xf64=0.5 -1 50 -64"
// RUN: tenon-run %t.tenon --device=emulator --function=scalars --input="5xf32=1 2 3 4 5" --input=2.5 --input=3 --expected_output="5xf32=5.5 8 10.5 13 15.5"
// RUN: tenon-run %t.tenon --device=emulator --function=constants --input="4xf32=1 1 2 2" --expected_output="4xf32=11 12 23 24"
// RUN: tenon-run %t.tenon --device=emulator --function=rank0 --input="f32=5" --input="f32=1.5" --expected_output="f32=3.5"

func.func @i8(%a: tensor<?xi8>, %b: tensor<?xi8>) -> tensor<?xi8> {
  %0 = arith.muli %a, %b : tensor<?xi8>
  %1 = arith.addi %0, %a : tensor<?xi8>
  return %1 : tensor<?xi8>
}
func.func @i16(%a: tensor<?xi16>, %b: tensor<?xi16>) -> tensor<?xi16> {
  %0 = arith.muli %a, %b : tensor<?xi16>
  %1 = arith.addi %0, %a : tensor<?xi16>
  return %1 : tensor<?xi16>
}
func.func @i64(%a: tensor<?xi64>, %b: tensor<?xi64>) -> tensor<?xi64> {
  %0 = arith.muli %a, %b : tensor<?xi64>
  %1 = arith.addi %0, %a : tensor<?xi64>
  return %1 : tensor<?xi64>
}
func.func @f16(%a: tensor<?xf16>, %b: tensor<?xf16>) -> tensor<?xf16> {
  %0 = arith.addf %a, %a : tensor<?xf16>
  %1 = arith.mulf %0, %b : tensor<?xf16>
  return %1 : tensor<?xf16>
}
func.func @bf16(%a: tensor<?xbf16>, %b: tensor<?xbf16>) -> tensor<?xbf16> {
  %0 = arith.addf %a, %a : tensor<?xbf16>
  %1 = arith.mulf %0, %b : tensor<?xbf16>
  return %1 : tensor<?xbf16>
}
func.func @f32(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %a : tensor<?xf32>
  %1 = arith.mulf %0, %b : tensor<?xf32>
  return %1 : tensor<?xf32>
}
func.func @f64(%a: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %0 = arith.addf %a, %a : tensor<?xf64>
  %1 = arith.mulf %0, %b : tensor<?xf64>
  return %1 : tensor<?xf64>
}
func.func @pick(%c: tensor<?xi1>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.select %c, %a, %b : tensor<?xi1>, tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @less(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xi1> {
  %0 = arith.cmpf olt, %a, %b : tensor<?xf32>
  return %0 : tensor<?xi1>
}
func.func @convert(%a: tensor<?xi8>) -> tensor<?xf64> {
  %0 = arith.extsi %a : tensor<?xi8> to tensor<?xi32>
  %1 = arith.sitofp %0 : tensor<?xi32> to tensor<?xf32>
  %2 = arith.extf %1 : tensor<?xf32> to tensor<?xf64>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi8>
  %half = arith.constant 0.5 : f64
  %3 = tensor.splat %half[%n] : tensor<?xf64>
  %4 = arith.mulf %2, %3 : tensor<?xf64>
  return %4 : tensor<?xf64>
}
#id = affine_map<(i) -> (i)>
func.func @scalars(%a: tensor<?xf32>, %s: f32, %k: i32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      %1 = arith.mulf %x, %s : f32
      %2 = arith.sitofp %k : i32 to f32
      %3 = arith.addf %1, %2 : f32
      linalg.yield %3 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @constants(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %k = arith.constant dense<10.0> : tensor<4xf32>
  %0 = arith.mulf %a, %k : tensor<4xf32>
  %1 = arith.addf %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @rank0(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = arith.subf %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
