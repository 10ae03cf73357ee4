// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of hopper.cu share: a device of sm_90a, and launches with clusters.
#pragma once

#include "tests/kernels/driver.h"

namespace tenon::kernels {

class HopperKernels : public Kernels {
protected:
  void SetUp() override {
    Kernels::SetUp();
    if (driver().error.empty() && driver().capability != 90)
      GTEST_SKIP() << "kernels of sm_90a, the device has compute capability " << driver().capability / 10 << "."
                   << driver().capability % 10;
  }
  template <typename... Args>
  CUresult launchCluster(Shape grid, Shape block, Shape cluster, unsigned shared, Args... args) {
    void *parameters[] = {&args...};
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {cluster.x, cluster.y, cluster.z};
    CUlaunchConfig config = {};
    config.gridDimX = grid.x;
    config.gridDimY = grid.y;
    config.gridDimZ = grid.z;
    config.blockDimX = block.x;
    config.blockDimY = block.y;
    config.blockDimZ = block.z;
    config.sharedMemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUresult result = driver().cuLaunchKernelEx_(&config, function_, parameters, nullptr);
    return result == CUDA_SUCCESS ? driver().cuCtxSynchronize_() : result;
  }
};

} // namespace tenon::kernels
