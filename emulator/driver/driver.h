// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver API keeps: devices, contexts, modules, kernels, streams, events. A handle is the address of its
// object; every call looks it up in the registry of its kind, so that a stale or foreign handle is an error and not a
// crash.
//
// One lock guards everything: calls from several threads are served one after the other. When enqueued work runs is
// decided in work_queue.h.
#pragma once

#include "emulator/driver/fault_plan.h"
#include "emulator/driver/graph/capture.h"
#include "emulator/driver/memory/registered_ranges.h"
#include "emulator/driver/memory/virtual_memory.h"
#include "emulator/driver/work/work_queue.h"
#include "emulator/handlers/builtins.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/memory/memory.h"

#include "abi/target_arch.h"

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tenon::emulator {

/// One row per emulated architecture: the numbers that a device of it reports.
struct ArchLimits {
  abi::TargetArch arch;
  int multiprocessors, clockKhz;
  int maxThreadsPerMultiprocessor, maxBlocksPerMultiprocessor, registersPerMultiprocessor;
  int sharedPerMultiprocessor, sharedPerBlockOptin, l2Bytes;
};
const ArchLimits *findArchLimits(abi::TargetArch arch);
/// "sm_75, sm_80, ...".
std::string archLimitsList();

struct Context;
struct MemoryPool;

struct Device {
  Device();
  ~Device();
  int ordinal = 0;
  const ArchLimits *arch = nullptr;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Context> primary;
  int primaryReferences = 0;
  std::unique_ptr<MemoryPool> defaultPool;
  MemoryPool *currentPool = nullptr;                  // what cuMemAllocAsync takes from
  std::map<uint64_t, MemoryPool *> pooledAllocations; // live ones, by address
  unsigned primaryFlags = 0;
  abi::DeviceTraits traits(int driverVersion) const;
  std::string name() const;
};

struct Module;

struct Kernel {
  Module *module = nullptr;
  std::unique_ptr<DecodedKernel> decoded;
  int maxDynamicShared = 0; // set by the opt-in attribute; the default is what is left of 48 KiB
  int carveout = -1;
  bool nonPortableCluster = false;
  std::map<size_t, std::string> readOnlyParameters; // index, what a report calls it
};

struct Module {
  Context *context = nullptr;
  bool isLibrary = false;
  std::unique_ptr<ptx::Module> source;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::vector<std::string> kernelOrder;
  struct Global {
    uint64_t address, bytes;
  };
  std::map<std::string, Global, std::less<>> globals;
};

struct Capture;
struct CapturedEvent;

struct Stream {
  Context *context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  bool isLegacy = false; // the default stream that all blocking streams are ordered with
  OperationPtr tail;     // the last operation; null or done: idle
  std::shared_ptr<Capture> capture;
  std::vector<GraphEdge> captureAfter; // what the next captured node depends on
  bool isBlocking() const { return !isLegacy && !(flags & CU_STREAM_NON_BLOCKING); }
};

struct Event {
  Context *context = nullptr;
  unsigned flags = 0;
  OperationPtr recorded;                   // the last recording; null: none
  std::unique_ptr<CapturedEvent> captured; // it was recorded last in a stream that captured
};

struct Context {
  Device *device = nullptr;
  bool isPrimary = false;
  bool active = false;
  unsigned flags = 0;
  int sticky = 0; // once a kernel failed, every call says so
  size_t stackLimit = 1024, printfLimit = 1 << 20, heapLimit = 8 << 20;
  DeviceServices services;
  uint64_t gridWorkspace = 0;
  Stream defaultStream;
  std::map<std::thread::id, std::unique_ptr<Stream>> perThreadStreams;
  std::set<Context *> peers;         // whose memory kernels reach
  std::vector<OperationPtr> orphans; // tails of destroyed blocking streams
};

struct GraphExec;

struct Driver {
  std::recursive_mutex mutex;
  bool initialised = false;
  int version = 13000;
  bool faultsEndProcess = true; // TENON_EMULATOR_FAULTS
  int lost = 0;                 // what ended the process's use of the driver, see markLost
  std::vector<std::unique_ptr<Device>> devices;
  std::set<Context *> contexts;
  std::set<Module *> modules;
  std::set<Kernel *> kernels;
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::map<Graph *, std::shared_ptr<Graph>> graphs; // null: embedded, a node owns it
  std::set<GraphNode *> graphNodes;
  std::set<GraphExec *> graphExecs;
  std::set<Capture *> captures;                              // under way
  std::map<MemoryPool *, std::unique_ptr<MemoryPool>> pools; // that programs made
  std::vector<std::unique_ptr<Context>> ownedContexts;
  RegisteredRanges registered;
  VirtualMemory virtualMemory;
  std::map<uint64_t, unsigned> pinnedFlags; // of cuMemHostAlloc, by address
  std::set<uint64_t> pendingFrees;          // enqueued, not yet run
  WorkQueue queue{*this};
  uint64_t virtualTime = 0;        // nanoseconds of emulated work so far
  uint64_t threadInstructions = 0; // executed so far
  uint32_t threads = 1;            // that run the blocks of one launch
  uint64_t nextId = 1, modulesLoaded = 0;
  std::string lastReport; // of the last kernel that failed
  CheckOptions checks;
  FaultPlan faults;
  bool faultsRead = false;
  std::string faultsWrong; // why TENON_EMULATOR_FAIL was not understood
  std::thread::id lastThread;
  bool hasThreads = false;   // several call
  const char *function = ""; // of the driver, that the program called
  int depth = 0;             // of driver functions that call each other
};
Driver &driver();

/// One call of an exported function: holds the lock, and is counted when the program, not the driver, made it.
class DriverCall {
public:
  DriverCall(Driver &driver, const char *function);
  ~DriverCall() { --driver_.depth; }
  DriverCall(const DriverCall &) = delete;
  DriverCall &operator=(const DriverCall &) = delete;
  /// What the call has to fail with, or CUDA_SUCCESS.
  CUresult injected() const { return injected_; }

private:
  std::lock_guard<std::recursive_mutex> lock_;
  Driver &driver_;
  CUresult injected_ = CUDA_SUCCESS;
};
/// Names of the exported functions, without version suffix.
std::vector<std::string> driverFunctions();

/// The stack of current contexts of the calling thread.
std::vector<Context *> &contextStack();
Context *currentContext();

/// Null: no such stream. The null, legacy and per-thread handles are streams of `context`.
Stream *findStream(Context *context, CUstream handle);
/// Null: no such event.
Event *findEvent(CUevent handle);
/// The live kernel of a handle, or null.
Kernel *findKernel(const void *handle);
/// The live context of a handle, or null.
Context *findContext(CUcontext handle);
/// Null: no such device.
Device *findDevice(CUdevice ordinal);
/// The device whose memory holds the address, or null.
Device *deviceOf(Driver &driver, uint64_t address);
void initialiseContext(Context &context);
CUresult allocateMemory(Context *context, CUdeviceptr *out, size_t bytes, AllocationKind kind);
/// Frees an allocation of one of these kinds that begins at `address`; null is no allocation and no error.
CUresult releaseMemory(Driver &driver, CUdeviceptr address, std::initializer_list<AllocationKind> kinds);

/// What an operation of `stream` comes after.
std::vector<OperationPtr> orderInStream(Stream &stream);
/// Gives work to a stream: it runs in order, or becomes a node of the graph that the stream captures.
CUresult enqueue(Stream &stream, Work work);
/// The work of a stream, also of the streams that the default stream is ordered with.
CUresult finishStream(Stream &stream);

/// Reads the environment and makes the devices.
CUresult initialiseDriver(Driver &driver);
void activatePrimary(Device &device);
/// After a kernel's fault, or a deadlock, with result `code`: every call in the context returns it. With NVIDIA's
/// driver (580, seen on two H100) so does every other context of the process, on every device, contexts made later and
/// primary contexts that were reset: only a new process works again. TENON_EMULATOR_FAULTS=context leaves the others
/// alone.
void markLost(Context *context, int code);
/// Frees what belongs to the context.
void destroyContents(Context *context);
void unloadModule(Module *module);

/// What a launch with this parameter block may not write: from each pointer that was declared read-only to the next
/// pointer among the parameters, or to the end of the allocation. Not what a writable parameter points to as well.
std::vector<ReadOnlyRange> readOnlyRanges(const Kernel &kernel, const Memory &memory,
                                          const std::vector<uint8_t> &parameters);

struct JitLog {
  std::string info, error;
};
/// Loads PTX. On failure the log says why.
CUresult loadModule(Context *context, const void *image, JitLog &log, Module **out);

} // namespace tenon::emulator

