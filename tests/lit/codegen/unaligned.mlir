// A binding may start anywhere that its element type may: the wide path is taken where every base allows it.
// The emulator as a library of Python's: not with a sanitizer, whose runtime must come first in a process.
// UNSUPPORTED: sanitize
// RUN: tenon-opt %S/print_ptx.mlir --tenon-print-ptx=target=sm_80 -o /dev/null > %t.ptx
// RUN: python3 %S/Inputs/launch_unaligned.py %t.ptx | FileCheck %s
// CHECK: right at every offset
