// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/transfer.h"

#include "runtime/device/device.h"

namespace tenon::runtime {

Status uploadBytes(Buffer &target, uint64_t offset, std::span<const uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkBufferRange(target.size(), offset, bytes.size()));
  return target.device().stream().upload(target.address() + offset, bytes);
}

Status downloadBytes(const Buffer &source, uint64_t offset, std::span<uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkBufferRange(source.size(), offset, bytes.size()));
  return source.device().stream().download(source.address() + offset, bytes);
}

} // namespace tenon::runtime
