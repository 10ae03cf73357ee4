// What is no file, does not end, or is larger than memory: an error each, before anything is read by it.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @f(%arg0: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %arg0, %c0 : tensor<?xf32>
  return %n : index
}

// RUN: not tenon-run /dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tenon-dump /dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tenon-link /dev/zero -o %t.none 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tenon-compile /dev/zero -o %t.none 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tenon-opt /dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tenon-run %t.tenon --input=@/dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tenon-run %t.tenon --input=4xf32=@/dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: cannot read '/dev/zero': it is a device, expected a file
// RUN: not tenon-run / 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not tenon-link / -o %t.none 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not tenon-opt / 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: cannot read '/': Is a directory
// A pipe is read to its end.
// RUN: cat %t.tenon | tenon-run /dev/stdin --input=3xf32=1 | FileCheck %s --check-prefix=PIPE
// PIPE: result[0]: i64=3

// RUN: not tenon-run %t.tenon --input=200000000000xf32=1 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: inputs: tensor 0 (tensor<200000000000xf32>):{{.*}}out of memory
// RUN: not tenon-run %t.tenon --input=9223372036854775807xf32=1 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: tenon-run: error: input 0 ('9223372036854775807xf32=1'): tensor<9223372036854775807xf32> is larger than 2^63 bytes
// RUN: truncate --size=4T %t.large
// RUN: not tenon-run %t.tenon --input=@%t.large 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: not enough memory for '{{.*}}.large': 4398046511105 bytes

// Bytes behind an array that begin no other.
// RUN: tenon-run %t.tenon --input=2xf32=1 --expected_output=2
// RUN: python3 -c 'import sys; h = b"{%r: %r, %r: False, %r: (2,), }" % ("descr", "<f4", "fortran_order", "shape"); h = h.ljust(117) + b"\n"; sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + bytes([len(h), 0]) + h + b"11112222")' > %t.npy
// RUN: tenon-run %t.tenon --input=@%t.npy | FileCheck %s --check-prefix=WHOLE
// WHOLE: result[0]: i64=2
// RUN: printf 3333 >> %t.npy
// RUN: not tenon-run %t.tenon --input=@%t.npy 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: after the .npy array come 4 bytes that begin no other: the file is damaged, or its header is of another array
