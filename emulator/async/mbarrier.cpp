// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/async/mbarrier.h"

namespace tenon::emulator {

Mbarrier Mbarrier::unpack(uint64_t bits) {
  Mbarrier out;
  out.expected = static_cast<uint32_t>(bits & kMbarrierMost);
  out.pending = static_cast<uint32_t>(bits >> 20 & kMbarrierMost);
  out.parity = (bits >> 40 & 1) != 0;
  out.bytes = static_cast<int64_t>(bits << 2) >> 43;
  return out;
}

uint64_t Mbarrier::pack() const {
  return expected | static_cast<uint64_t>(pending) << 20 | static_cast<uint64_t>(parity) << 40 |
         (static_cast<uint64_t>(bytes) & 0x1fffff) << 41 | kMark << 62;
}

void Mbarrier::completeIfDone() {
  if (pending != 0 || bytes != 0)
    return;
  parity = !parity;
  pending = expected;
}

const char *Mbarrier::completeBytes(uint64_t count) {
  bytes -= static_cast<int64_t>(count);
  if (count > kMbarrierMost || bytes < -static_cast<int64_t>(kMbarrierMost))
    return "mbarrier: more bytes came than 2^20-1 beyond those awaited";
  completeIfDone();
  return nullptr;
}

const char *completeBytes(uint64_t *object, uint32_t bytes) {
  if (!Mbarrier::isValid(*object))
    return "the mbarrier object of an asynchronous copy was not initialised";
  Mbarrier barrier = Mbarrier::unpack(*object);
  const char *wrong = barrier.completeBytes(bytes);
  *object = barrier.pack();
  return wrong;
}

} // namespace tenon::emulator
