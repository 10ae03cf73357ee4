// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels.cu includes: change it, and both build systems make the kernels anew.
#pragma once

__device__ inline float scaled(float value, float by) {
  return value * by;
}
