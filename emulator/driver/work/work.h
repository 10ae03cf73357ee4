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

// Work from arguments. Each returns the driver's code for what is wrong with them.

/// `kernel` is live. cluster: null for the kernel's own.
CUresult makeKernelWork(Kernel *kernel, Dim3 grid, Dim3 block, const Dim3 *cluster, unsigned sharedBytes,
                        bool cooperative, void **parameters, void **extra, KernelWork &out);
/// Checks the shape again, after an attribute of a node changed.
CUresult checkKernelWork(const KernelWork &work);
/// Memory types, pitches and live ranges of a copy.
CUresult checkCopy(Driver &driver, const CUDA_MEMCPY3D &copy);
CUresult checkFill(Driver &driver, const CUDA_MEMSET_NODE_PARAMS &fill);

// Running it. Each returns what to leave in the context: code 0 when all went well.
Fault runKernel(Driver &driver, Context *context, const KernelWork &work);
Fault runCopy(Driver &driver, const CopyWork &work);
Fault runFill(Driver &driver, const FillWork &work);
Fault runAllocation(Driver &driver, const MemoryAllocWork &work);
Fault runRelease(Driver &driver, const MemoryFreeWork &work);
/// Stream memory operations: as many as can be done; true: all are. `fault` says what went wrong.
bool runMemoryOps(Driver &driver, MemoryOpsWork &work, Fault &fault);
/// Whether the next one can be done: a write can, a wait when its value is there.
bool canAdvance(Driver &driver, const MemoryOpsWork &work);
/// What is at the address of the next one: "0x7".
std::string currentValue(Driver &driver, const MemoryOpsWork &work);

/// `width` bytes of one dimension; unified addressing finds out what each side is.
CUDA_MEMCPY3D flatCopy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
/// The host pointer, as unified addressing has it.
inline CUdeviceptr hostAddress(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
/// Whether a side of the copy is host memory that the driver knows nothing of (neither pinned nor registered).
bool readsPageable(Driver &driver, const CUDA_MEMCPY3D &copy);
bool writesPageable(Driver &driver, const CUDA_MEMCPY3D &copy);
/// Reads the source now.
std::shared_ptr<std::vector<uint8_t>> stageSource(const CUDA_MEMCPY3D &copy);

} // namespace tenon::emulator
