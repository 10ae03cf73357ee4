// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuGetProcAddress: a function by its name without suffix, as programs that load the driver at run time ask for it. The
// table is made of the names in functions.inc, which cuda.h maps to the version of this header.
#include "emulator/driver/api/inspect.h"
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/module/module.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

extern "C" CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);

#pragma clang diagnostic ignored "-Wdeprecated-declarations" // deprecated functions are still called

namespace {

struct Entry {
  const char *name;
  void *address;
};

/// Not part of CUDA: the report of the last kernel that failed, NUL-terminated. Returns its length.
size_t lastReport(char *buffer, size_t capacity) {
  if (forkedFlag())
    return 0;
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  if (buffer && capacity) {
    size_t bytes = std::min(driver.lastReport.size(), capacity - 1);
    memcpy(buffer, driver.lastReport.data(), bytes);
    buffer[bytes] = 0;
  }
  return driver.lastReport.size();
}

#define TENON_FUNCTION(name) {#name, reinterpret_cast<void *>(&name)},
const Entry kEntries[] = {
#include "emulator/driver/functions.inc"
};
#undef TENON_FUNCTION

/// Not part of CUDA: name and address of function `index`. False: there are no more.
bool functionAt(size_t index, const char **name, void **address) {
  if (index >= std::size(kEntries))
    return false;
  *name = kEntries[index].name;
  *address = kEntries[index].address;
  return true;
}

/// Not part of CUDA: what TENON_EMULATOR_ORDER says, from now on. False: `order` is not understood.
bool setOrder(const char *order) {
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  std::optional<RunOrder> parsed = parseOrder(order);
  if (!parsed || !driver.queue.idle())
    return false;
  driver.queue.setOrder(*parsed);
  return true;
}

/// Not part of CUDA: thread instructions that all launches executed so far, for benchmarks.
uint64_t threadInstructions() {
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  return driver.threadInstructions;
}

/// Not part of CUDA: at byte `offset` of parameter `index` stands a pointer, or a tensor map, that the kernel must not
/// write through. name: what a report calls it. False: no such kernel or no such pointer.
bool readOnlyPointer(CUfunction function, size_t index, size_t offset, const char *name) {
  if (forkedFlag())
    return false;
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  Kernel *kernel = reinterpret_cast<Kernel *>(function);
  if (!driver.kernels.count(kernel) || index >= kernel->decoded->parameters.size())
    return false;
  const size_t bytes = kernel->decoded->parameters[index].bytes;
  if (offset % sizeof(CUdeviceptr) != 0 || bytes < sizeof(CUdeviceptr) || offset > bytes - sizeof(CUdeviceptr))
    return false;
  std::string &known = kernel->readOnlyPointers[{index, offset}];
  known = name && *name ? name : "parameter " + std::to_string(index);
  return true;
}

/// A pointer that is the whole parameter.
bool readOnlyParameter(CUfunction function, size_t index, const char *name) {
  if (forkedFlag())
    return false;
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  const Kernel *kernel = reinterpret_cast<const Kernel *>(function);
  return driver.kernels.count(const_cast<Kernel *>(kernel)) && index < kernel->decoded->parameters.size() &&
         kernel->decoded->parameters[index].bytes == sizeof(CUdeviceptr) && readOnlyPointer(function, index, 0, name);
}

/// Not part of CUDA: where the host may read and write the memory at `address`, which it must not itself. Null: `bytes`
/// bytes from there on are not in one live allocation.
void *hostPointer(CUdeviceptr address, size_t bytes) {
  if (forkedFlag())
    return nullptr;
  Driver &driver = tenon::emulator::driver();
  std::lock_guard<std::recursive_mutex> lock(driver.lock.mutex);
  Device *device = deviceOf(driver, address);
  const Allocation *allocation = device ? device->memory->find(address) : nullptr;
  if (!allocation || allocation->kind == AllocationKind::Mapped || bytes > allocation->end() - address)
    return nullptr;
  return device->memory->host(address);
}

/// Not part of CUDA: reports call the module that this thread loads next so: the file that its PTX came from.
void nameModule(const char *name) {
  nextModuleName() = name ? name : "";
}

/// Not part of CUDA: ends the launch that runs, with a report of where its warps stand. May be called by a signal
/// handler. False: none runs.
bool interrupt() {
  RunControl &control = tenon::emulator::driver().control;
  if (forkedFlag() || !control.running)
    return false;
  control.isInterrupted = true;
  return true;
}

/// The emulator's own functions, which no program of a GPU asks for. They are not counted as calls of the driver.
const Entry kOwnEntries[] = {{"tenonEmulatorLastReport", reinterpret_cast<void *>(&lastReport)},
                             {"tenonEmulatorThreadInstructions", reinterpret_cast<void *>(&threadInstructions)},
                             {"tenonEmulatorReadOnlyParameter", reinterpret_cast<void *>(&readOnlyParameter)},
                             {"tenonEmulatorInterrupt", reinterpret_cast<void *>(&interrupt)},
                             {"tenonEmulatorNameModule", reinterpret_cast<void *>(&nameModule)},
                             {"tenonEmulatorHostPointer", reinterpret_cast<void *>(&hostPointer)},
                             {"tenonEmulatorReadOnlyPointer", reinterpret_cast<void *>(&readOnlyPointer)},
                             {"tenonEmulatorFunctionAt", reinterpret_cast<void *>(&functionAt)},
                             {"tenonEmulatorSetOrder", reinterpret_cast<void *>(&setOrder)},
                             {"tenonEmulatorSetFailures", reinterpret_cast<void *>(&setFailures)},
                             {"tenonEmulatorFailuresMade", reinterpret_cast<void *>(&failuresMade)},
                             {"tenonEmulatorLiveObjects", reinterpret_cast<void *>(&liveObjects)}};

} // namespace

CUresult cuGetProcAddress(const char *symbol, void **out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status) {
  if (symbol && out)
    for (const Entry &entry : kOwnEntries)
      if (!strcmp(entry.name, symbol)) {
        *out = entry.address;
        if (entry.address == reinterpret_cast<void *>(&lastReport))
          tenon::emulator::driver().reportsAreRead = true;
        if (status)
          *status = CU_GET_PROC_ADDRESS_SUCCESS;
        return CUDA_SUCCESS;
      }
  TENON_CALL();
  if (!symbol || !out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  if (!strcmp(symbol, "cuGraphInstantiate")) // cuda.h gives the function another name, not another version
    symbol = "cuGraphInstantiateWithFlags";
  // A context of before 12.5 took other arguments.
  if (!strcmp(symbol, "cuCtxCreate") && version < 13000)
    *out = reinterpret_cast<void *>(&cuCtxCreate_v2);
  else
    for (const Entry &entry : kEntries)
      if (!strcmp(entry.name, symbol))
        *out = entry.address;
  if (status)
    *status = *out ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
