// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/transfer.h"

#include "runtime/device/device.h"

#include <algorithm>

namespace tenon::runtime {

/// That its memory is there, and still the buffer's.
static Status checkMemoryOf(const Buffer &buffer) {
  if (buffer.isRetired())
    return makeError(StatusCode::FailedPrecondition, "the buffer was deallocated");
  if (buffer.isLate() && buffer.address() == 0)
    return makeError(StatusCode::FailedPrecondition,
                     "the buffer's memory is not there yet: wait for the signals of its "
                     "allocation");
  return okStatus();
}

Status uploadBytes(Buffer &target, uint64_t offset, std::span<const uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkMemoryOf(target));
  TENON_RETURN_IF_ERROR(checkBufferRange(target.size(), offset, bytes.size()));
  return target.device().stream().upload(target.address() + offset, bytes);
}

Status uploadRepeated(Buffer &target, std::span<const uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(uploadBytes(target, 0, bytes));
  // What is there is copied behind itself: its length doubles each time.
  const uint64_t start = target.address();
  for (uint64_t done = bytes.size(); done != 0 && done < target.size();) {
    const uint64_t more = std::min(done, target.size() - done);
    TENON_RETURN_IF_ERROR(target.device().stream().copy({start, more}, {start + done, more}));
    done += more;
  }
  return okStatus();
}

Status downloadBytes(const Buffer &source, uint64_t offset, std::span<uint8_t> bytes) {
  TENON_RETURN_IF_ERROR(checkMemoryOf(source));
  TENON_RETURN_IF_ERROR(checkBufferRange(source.size(), offset, bytes.size()));
  return source.device().stream().download(source.address() + offset, bytes);
}

} // namespace tenon::runtime
