// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/emulator/emulator.h"

#include "benchmarks/emulator/cases.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace tenon::benchmarks {
namespace {

[[noreturn]] void die(const std::string &why) {
  fprintf(stderr, "error: %s\n", why.c_str());
  exit(1);
}
void check(CUresult result, const std::string &what) {
  if (result != CUDA_SUCCESS)
    die(what + " returned " + std::to_string(result));
}

} // namespace

std::string ownFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  return text.substr(0, text.rfind('/'));
}

Emulator::Emulator() {
  const char *wanted = getenv("TENON_EMULATOR_LIBRARY");
  std::string path = wanted && *wanted ? wanted : ownFolder() + "/../../emulator/libtenon_emulator.so";
  void *library = dlopen(path.c_str(), RTLD_NOW);
  if (!library)
    die(dlerror());
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      die(std::string("no ") + name + " in " + path);
  };
  decltype(&::cuInit) init;
  decltype(&::cuGetProcAddress) getProcAddress;
  decltype(&::cuDevicePrimaryCtxRetain) retain;
  decltype(&::cuCtxSetCurrent) setCurrent;
  find(init, "cuInit");
  find(getProcAddress, "cuGetProcAddress_v2");
  find(retain, "cuDevicePrimaryCtxRetain");
  find(setCurrent, "cuCtxSetCurrent");
  find(moduleLoadData_, "cuModuleLoadData");
  find(moduleUnload_, "cuModuleUnload");
  find(moduleGetFunction_, "cuModuleGetFunction");
  find(memAlloc_, "cuMemAlloc_v2");
  find(copyToDevice_, "cuMemcpyHtoD_v2");
  find(launchKernel_, "cuLaunchKernel");
  find(synchronize_, "cuCtxSynchronize");
  check(init(0), "cuInit");
  void *counter = nullptr;
  // Only the emulator has this function; a GPU's driver is refused here.
  if (getProcAddress("tenonEmulatorThreadInstructions", &counter, 13000, 0, nullptr) != CUDA_SUCCESS || !counter)
    die(path + " is not the emulator");
  threadInstructions_ = reinterpret_cast<uint64_t (*)()>(counter);
  CUcontext context;
  check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(setCurrent(context), "cuCtxSetCurrent");
}

CUdeviceptr Emulator::allocate(const void *data, size_t bytes) const {
  CUdeviceptr address = 0;
  check(memAlloc_(&address, bytes), "cuMemAlloc");
  check(copyToDevice_(address, data, bytes), "cuMemcpyHtoD");
  return address;
}

void Emulator::launch(CUfunction kernel, const Case &what) const {
  std::vector<void *> parameters;
  for (const uint64_t &argument : what.arguments)
    parameters.push_back(const_cast<uint64_t *>(&argument));
  check(launchKernel_(kernel, what.grid[0], what.grid[1], 1, what.block[0], what.block[1], 1, what.shared, nullptr,
                      parameters.data(), nullptr),
        "cuLaunchKernel of " + what.name);
  check(synchronize_(), "cuCtxSynchronize after " + what.name);
}

Module::Module(const Emulator &emulator, const std::string &ptx) : emulator_(emulator) {
  check(emulator.moduleLoadData_(&module_, ptx.c_str()), "cuModuleLoadData");
}
Module::~Module() {
  emulator_.moduleUnload_(module_);
}
CUfunction Module::kernel(const std::string &name) const {
  CUfunction function = nullptr;
  check(emulator_.moduleGetFunction_(&function, module_, name.c_str()), "cuModuleGetFunction of " + name);
  return function;
}

} // namespace tenon::benchmarks
