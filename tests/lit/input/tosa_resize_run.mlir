// Bilinear resizes by half pixels: the first pixels of the result lie in front of the image, and are its first one.
// Floats of 16 bits are weighed and added in 32, and rounded once.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=integers --input="1x2x1x1xi8=8 -4" --output=- | FileCheck %s --check-prefix=INTEGERS
// Weights of integers are fourths, and are not divided.
// INTEGERS: 1x4x1x1xi32={{\[\[\[32\]\]\[\[20\]\]\[\[-4\]\]\[\[-16\]\]\]}}
func.func @integers(%x: tensor<1x2x1x1xi8>) -> tensor<1x4x1x1xi32> {
  %s = tosa.const_shape {values = dense<[4, 2, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[-1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %x, %s, %o, %b {mode = BILINEAR} : (tensor<1x2x1x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x4x1x1xi32>
  return %r : tensor<1x4x1x1xi32>
}

// RUN: tenon-run %t.tenon --device=emulator --function=short --input="1x4x1x1xbf16=-255 3.25 -7 100" --output=- | FileCheck %s --check-prefix=SHORT
// SHORT: 1x16x1x1xbf16={{\[\[\[-255\]\]\[\[-203\]\]\[\[-152\]\]\[\[-100\]\]\[\[-48.5\]\]\[\[3.25\]\]\[\[1.20312\]\]\[\[-0.851562\]\]}}
// SHORT-SAME: {{\[\[-2.90625\]\]\[\[-4.9375\]\]\[\[-7\]\]\[\[14.375\]\]\[\[35.75\]\]\[\[57.25\]\]\[\[78.5\]\]\[\[100\]\]\]}}
func.func @short(%x: tensor<1x4x1x1xbf16>) -> tensor<1x16x1x1xbf16> {
  %s = tosa.const_shape {values = dense<[10, 2, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %x, %s, %o, %b {mode = BILINEAR} : (tensor<1x4x1x1xbf16>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x16x1x1xbf16>
  return %r : tensor<1x16x1x1xbf16>
}
