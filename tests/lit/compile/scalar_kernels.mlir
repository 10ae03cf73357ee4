// Scalars that the host cannot compute become kernels of one element, which is read back.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=corrected --input=2xf32=1 --input=3 | FileCheck %s --check-prefix=CORRECTED
// RUN: tenon-run %t.tenon --device=emulator --function=branch --input=2xf32="2 3" --input=2xf32="0.5 4" | FileCheck %s --check-prefix=BRANCH

// A step of Adam: 1 - 0.5^3 and its root.
// CORRECTED: 2xf32=1.14286 1.14286
// CORRECTED: f32=0.935414
func.func @corrected(%m: tensor<2xf32>, %step: i32) -> (tensor<2xf32>, f32) {
  %beta = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %t = arith.sitofp %step : i32 to f32
  %power = math.powf %beta, %t : f32
  %c = arith.subf %one, %power : f32
  %root = math.sqrt %c : f32
  %s = tensor.splat %c : tensor<2xf32>
  %0 = arith.divf %m, %s : tensor<2xf32>
  return %0, %root : tensor<2xf32>, f32
}

// Of an element, in a condition, and in a branch of it.
// BRANCH: 2xf32=2 3
func.func @branch(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %four = arith.constant 4.0 : f32
  %x = tensor.extract %a[%c0] : tensor<2xf32>
  %e = math.exp %x : f32
  %large = arith.cmpf ogt, %e, %four : f32
  %0 = scf.if %large -> (tensor<2xf32>) {
    %l = math.log %e : f32
    %s = tensor.splat %l : tensor<2xf32>
    %y = arith.maximumf %a, %s : tensor<2xf32>
    scf.yield %y : tensor<2xf32>
  } else {
    scf.yield %b : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
