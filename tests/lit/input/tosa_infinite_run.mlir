// What TOSA says of NaN and of infinite elements: casts make 0 of NaN in every type, and the largest of nothing but -inf is -inf.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=half_to_i8 --input="5xf16=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I8
// RUN: tenon-run %t.tenon --device=emulator --function=half_to_i32 --input="5xf16=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I32
// RUN: tenon-run %t.tenon --device=emulator --function=bfloat_to_i16 --input="5xbf16=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I16
// RUN: tenon-run %t.tenon --device=emulator --function=bfloat_to_i32 --input="5xbf16=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I32
// RUN: tenon-run %t.tenon --device=emulator --function=float_to_i32 --input="5xf32=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I32
// RUN: tenon-run %t.tenon --device=emulator --function=double_to_i32 --input="5xf64=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I32
// RUN: tenon-run %t.tenon --device=emulator --function=float_to_i64 --input="5xf32=nan inf -inf 2.5 -200" --output=- | FileCheck %s --check-prefix=I64
// RUN: tenon-run %t.tenon --device=emulator --function=half_to_bfloat --input="4xf16=nan -inf 1.00390625 3" --output=- | FileCheck %s --check-prefix=BFLOAT
// RUN: tenon-run %t.tenon --device=emulator --function=largest --input="3x2xf32=-inf -inf nan 3 nan nan" --output=- | FileCheck %s --check-prefix=LARGEST
// RUN: tenon-run %t.tenon --device=emulator --function=largest_number --input="3x2xf32=-inf -inf nan 3 nan nan" --output=- | FileCheck %s --check-prefix=LARGEST_NUMBER
// RUN: tenon-run %t.tenon --device=emulator --function=smallest --input="2x2xf16=inf inf inf 3" --output=- | FileCheck %s --check-prefix=SMALLEST
// RUN: tenon-run %t.tenon --device=emulator --function=pool --input="1x2x2x1xf32=-inf -inf nan 5" --output=- | FileCheck %s --check-prefix=POOL
// RUN: tenon-run %t.tenon --device=emulator --function=pool_numbers --input="1x2x2x1xf32=-inf -inf nan 5" --output=- | FileCheck %s --check-prefix=POOL_NUMBERS

// I8: 5xi8=0 127 -128 2 -128
func.func @half_to_i8(%x: tensor<?xf16>) -> tensor<?xi8> {
  %r = tosa.cast %x : (tensor<?xf16>) -> tensor<?xi8>
  return %r : tensor<?xi8>
}
// I16: 5xi16=0 32767 -32768 2 -200
func.func @bfloat_to_i16(%x: tensor<5xbf16>) -> tensor<5xi16> {
  %r = tosa.cast %x : (tensor<5xbf16>) -> tensor<5xi16>
  return %r : tensor<5xi16>
}
// I32: 5xi32=0 2147483647 -2147483648 2 -200
func.func @half_to_i32(%x: tensor<?xf16>) -> tensor<?xi32> {
  %r = tosa.cast %x : (tensor<?xf16>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @bfloat_to_i32(%x: tensor<5xbf16>) -> tensor<5xi32> {
  %r = tosa.cast %x : (tensor<5xbf16>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}
func.func @float_to_i32(%x: tensor<5xf32>) -> tensor<5xi32> {
  %r = tosa.cast %x : (tensor<5xf32>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}
func.func @double_to_i32(%x: tensor<5xf64>) -> tensor<5xi32> {
  %r = tosa.cast %x : (tensor<5xf64>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}
// I64: 5xi64=0 9223372036854775807 -9223372036854775808 2 -200
func.func @float_to_i64(%x: tensor<5xf32>) -> tensor<5xi64> {
  %r = tosa.cast %x : (tensor<5xf32>) -> tensor<5xi64>
  return %r : tensor<5xi64>
}
// BFLOAT: 4xbf16=NAN -INF 1 3
func.func @half_to_bfloat(%x: tensor<4xf16>) -> tensor<4xbf16> {
  %r = tosa.cast %x : (tensor<4xf16>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// LARGEST: 3x1xf32={{\[}}-INF][NAN][NAN]
func.func @largest(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %r = tosa.reduce_max %x {axis = 1 : i32} : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}
// LARGEST_NUMBER: 3x1xf32={{\[}}-INF][3][NAN]
func.func @largest_number(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %r = tosa.reduce_max %x {axis = 1 : i32, nan_mode = IGNORE} : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}
// SMALLEST: 1x2xf16={{\[}}INF 3]
func.func @smallest(%x: tensor<2x2xf16>) -> tensor<1x2xf16> {
  %r = tosa.reduce_min %x {axis = 0 : i32} : (tensor<2x2xf16>) -> tensor<1x2xf16>
  return %r : tensor<1x2xf16>
}

// Windows of two columns and a border of one in front of them.
// POOL: 1x2x2x1xf32={{\[\[\[}}-INF][-INF]]{{\[\[}}NAN][NAN]]]
func.func @pool(%x: tensor<1x?x2x1xf32>) -> tensor<1x?x2x1xf32> {
  %r = tosa.max_pool2d %x {kernel = array<i64: 1, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 0>} : (tensor<1x?x2x1xf32>) -> tensor<1x?x2x1xf32>
  return %r : tensor<1x?x2x1xf32>
}
// POOL_NUMBERS: 1x2x2x1xf32={{\[\[\[}}-INF][-INF]]{{\[\[}}-INF][5]]]
func.func @pool_numbers(%x: tensor<1x?x2x1xf32>) -> tensor<1x?x2x1xf32> {
  %r = tosa.max_pool2d %x {kernel = array<i64: 1, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 0>, nan_mode = IGNORE} : (tensor<1x?x2x1xf32>) -> tensor<1x?x2x1xf32>
  return %r : tensor<1x?x2x1xf32>
}
