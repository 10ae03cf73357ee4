// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of the fake driver: a module keeps its text, a function is its name, and a launch runs what the test put under
// it.
#include "tests/unit/runtime/fake_driver_calls.h"

#include <cstring>

namespace tenon::test {

namespace {
struct Function {
  std::string name;
};
} // namespace

const std::string &kernelName(CUfunction function) {
  return reinterpret_cast<Function *>(function)->name;
}

CUresult launch(FakeLaunch launch, CUfunction function, void **parameters) {
  launch.kernel = kernelName(function);
  launch.parameters = parameters;
  auto kernel = fake().kernels.find(launch.kernel);
  if (kernel != fake().kernels.end())
    kernel->second(launch);
  launch.parameters = nullptr;
  fake().launches.push_back(launch);
  return CUDA_SUCCESS;
}

} // namespace tenon::test

using namespace tenon::test;

namespace {

struct Module {
  std::string image;
};

} // namespace

FAKE CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                                 void **values) {
  ENTER();
  fake().isCaptureBroken |= fake().capturing && fake().captureMode != CU_STREAM_CAPTURE_MODE_RELAXED;
  const std::string text(static_cast<const char *>(image)); // NUL-terminated, or the address sanitizer says so
  fake().loadedImages.push_back(text);
  for (const auto &[part, result] : fake().refusedImages) {
    if (text.find(part) == std::string::npos)
      continue;
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        std::strcpy(static_cast<char *>(values[i]), fake().jitLog.c_str());
    return static_cast<CUresult>(result);
  }
  ++fake().liveModules;
  *module = reinterpret_cast<CUmodule>(new Module{text});
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule, const char *name) {
  ENTER();
  auto global = fake().globals.find(name);
  if (global == fake().globals.end())
    return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(global->second.data());
  *bytes = global->second.size();
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkCreate_v2(unsigned, CUjit_option *, void **, CUlinkState *state) {
  ENTER();
  ++fake().liveLinks;
  *state = reinterpret_cast<CUlinkState>(new std::string());
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType, void *data, size_t, const char *, unsigned,
                               CUjit_option *, void **) {
  ENTER();
  *reinterpret_cast<std::string *>(state) = std::string("cubin of ") + static_cast<const char *>(data);
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes) {
  ENTER();
  auto *text = reinterpret_cast<std::string *>(state);
  *cubin = text->data(), *bytes = text->size();
  return CUDA_SUCCESS;
}
FAKE CUresult cuLinkDestroy(CUlinkState state) {
  ENTER();
  --fake().liveLinks;
  delete reinterpret_cast<std::string *>(state);
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleUnload(CUmodule module) {
  GiveBack back(module);
  ENTER();
  fake().isCaptureBroken |= fake().capturing && fake().captureMode != CU_STREAM_CAPTURE_MODE_RELAXED;
  back.done();
  --fake().liveModules;
  delete reinterpret_cast<Module *>(module);
  return CUDA_SUCCESS;
}
FAKE CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  ENTER();
  static std::map<std::string, Function> functions; // they live as long as the process
  Function *known = &functions.try_emplace(name, Function{name}).first->second;
  *function = reinterpret_cast<CUfunction>(known);
  return CUDA_SUCCESS;
}
FAKE CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  ENTER();
  const std::string &name = kernelName(function);
  auto lookup = [&](const std::map<std::string, int> &values, int otherwise) {
    auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
  };
  switch (static_cast<int>(attribute)) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = lookup(fake().functionThreads, 1024);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = lookup(fake().functionShared, 0);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = lookup(fake().functionRegisters, 32);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = 80;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = 10 * fake().major + fake().minor;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
FAKE CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER();
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    fake().dynamicSharedAttribute[kernelName(function)] = value;
  return CUDA_SUCCESS;
}
FAKE CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  ENTER();
  auto found = fake().parameters.find(kernelName(function));
  if (found == fake().parameters.end())
    return CUDA_ERROR_NOT_SUPPORTED;
  if (index >= found->second.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = found->second[index].first;
  *size = found->second[index].second;
  return CUDA_SUCCESS;
}
FAKE CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned sharedBytes, CUstream, void **parameters, void **) {
  ENTER();
  return launch({.grid = {gx, gy, gz}, .block = {bx, by, bz}, .sharedBytes = sharedBytes}, function, parameters);
}
FAKE CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **) {
  ENTER();
  return launch({.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                 .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                 .sharedBytes = config->sharedMemBytes,
                 .extended = true,
                 .attributes = config->numAttrs},
                function, parameters);
}
