// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device can be asked to do, as data: launches, copies, fills, host functions, events, stream-ordered memory. A
// stream enqueues work, a graph keeps it in its nodes; both take all parameters by value when they are given, so that
// the caller's memory may change afterwards. Checks happen twice: when work is made (arguments, live ranges, as the
// driver answers at once) and when it runs (a range may have been freed in between: a report, as of a failing kernel).
#pragma once

#include "emulator/machine/machine.h"

#include <cuda.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tenon::emulator {

struct Context;
struct Driver;
struct Event;
struct Graph;
struct Kernel;

struct EmptyWork {};

struct KernelWork {
  Kernel *kernel = nullptr;
  Dim3 grid, block, cluster;
  bool clusterSet = false; // else the kernel's own
  unsigned sharedBytes = 0;
  bool cooperative = false;
  int priority = 0;
  std::vector<uint8_t> parameters; // [decoded.parameterBytes]
};

struct CopyWork {
  CUDA_MEMCPY3D copy = {};
  // Pageable host memory is read when the copy is enqueued: the rows, packed. Null: read when the copy runs.
  std::shared_ptr<std::vector<uint8_t>> staged;
};

struct FillWork {
  CUDA_MEMSET_NODE_PARAMS fill = {};
};

/// A host function, or (callback) what cuStreamAddCallback asks for.
struct HostWork {
  CUhostFn function = nullptr;
  CUstreamCallback callback = nullptr;
  CUstream stream = nullptr;
  void *data = nullptr;
};

struct EventRecordWork {
  Event *event = nullptr;
};
struct EventWaitWork {
  Event *event = nullptr;
};

/// Memory of a graph or a pool becomes accessible, or goes.
struct MemoryAllocWork {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = {};
  std::shared_ptr<void> reservation; // of the address, shared by the graph and what was made from it
};
struct MemoryFreeWork {
  CUdeviceptr address = 0;
};

/// Stream memory operations, in order.
struct MemoryOpsWork {
  std::vector<CUstreamBatchMemOpParams> operations;
  unsigned flags = 0;
  size_t next = 0; // the first that has not been done
};

struct ChildGraphWork {
  std::shared_ptr<Graph> graph;
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, EventRecordWork, EventWaitWork,
                          MemoryAllocWork, MemoryFreeWork, MemoryOpsWork, ChildGraphWork>;

/// "copy of 256 bytes", "kernel 'saxpy'": for reports.
std::string describeWork(const Work &work);

} // namespace tenon::emulator
