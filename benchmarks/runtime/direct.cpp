// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "direct.h"

#include "measure.h"

#include <cstdio>
#include <cstdlib>

namespace tenon::benchmarks {

void must(const runtime::cuda::Driver &driver, CUresult result, const char *call) {
  if (result == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "%s: %s\n", call, runtime::cuda::resultName(driver, result).c_str());
  std::exit(1);
}

Direct::Direct(const runtime::Device &device, const std::vector<uint8_t> &image)
    : driver_(device.driver()), image_(image) {
  MUST(cuModuleLoadDataEx(&module_, image.data(), 0, nullptr, nullptr));
  MUST(cuModuleGetFunction(&function_, module_, "step"));
  MUST(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

Direct::~Direct() {
  (void)driver_.cuStreamDestroy_v2(stream_);
  (void)driver_.cuModuleUnload(module_);
}

void Direct::launch(Arguments &arguments) {
  MUST(cuLaunchKernel(function_, 1, 1, 1, 64, 1, 1, 0, stream_, arguments.pointers, nullptr));
}

CUDA_KERNEL_NODE_PARAMS Direct::parameters(Arguments &arguments) const {
  CUDA_KERNEL_NODE_PARAMS out = {};
  out.func = function_;
  out.gridDimX = out.gridDimY = out.gridDimZ = 1;
  out.blockDimX = 64, out.blockDimY = out.blockDimZ = 1;
  out.kernelParams = arguments.pointers;
  return out;
}

CUgraphExec Direct::chain(int count, Arguments &arguments, std::vector<CUgraphNode> *nodes) {
  CUgraph graph = nullptr;
  MUST(cuGraphCreate(&graph, 0));
  CUgraphNode last = nullptr;
  for (int i = 0; i < count; ++i) {
    const CUDA_KERNEL_NODE_PARAMS kernel = parameters(arguments);
    CUgraphNode node = nullptr;
    MUST(cuGraphAddKernelNode_v2(&node, graph, last ? &last : nullptr, last ? 1 : 0, &kernel));
    last = node;
    if (nodes)
      nodes->push_back(node);
  }
  CUgraphExec out = nullptr;
  MUST(cuGraphInstantiateWithFlags(&out, graph, 0));
  return out; // the graph stays, as its nodes are named later; the process ends soon
}

void Direct::setArguments(CUgraphExec graph, CUgraphNode node, Arguments &arguments) {
  const CUDA_KERNEL_NODE_PARAMS kernel = parameters(arguments);
  MUST(cuGraphExecKernelNodeSetParams_v2(graph, node, &kernel));
}

double Direct::timeLoad() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const double spent = nanosecondsPer(1, [&] {
    MUST(cuModuleLoadDataEx(&module, image_.data(), 0, nullptr, nullptr));
    MUST(cuModuleGetFunction(&function, module, "step"));
  });
  MUST(cuModuleUnload(module));
  return spent;
}

} // namespace tenon::benchmarks
