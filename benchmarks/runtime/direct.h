// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user would write instead of Tenon: a small program on the driver API. No checks beyond the driver's answer, no
// names, nothing that one could leave out.
#pragma once

#include "runtime/device/device.h"

#include <cstdint>
#include <vector>

namespace tenon::benchmarks {

/// Ends the program with the call and the driver's name for the error: a number measured beside it would be worthless.
void must(const runtime::cuda::Driver &driver, CUresult result, const char *call);
#define MUST(call) ::tenon::benchmarks::must(driver_, driver_.call, #call)

class Direct {
public:
  /// `image`: a cubin, or PTX with its NUL. The device's context must be current as long as this is used.
  Direct(const runtime::Device &device, const std::vector<uint8_t> &image);
  ~Direct();

  struct Arguments {
    CUdeviceptr a, b, c;
    unsigned n;
    void *pointers[4] = {&a, &b, &c, &n};
    Arguments(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, unsigned n) : a(a), b(b), c(c), n(n) {}
    Arguments(const Arguments &) = delete;
  };

  CUstream stream() const { return stream_; }
  void launch(Arguments &arguments);
  /// A chain of `count` kernels, instantiated.
  CUgraphExec chain(int count, Arguments &arguments, std::vector<CUgraphNode> *nodes = nullptr);
  void launchGraph(CUgraphExec graph) { MUST(cuGraphLaunch(graph, stream_)); }
  void setArguments(CUgraphExec graph, CUgraphNode node, Arguments &arguments);
  void synchronize() { MUST(cuStreamSynchronize(stream_)); }
  /// Loads the image and finds the kernel; unloads it outside the time. @return nanoseconds
  double timeLoad();

private:
  CUDA_KERNEL_NODE_PARAMS parameters(Arguments &arguments) const;

  const runtime::cuda::Driver &driver_;
  const std::vector<uint8_t> &image_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  CUstream stream_ = nullptr;
};

} // namespace tenon::benchmarks
