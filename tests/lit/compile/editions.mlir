// A program for sm_90a and others holds two plans of its functions, and what is alike in both once.
// RUN: tenon-compile %s --images=ptx -o %t.tenon --print-dispatches 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-dump %t.tenon --json | FileCheck %s --check-prefix=JSON
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --explain | FileCheck %s --check-prefix=SM90
// RUN: env TENON_EMULATOR_SM=86 tenon-run %t.tenon --device=emulator --explain | FileCheck %s --check-prefix=SM86
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --variant=sm_80 --explain | FileCheck %s --check-prefix=NAMED
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --function=both --input=128x64xbf16=1 --input=64x192xbf16=2 --output=- | FileCheck %s --check-prefix=RAN
// RUN: env TENON_EMULATOR_SM=75 tenon-run %t.tenon --device=emulator --function=both --input=128x64xbf16=1 --input=64x192xbf16=2 --output=- | FileCheck %s --check-prefix=RAN
// RUN: env TENON_EMULATOR_SM=120 tenon-run %t.tenon --device=emulator --function=both --input=128x64xbf16=1 --input=64x192xbf16=2 --output=- | FileCheck %s --check-prefix=RAN
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --function=next --input=0x64xbf16 | FileCheck %s --check-prefix=NEXT
// RUN: tenon-link %t.tenon --explain --device=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: tenon-link %t.tenon --explain --device=sm_86 | FileCheck %s --check-prefix=LINK86
// A device needs the kernels of one edition.
// RUN: tenon-link %t.tenon --require-coverage=sm_75,sm_86,sm_90,sm_120 2>&1 | count 0
// RUN: not tenon-link %t.tenon --require-coverage=sm_70 2>&1 | FileCheck %s --check-prefix=SM70

// What is the same for all targets is said once.
// SAID: remark: kernel 'twice_dispatch_0' ends here: 1 operation
// SAID: remark: contraction '128x192x64
// SAID: note: on sm_75
// SAID-NEXT: note: on sm_80
// SAID-NOT: note: on sm_90a
// SAID-NOT: twice_dispatch_0
// SAID: remark: contraction '128x192x64 {{.*}} (for sm_90a)
// SAID: note: on sm_90a: {by = "wgmma"

// CHECK: program 'module': 3 functions, 5 executables
// CHECK: function 'both'
// CHECK: dispatch 'both_dispatch_0'::'both_dispatch_0'
// CHECK: function 'twice'
// CHECK: dispatch 'twice_dispatch_0'::'twice_dispatch_0'
// CHECK: function 'next'
// CHECK: initializer 'initializer'
// CHECK: edition for sm_90a:
// CHECK-NEXT: function 'both'
// CHECK: dispatch 'both_dispatch_0_sm_90a'::'both_dispatch_0'
// CHECK: function 'twice'
// CHECK: dispatch 'twice_dispatch_0'::'twice_dispatch_0'
// CHECK: function 'next'
// CHECK: initializer 'initializer'
// CHECK: executable 'both_dispatch_0': 1 export, 2 variants
// CHECK: executable 'twice_dispatch_0': 1 export, 3 variants
// CHECK: executable 'both_dispatch_0_sm_90a': 1 export, 1 variant
// JSON: "editions": [
// JSON: "targets": [
// JSON-NEXT: "sm_90a"
// JSON: "functions": [
// JSON: "name": "both"

// SM90: edition for sm_90a, one of 2
// SM90-NOT: executable 'both_dispatch_0'
// SM90: executable 'twice_dispatch_0'
// SM90: executable 'both_dispatch_0_sm_90a'
// SM86: edition for other devices, one of 2
// SM86: executable 'both_dispatch_0'
// SM86: loaded: variant 'sm_80'
// SM86-NOT: _sm_90a
// LINK86: edition for other devices, one of 2
// LINK86: executable 'both_dispatch_0' on sm_86
// LINK86-NOT: _sm_90a
// SM70: error: export 'both_dispatch_0' of executable 'both_dispatch_0' does not run on sm_70
// SM70-NOT: _sm_90a
// NAMED: edition for other devices, one of 2
// NAMED: loaded: variant 'sm_80'
// RAN: 128x192xf32=[256 256
// NEXT: i32=1

// Nothing is planned by target, or one kind is all there is, or somebody has said how it is done.
// RUN: sed -n '/^func.func @twice/,/^}/p' %s > %t.one.mlir
// RUN: tenon-compile %t.one.mlir --images=ptx -o %t.one.tenon && tenon-dump %t.one.tenon | FileCheck %s --check-prefix=ONE
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t.one.tenon && tenon-dump %t.one.tenon | FileCheck %s --check-prefix=ONE
// RUN: tenon-compile %s --target=sm_75,sm_80 --images=ptx -o %t.one.tenon && tenon-dump %t.one.tenon | FileCheck %s --check-prefix=ONE
// RUN: tenon-compile %s --plans=one --images=ptx -o %t.one.tenon && tenon-dump %t.one.tenon | FileCheck %s --check-prefix=ONE
// RUN: not tenon-compile %s --plans=two -o %t.one.tenon 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: --plans is 'kinds' or 'one', not 'two'
// RUN: sed -n '/^func.func @both/,/^}/p' %s | sed 's/linalg.matmul ins/linalg.matmul {tenon.tile = {by = "mma.sync", rows = 64, columns = 64}} ins/' > %t.pinned.mlir
// RUN: tenon-compile %t.pinned.mlir --images=ptx -o %t.one.tenon && tenon-dump %t.one.tenon | FileCheck %s --check-prefix=PINNED
// PINNED-NOT: edition for
// PINNED: executable 'both_dispatch_0': 1 export, 3 variants
// ONE-NOT: edition for
// ONE: function 'twice'
// ONE-NOT: edition for
util.global private mutable @calls : i32
util.initializer {
  %zero = arith.constant 0 : i32
  util.global.store %zero, @calls : i32
  util.return
}
func.func @both(%a: tensor<128x64xbf16>, %b: tensor<64x192xbf16>) -> tensor<128x192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x192xf32>) -> tensor<128x192xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x64xbf16>, tensor<64x192xbf16>) outs(%f : tensor<128x192xf32>) -> tensor<128x192xf32>
  %r = linalg.add ins(%c, %c : tensor<128x192xf32>, tensor<128x192xf32>) outs(%e : tensor<128x192xf32>) -> tensor<128x192xf32>
  return %r : tensor<128x192xf32>
}
func.func @twice(%a: tensor<?x192xf32>) -> tensor<?x192xf32> {
  %r = arith.addf %a, %a : tensor<?x192xf32>
  return %r : tensor<?x192xf32>
}
func.func @next(%a: tensor<?x64xbf16>) -> (tensor<?x?xf32>, i32) {
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %before = util.global.load @calls : i32
  %now = arith.addi %before, %one : i32
  util.global.store %now, @calls : i32
  %rows = tensor.dim %a, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%rows, %rows) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %et = tensor.empty(%rows) : tensor<64x?xbf16>
  %t = linalg.transpose ins(%a : tensor<?x64xbf16>) outs(%et : tensor<64x?xbf16>) permutation = [1, 0]
  %c = linalg.matmul ins(%a, %t : tensor<?x64xbf16>, tensor<64x?xbf16>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c, %now : tensor<?x?xf32>, i32
}
