// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that loads and is no CUDA driver: all but one function are missing.
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) {
  return 0;
}
