// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver: the one object of the process, with a registry of each kind of object that the API gives out. A handle is
// the address of its object; every call looks it up in the registry of its kind, so that a stale or foreign handle is
// an error and not a crash. The registries hold objects of all rooms by pointer only; each room knows its own.
#pragma once

#include "emulator/driver/capture_rule.h"
#include "emulator/driver/driver_lock.h"
#include "emulator/driver/failure_plan.h"
#include "emulator/driver/operation_queue.h"
#include "emulator/driver/registered_ranges.h"
#include "emulator/machine/check_options.h"
#include "emulator/machine/run_control.h"

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tenon::emulator {

struct AddressRange;
struct Context;
struct Device;
struct Event;
struct Graph;
struct GraphExec;
struct GraphNode;
struct Kernel;
struct MemoryPool;
struct Module;
struct PhysicalMemory;
struct Stream;

struct Driver {
  Driver();
  ~Driver();
  DriverLock lock;
  bool initialised = false;
  int version = 13000;
  CheckOptions checks;
  uint32_t threads = 1;         // that run the blocks of one launch
  bool faultsEndProcess = true; // TENON_EMULATOR_FAULTS
  FailurePlan failures;         // TENON_EMULATOR_FAIL
  bool failuresRead = false;
  std::string failuresWrong; // why TENON_EMULATOR_FAIL was not understood
  const char *function = ""; // of the driver, that the program called

  std::vector<std::unique_ptr<Device>> devices;
  std::set<Context *> contexts;
  std::vector<std::unique_ptr<Context>> ownedContexts;
  std::set<Module *> modules;
  std::set<Kernel *> kernels;
  std::set<MemoryPool *> pools; // that programs made
  RegisteredRanges registered;
  std::map<uint64_t, unsigned> pinnedFlags; // of cuMemHostAlloc, by address
  std::set<uint64_t> pendingFrees;          // enqueued, not yet run
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<PhysicalMemory>> physicalMemory; // not all released
  std::map<uint64_t, std::shared_ptr<AddressRange>> addressRanges;                        // by begin
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::set<CaptureRule *> captures;                 // under way
  std::map<Graph *, std::shared_ptr<Graph>> graphs; // null: embedded, a node owns it
  std::set<GraphNode *> graphNodes;
  std::set<GraphExec *> graphExecs;

  OperationQueue queue{lock};
  RunControl control;              // of the launches that run
  std::set<std::string> notes;     // shown: each once
  uint64_t threadInstructions = 0; // executed so far
  uint64_t nextId = 1, modulesLoaded = 0;
  int lost = 0;                // what ended the process's use of the driver, see markLost
  std::string lastReport;      // of the last kernel that failed, or was refused
  bool reportsAreRead = false; // the program has asked for tenonEmulatorLastReport, and shows what it finds there
};
Driver &driver();

/// Whether this process is a child, made by fork, of one that had initialised the driver: then no call may go on, as
/// with NVIDIA's driver. forkedFlag: set in the child, before anything else runs there.
bool &forkedFlag();

/// Null: no such device.
Device *findDevice(CUdevice ordinal);
/// The live context of a handle, or null.
Context *findContext(CUcontext handle);
/// The stack of current contexts of the calling thread.
std::vector<Context *> &contextStack();
/// Null: none, or it was destroyed.
Context *currentContext();
/// After a kernel's fault, or a deadlock, with result `code`: every call in the context returns it. With NVIDIA's
/// driver (580, seen on two H100) so does every other context of the process, on every device, contexts made later and
/// primary contexts that were reset: only a new process works again. TENON_EMULATOR_FAULTS=context leaves the others
/// alone.
void markLost(Context *context, int code);

} // namespace tenon::emulator
