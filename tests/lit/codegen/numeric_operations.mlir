// Every elementwise operation, in every type, against Python's own arithmetic. libdevice comes with nvcc.
// REQUIRES: nvcc
// RUN: rm -rf %t && mkdir -p %t
// RUN: python3 %S/Inputs/check_operations.py %t | FileCheck %s
// CHECK: operations, 0 wrong
