// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA graph: commands with their dependencies, given to the driver once, launched often, each command's operands
// changed in between (its kind and its dependencies stay).
//
//   add...()        nodes, in an order in which each comes behind those it depends on
//   instantiate()   the driver prepares them; nothing is added after
//   set...()        other operands for launches from now on; those under way keep theirs
//   launch()        all of it, on a stream
//
// The device's context is current (Device::enter) for every call. Not thread-safe. What nodes refer to (memory,
// functions) is the caller's to keep alive; kernel parameters are copied.
#pragma once

#include "abi/layout.h"
#include "runtime/device/stream_commands.h"
#include "support/result.h"

#include <cuda.h>
#include <span>
#include <vector>

namespace tenon::runtime {

class Device;

class ReplayGraph {
public:
  using Node = uint32_t;

  struct Kernel {
    CUfunction function = nullptr;
    std::array<uint32_t, 3> grid = {}; // no zero: the driver refuses empty grids
    const abi::Launch *launch = nullptr;
    void **parameters = nullptr; // as cuLaunchKernel's kernelParams
  };

  /// The driver has what this needs (12.0 and later).
  static bool isSupported(const cuda::Driver &driver);

  explicit ReplayGraph(Device &device);
  ~ReplayGraph();
  ReplayGraph(const ReplayGraph &) = delete;
  ReplayGraph &operator=(const ReplayGraph &) = delete;

  // Errors of the driver, and of checkFill and checkCopy. No range is empty: the driver has no nodes for nothing.

  Result<Node> addKernel(std::span<const Node> dependsOn, const Kernel &kernel);
  Result<Node> addFill(std::span<const Node> dependsOn, DeviceRange target, uint32_t pattern, uint32_t patternBytes);
  Result<Node> addCopy(std::span<const Node> dependsOn, DeviceRange source, DeviceRange target);
  /// No work: a point where many meet.
  Result<Node> addJoin(std::span<const Node> dependsOn);
  Status instantiate();

  Status setKernel(Node node, const Kernel &kernel);
  Status setFill(Node node, DeviceRange target, uint32_t pattern, uint32_t patternBytes);
  Status setCopy(Node node, DeviceRange source, DeviceRange target);

  Status launch(CUstream stream);

private:
  Status ensureGraph();
  std::span<const CUgraphNode> handles(std::span<const Node> nodes);
  Result<Node> keep(CUresult result, CUgraphNode node, const char *call);
  Status setLaunchAttributes(CUgraphNode node, const abi::Launch &launch) const;

  Device &device_;
  const cuda::Driver &driver_;
  CUgraph graph_ = nullptr;
  CUgraphExec instance_ = nullptr;
  std::vector<CUgraphNode> nodes_;
  std::vector<CUgraphNode> scratch_; // handles of one node's dependencies
};

} // namespace tenon::runtime
