// Built where there are no headers of NVTX, instead of nvtx.cpp.
#include "runtime/nvtx.h"

namespace tenon::runtime {

bool isNvtxAttached() {
  return false;
}

NvtxRange::NvtxRange(std::string_view, std::string_view) {}

NvtxRange::~NvtxRange() {
  (void)isOpen_;
}

} // namespace tenon::runtime
