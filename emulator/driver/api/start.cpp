// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Start, version, error names, and the state of the whole library.
#include "emulator/driver/memory/memory_pool.h"
#include "emulator/driver/state.h"
#include "emulator/machine/handlers.h"
#include "emulator/schedule/workers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {

// The driver API is a process-wide state by definition: this is the one place that holds it.
Driver &driver() {
  static Driver *instance = new Driver; // never destroyed: programs call the driver from destructors
  return *instance;
}

std::vector<Context *> &contextStack() {
  thread_local std::vector<Context *> stack;
  return stack;
}

Context *currentContext() {
  std::vector<Context *> &stack = contextStack();
  if (stack.empty() || !stack.back())
    return nullptr;
  Context *context = stack.back();
  return driver().contexts.count(context) && context->active ? context : nullptr;
}

DriverCall::DriverCall(Driver &driver, const char *function) : lock_(driver.mutex), driver_(driver) {
  if (!driver.faultsRead) {
    driver.faultsRead = true;
    if (const char *text = getenv("TENON_EMULATOR_FAIL"))
      driver.faultsWrong = driver.faults.parse(text, driverFunctions());
  }
  if (std::thread::id thread = std::this_thread::get_id(); thread != driver.lastThread) {
    driver.hasThreads |= driver.lastThread != std::thread::id();
    driver.lastThread = thread;
  }
  if (driver.depth++ != 0)
    return;
  driver.function = function;
  if (!driver.faults.empty())
    injected_ = driver.faults.call(function);
}

Device *findDevice(CUdevice ordinal) {
  const auto &devices = driver().devices;
  return ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size() ? devices[static_cast<size_t>(ordinal)].get()
                                                                       : nullptr;
}

Device *deviceOf(Driver &driver, uint64_t address) {
  for (auto &device : driver.devices)
    if (address - device->memory->deviceBase() < device->memory->size())
      return device.get();
  if (!driver.registered.empty())
    for (auto &device : driver.devices)
      if (const Allocation *found = device->memory->find(address); found && found->kind == AllocationKind::Registered)
        return device.get();
  return nullptr;
}

Stream *findStream(Context *context, CUstream handle) {
  if (!handle || handle == CU_STREAM_LEGACY)
    return &context->defaultStream;
  if (handle == CU_STREAM_PER_THREAD) {
    std::unique_ptr<Stream> &stream = context->perThreadStreams[std::this_thread::get_id()];
    if (!stream) {
      stream = std::make_unique<Stream>();
      stream->context = context;
      stream->id = ++driver().nextId;
    }
    return stream.get();
  }
  Stream *stream = reinterpret_cast<Stream *>(handle);
  return driver().streams.count(stream) ? stream : nullptr;
}

namespace {

#ifndef __has_feature
#define __has_feature(name) 0
#endif
// Where the arenas of devices are wanted. The thread sanitizer follows no memory but its own ranges, and moves what is
// wanted elsewhere to where it likes.
#if __has_feature(thread_sanitizer)
constexpr uint64_t kFirstArena = 0x7e00'0000'0000ull, kArenaStride = 1ull << 38;
#else
constexpr uint64_t kFirstArena = 0x2000'0000'0000ull, kArenaStride = 1ull << 40;
#endif

bool parseVersion(const char *text, int &version) {
  int major = 0, minor = 0, used = 0;
  if (sscanf(text, "%d.%d%n", &major, &minor, &used) != 2 || text[used] || major < 11 || major > 99 || minor < 0 ||
      minor > 99)
    return false;
  version = major * 1000 + minor * 10;
  return true;
}

CUresult badVariable(const char *name, const char *value, const std::string &wanted) {
  fprintf(stderr, "tenon emulator: %s=%s is not understood; wanted %s\n", name, value, wanted.c_str());
  return CUDA_ERROR_INVALID_VALUE;
}

} // namespace