// The first line of every exported function, so that it can be made to fail: TENON_CALL where no initialised driver is
// needed, else one of the others.
#define TENON_CALL()                                                                                                   \
  [[maybe_unused]] ::tenon::emulator::Driver &driver = ::tenon::emulator::driver();                                    \
  ::tenon::emulator::DriverCall driverCall(driver, __func__);                                                          \
  if (driverCall.injected() != CUDA_SUCCESS)                                                                           \
  return driverCall.injected()

#define TENON_ENTER()                                                                                                  \
  TENON_CALL();                                                                                                        \
  if (::tenon::emulator::WorkQueue::inHostFunction())                                                                  \
    return CUDA_ERROR_NOT_PERMITTED;                                                                                   \
  if (!driver.initialised)                                                                                             \
  return CUDA_ERROR_NOT_INITIALIZED

#define TENON_ENTER_CONTEXT()                                                                                          \
  TENON_ENTER();                                                                                                       \
  ::tenon::emulator::Context *context = ::tenon::emulator::currentContext();                                           \
  if (!context)                                                                                                        \
    return ::tenon::emulator::contextStack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;   \
  if (context->sticky)                                                                                                 \
  return static_cast<CUresult>(context->sticky)

/// `Stream *name` of the handle.
#define TENON_STREAM(name, handle)                                                                                     \
  ::tenon::emulator::Stream *name = ::tenon::emulator::findStream(context, handle);                                    \
  if (!name)                                                                                                           \
  return CUDA_ERROR_INVALID_HANDLE
