// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Start, version and error names: the functions that a program may call before cuInit, and cuInit.
#include "emulator/driver/call.h"
#include "emulator/driver/device.h"
#include "emulator/driver/error.h"
#include "emulator/driver/settings.h"
#include "emulator/machine/handlers.h"
#include "emulator/schedule/workers.h"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>

using namespace tenon;
using namespace tenon::emulator;

namespace {

#ifndef __has_feature
#define __has_feature(name) 0
#endif
// Where the memory of devices should lie, so that addresses repeat from run to run. The thread sanitizer follows only
// memory in ranges of its own, and moves other mappings there.
#if __has_feature(thread_sanitizer)
constexpr uint64_t kFirstArena = 0x7e00'0000'0000ull, kArenaStride = 1ull << 38;
#else
constexpr uint64_t kFirstArena = 0x2000'0000'0000ull, kArenaStride = 1ull << 40;
#endif

CUresult refuse(const std::string &why) {
  fprintf(stderr, "tenon emulator: %s\n", why.c_str());
  return CUDA_ERROR_INVALID_VALUE;
}

/// Reads the environment and makes the devices.
CUresult initialise(Driver &driver) {
  if (!driver.failuresWrong.empty())
    return refuse("TENON_EMULATOR_FAIL: " + driver.failuresWrong);
  Settings settings;
  if (std::string wrong = readSettings(getenv, settings); !wrong.empty())
    return refuse(wrong);
  if (settings.level && !chooseLevel(*settings.level))
    return refuse("TENON_EMULATOR_LEVEL asks for instructions that this processor does not have");
  driver.version = settings.driverVersion;
  driver.checks = settings.checks;
  driver.faultsEndProcess = settings.faultsEndProcess;
  driver.threads = settings.threads;
  driver.queue.setOrder(settings.order);
  workers().setTogether(settings.threadsTogether);
  for (uint32_t k = 0; k < settings.devices; ++k) {
    auto device = std::make_unique<Device>();
    device->ordinal = static_cast<int>(k);
    device->arch = findEmulated(settings.arch.number);
    // All at one bias, so that a kernel reaches a peer's memory as its own.
    uint64_t base = kFirstArena - k * kArenaStride;
    uint64_t onHost = k ? base + driver.devices[0]->memory->hostBias() : 0;
    device->memory = std::make_unique<Memory>(settings.memoryBytes, base, onHost);
    if (driver.checks.tracksWritten())
      device->memory->trackInitialised();
    if (!device->memory->ok()) {
      fprintf(stderr,
              "tenon emulator: cannot reserve %llu MiB for device %llu, as address space and as a file in memory "
              "(ulimit -v, ulimit -f); TENON_EMULATOR_MEMORY sets "
              "how much\n",
              static_cast<unsigned long long>(settings.memoryBytes >> 20), static_cast<unsigned long long>(k));
      driver.devices.clear();
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    driver.devices.push_back(std::move(device));
  }
  if (!settings.quiet)
    fprintf(stderr,
            "tenon emulator: %s: kernels run on the CPU, times mean nothing (TENON_EMULATOR_QUIET=1 silences this)\n",
            driver.devices[0]->name().c_str());
  driver.control.timeoutSeconds = settings.timeoutSeconds;
  pthread_atfork(nullptr, nullptr, [] { forkedFlag() = true; });
  driver.initialised = true;
  return CUDA_SUCCESS;
}

} // namespace

CUresult cuInit(unsigned flags) {
  TENON_CALL();
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return driver.initialised ? CUDA_SUCCESS : initialise(driver);
}

CUresult cuDriverGetVersion(int *version) {
  TENON_CALL();
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = driver.version;
  if (!driver.initialised) // may be asked before cuInit
    if (const char *text = getenv("TENON_EMULATOR_DRIVER_VERSION"))
      *version = parseDriverVersion(text).value_or(*version);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  TENON_CALL();
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = errorName(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  TENON_CALL();
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = errorText(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
