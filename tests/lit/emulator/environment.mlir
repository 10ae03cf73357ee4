// What the emulator's variables say is checked at cuInit; a mistake is named and nothing runs. A failing driver function
// is an error of the program that called it.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: env TENON_EMULATOR_SM=80 tenon-run %t.tenon --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=FINE
// FINE: tenon emulator: Tenon emulator sm_80 (CPU): kernels run on the CPU
// FINE: {{^}}4xf32=2 2 2 2{{$}}

// RUN: not env TENON_EMULATOR_SM=42 tenon-run %t.tenon --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=SM
// SM: tenon emulator: TENON_EMULATOR_SM=42 is not understood; wanted one of 70, 75, 80
// SM: tenon-run: error: {{.*}}CUDA_ERROR_INVALID_VALUE (1)

// RUN: not env TENON_EMULATOR_FAIL=cuGraphLaunch:1=CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES tenon-run %t.tenon --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: tenon emulator: TENON_EMULATOR_FAIL: call 1 of cuGraphLaunch fails with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
// FAIL: tenon-run: error: {{.*}}CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)

// RUN: not env TENON_EMULATOR_FAIL=cuLaunchKernels tenon-run %t.tenon --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: tenon emulator: TENON_EMULATOR_FAIL: 'cuLaunchKernels': the emulator has no driver function 'cuLaunchKernels'; near it: 'cuLaunchKernel'

// Its memory is a file that nobody sees, as long as the memory: a limit of the size of files is named, and ends nothing with a signal.
// RUN: not sh -c "ulimit -f 1000000; tenon-run %t.tenon --input=4xf32=1" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: tenon emulator: cannot reserve 16384 MiB for device 0, as address space and as a file in memory (ulimit -v, ulimit -f); TENON_EMULATOR_MEMORY sets how much
// LIMIT: tenon-run: error: {{.*}}CUDA_ERROR_OUT_OF_MEMORY (2)
// RUN: sh -c "ulimit -f 1000000; TENON_EMULATOR_MEMORY=64 tenon-run %t.tenon --input=4xf32=1" 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: {{^}}4xf32=2 2 2 2{{$}}
