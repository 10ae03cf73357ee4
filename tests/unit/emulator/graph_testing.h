// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of graphs share: a graph to fill, a stream to launch it on, and a kernel whose runs leave a trail.
#pragma once

#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {

// k(p, v): p[tid] = p[tid] * 10 + v. The digits tell the order in which nodes ran.
inline const char *const kAppend = R"(
.visible .entry k(.param .u64 p, .param .u32 v)
{
  .reg .b64 %rd<4>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3]; mad.lo.u32 %r4, %r3, 10, %r1; st.global.u32 [%rd3], %r4;
  ret;
}
)";

class GraphTest : public ::testing::Test {
protected:
  void SetUp() override {
    Loaded loaded = load(header() + kAppend);
    ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
    ASSERT_EQ(cuModuleGetFunction(&append, loaded.module, "k"), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  CUDA_KERNEL_NODE_PARAMS kernel(unsigned digit, CUdeviceptr address = 0) {
    value_ = digit;
    address_ = address ? address : array.address;
    pointers_[0] = &address_;
    pointers_[1] = &value_;
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = append;
    p.gridDimX = p.gridDimY = p.gridDimZ = 1;
    p.blockDimX = 4;
    p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = pointers_;
    return p;
  }
  CUgraphNode addKernel(unsigned digit, const std::vector<CUgraphNode> &after = {}) {
    CUDA_KERNEL_NODE_PARAMS p = kernel(digit);
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p), CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
  }
  unsigned launch(CUgraphExec exec) {
    EXPECT_EQ(cuMemsetD32(array.address, 0, 4), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    return array.read()[0];
  }

  Session session;
  DeviceArray<uint32_t> array{4};
  CUfunction append = nullptr;
  CUgraph graph = nullptr;
  CUstream stream = nullptr;

private:
  CUdeviceptr address_ = 0;
  unsigned value_ = 0;
  void *pointers_[2] = {};
};

} // namespace tenon::emulator::test
