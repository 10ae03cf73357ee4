// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/nvtx.h"

#include "support/status.h"

#include <nvtx3/nvToolsExt.h>

namespace tenon::runtime {

/// Null where no tool is attached; one that is there but keeps no domains gives a default one.
static nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t created = nvtxDomainCreateA("tenon");
  return created;
}

bool isNvtxAttached() {
  return domain() != nullptr;
}

NvtxRange::NvtxRange(std::string_view what, std::string_view name) {
  if (!isNvtxAttached())
    return;
  const std::string text = what.empty() ? std::string(name) : concat(what, ' ', name);
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
  isOpen_ = true;
}

NvtxRange::~NvtxRange() {
  if (isOpen_)
    nvtxDomainRangePop(domain());
}

} // namespace tenon::runtime
