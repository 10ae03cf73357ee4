// Each input has room alone, all together have not: they are refused before one is written.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon
// RUN: %python -c 'print(next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemAvailable")) * 1024 * 7 // 10 // 4)' > %t.elements
// RUN: sh -c 'n=$(cat %t.elements); TENON_EMULATOR_MEMORY=$((n / 32768)) tenon-run %t.tenon --input=${n}xf32=1 --input=${n}xf32=1' > %t.log 2>&1 || true
// RUN: FileCheck %s --input-file=%t.log
// CHECK: tenon-run: error: inputs: not enough memory for the tensors on the emulator's device: {{[0-9]+}} bytes, {{[0-9]+}} are free

func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  return %n : index
}
