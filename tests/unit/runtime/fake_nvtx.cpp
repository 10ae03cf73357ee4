// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tool as NVTX finds one through NVTX_INJECTION64_PATH: records the ranges that are pushed and popped.
#include "tests/unit/runtime/fake_nvtx.h"

#include <mutex>
#include <nvtx3/nvToolsExt.h>

namespace {

std::mutex mutex;
std::vector<std::string> events; // guarded by `mutex`
int domain;                      // its address is the only domain's handle

int push(nvtxDomainHandle_t, const nvtxEventAttributes_t *attributes) {
  std::lock_guard lock(mutex);
  events.push_back(std::string("push ") + attributes->message.ascii);
  return 0;
}

int pop(nvtxDomainHandle_t) {
  std::lock_guard lock(mutex);
  events.push_back("pop");
  return 0;
}

nvtxDomainHandle_t create(const char *name) {
  std::lock_guard lock(mutex);
  events.push_back(std::string("domain ") + name);
  return reinterpret_cast<nvtxDomainHandle_t>(&domain);
}

template <typename Function> void set(NvtxFunctionTable table, int index, Function function) {
  *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(getExportTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
      size <= NVTX_CBID_CORE2_DomainCreateA)
    return 0;
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  set(table, NVTX_CBID_CORE2_DomainCreateA, create);
  return 1;
}

__attribute__((visibility("default"))) void tenonFakeNvtxTake(std::vector<std::string> *out) {
  std::lock_guard lock(mutex);
  *out = std::move(events);
  events.clear();
}
}
