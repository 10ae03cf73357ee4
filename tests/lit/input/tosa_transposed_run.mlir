// Transposed convolutions of images whose sizes the program does not know, and of i16, whose filters are i8.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=unknown --input="1x2x2x1xi8=[[[[1][2]][[3][4]]]]" --input="1x2x3x1xi8=1 2 3 4 5 6" --output=- | FileCheck %s --check-prefix=UNKNOWN
// RUN: tenon-run %t.tenon --device=emulator --function=wide --input="1x1x3x1xi16=1000 -2000 300" --output=- | FileCheck %s --check-prefix=WIDE

// Steps of 2 and 1, a zero point of 1, a row less in front, a column more behind: of 0 1 and 2 3, a filter of 1 2 3 and 4 5 6, and 10.
// UNKNOWN: 1x3x5x1xi32={{\[\[\[}}10][14][15][16][10]]{{\[\[}}12][17][22][19][10]]{{\[\[}}18][32][37][28][10]]]
func.func @unknown(%x: tensor<?x?x?x1xi8>, %w: tensor<1x2x3x1xi8>) -> tensor<?x?x?x1xi32> {
  %b = "tosa.const"() <{values = dense<10> : tensor<1xi32>}> : () -> tensor<1xi32>
  %p = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.transpose_conv2d %x, %w, %b, %p, %q {acc_type = i32, out_pad = array<i64: -1, 0, 0, 1>, stride = array<i64: 2, 1>} : (tensor<?x?x?x1xi8>, tensor<1x2x3x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<?x?x?x1xi32>
  return %r : tensor<?x?x?x1xi32>
}

// Steps of 2: no element of the filter 1 100 meets another's, and sums of 48 bits are halved.
// WIDE: 1x1x6x1xi32={{\[\[\[}}500][50000][-1000][-100000][150][15000]]]
func.func @wide(%x: tensor<1x1x3x1xi16>) -> tensor<1x1x6x1xi32> {
  %w = "tosa.const"() <{values = dense<[[[[1], [100]]]]> : tensor<1x1x2x1xi8>}> : () -> tensor<1x1x2x1xi8>
  %b = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %p = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %q = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sum = tosa.transpose_conv2d %x, %w, %b, %p, %q {acc_type = i48, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 2>} : (tensor<1x1x3x1xi16>, tensor<1x1x2x1xi8>, tensor<1xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x1x6x1xi48>
  %m = "tosa.const"() <{values = dense<16384> : tensor<1xi16>}> : () -> tensor<1xi16>
  %h = "tosa.const"() <{values = dense<15> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %y = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %r = tosa.rescale %sum, %m, %h, %z, %y {scale32 = false, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x1x6x1xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi32>) -> tensor<1x1x6x1xi32>
  return %r : tensor<1x1x6x1xi32>
}