CUresult initialiseDriver(Driver &driver) {
  if (!driver.faultsWrong.empty()) {
    fprintf(stderr, "tenon emulator: TENON_EMULATOR_FAIL: %s\n", driver.faultsWrong.c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const char *text = getenv("TENON_EMULATOR_CHECK"))
    if (std::string wrong = parseCheckOptions(text, driver.checks); !wrong.empty()) {
      fprintf(stderr, "tenon emulator: TENON_EMULATOR_CHECK: %s\n", wrong.c_str());
      return CUDA_ERROR_INVALID_VALUE;
    }
  abi::TargetArch arch{90, abi::ArchSuffix::None};
  if (const char *text = getenv("TENON_EMULATOR_SM"); text && *text) {
    std::string spelled = std::string(text).starts_with("sm_") ? text : "sm_" + std::string(text);
    std::optional<abi::TargetArch> parsed = abi::parseTargetArch(spelled);
    if (parsed) // a device of cc 9.0 runs sm_90a code too: 90 and 90a are the same device
      parsed->suffix = abi::ArchSuffix::None;
    if (!parsed || !findArchLimits(*parsed))
      return badVariable("TENON_EMULATOR_SM", text, "one of " + archLimitsList());
    arch = *parsed;
  }
  if (const char *text = getenv("TENON_EMULATOR_DRIVER_VERSION"); text && *text)
    if (!parseVersion(text, driver.version))
      return badVariable("TENON_EMULATOR_DRIVER_VERSION", text, "a CUDA version from 11.0, like 13.0");
  if (const char *text = getenv("TENON_EMULATOR_ORDER"); text && *text)
    if (!driver.queue.setOrder(text))
      return badVariable("TENON_EMULATOR_ORDER", text, "eager, lazy, or random:SEED with a number");
  if (const char *text = getenv("TENON_EMULATOR_FAULTS"); text && *text) {
    if (strcmp(text, "process") != 0 && strcmp(text, "context") != 0)
      return badVariable("TENON_EMULATOR_FAULTS", text, "process or context");
    driver.faultsEndProcess = !strcmp(text, "process");
  }
  if (const char *text = getenv("TENON_EMULATOR_LEVEL"); text && *text) {
    constexpr std::string_view kLevels[] = {"v2", "v3"};
    auto found = std::find(std::begin(kLevels), std::end(kLevels), text);
    if (found == std::end(kLevels))
      return badVariable("TENON_EMULATOR_LEVEL", text, "v2 or v3 (of x86-64)");
    if (!chooseLevel(static_cast<Level>(found - std::begin(kLevels))))
      return badVariable("TENON_EMULATOR_LEVEL", text, "a level of x86-64 that this processor runs");
  }
  uint64_t mebibytes = 16384;
  if (const char *text = getenv("TENON_EMULATOR_MEMORY"); text && *text) {
    mebibytes = strtoull(text, nullptr, 10);
    if (mebibytes < 1 || mebibytes > 1u << 20)
      return badVariable("TENON_EMULATOR_MEMORY", text, "device memory in MiB, 1 to 1048576");
  }
  if (const char *text = getenv("TENON_EMULATOR_THREADS"); text && *text) {
    char *end = nullptr;
    uint64_t threads = strtoull(text, &end, 10);
    bool together = strcmp(end, ",together") == 0;
    if ((*end && !together) || threads < 1 || threads > 1024)
      return badVariable("TENON_EMULATOR_THREADS", text, "a number of threads, 1 to 1024, and perhaps ',together'");
    workers().setTogether(together);
    driver.threads = static_cast<uint32_t>(threads);
  }
  uint64_t count = 1;
  if (const char *text = getenv("TENON_EMULATOR_DEVICES"); text && *text) {
    count = strtoull(text, nullptr, 10);
    if (count < 1 || count > 8)
      return badVariable("TENON_EMULATOR_DEVICES", text, "a number of devices, 1 to 8");
  }
  for (uint64_t k = 0; k < count; ++k) {
    auto device = std::make_unique<Device>();
    device->ordinal = static_cast<int>(k);
    device->arch = findArchLimits(arch);
    // All at one bias, so that a kernel reaches a peer's memory as its own.
    uint64_t base = kFirstArena - k * kArenaStride;
    uint64_t onHost = k ? base + driver.devices[0]->memory->hostBias() : 0;
    device->memory = std::make_unique<Memory>(mebibytes << 20, base, onHost);
    if (driver.checks.uninitialised)
      device->memory->trackInitialised();
    if (!device->memory->ok()) {
      fprintf(stderr,
              "tenon emulator: cannot reserve %llu MiB of address space for device %llu; TENON_EMULATOR_MEMORY sets "
              "how much\n",
              static_cast<unsigned long long>(mebibytes), static_cast<unsigned long long>(k));
      driver.devices.clear();
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    driver.devices.push_back(std::move(device));
  }
  const char *quiet = getenv("TENON_EMULATOR_QUIET");
  if (!quiet || !*quiet || !strcmp(quiet, "0"))
    fprintf(stderr,
            "tenon emulator: %s: kernels run on the CPU, times mean nothing (TENON_EMULATOR_QUIET=1 silences this)\n",
            driver.devices[0]->name().c_str());
  driver.initialised = true;
  return CUDA_SUCCESS;
}

namespace {

struct ErrorText {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_SOURCE, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
     "cannot set while device is active in this process"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space"},
    {CUDA_ERROR_INVALID_PC, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not initiated in this stream"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
const ErrorText *findError(CUresult code) {
  const ErrorText *found =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](const ErrorText &e) { return e.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

} // namespace

const char *errorName(CUresult code) {
  const ErrorText *found = findError(code);
  return found ? found->name : nullptr;
}

} // namespace tenon::emulator

CUresult cuInit(unsigned flags) {
  TENON_CALL();
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return driver.initialised ? CUDA_SUCCESS : initialiseDriver(driver);
}

CUresult cuDriverGetVersion(int *version) {
  TENON_CALL();
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = driver.version;
  if (!driver.initialised) // may be asked before cuInit
    if (const char *text = getenv("TENON_EMULATOR_DRIVER_VERSION"); text && *text)
      parseVersion(text, *version);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  TENON_CALL();
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  const ErrorText *found = findError(error);
  *text = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  TENON_CALL();
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  const ErrorText *found = findError(error);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
