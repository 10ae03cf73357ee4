// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Zstd frames of untrusted files. Memory grows with what really comes out, not with what a header promises: a file of a
// few bytes that promises half a gigabyte costs a few bytes.
#pragma once

#include "support/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::abi {

/// Above this size, what unpacks to more than kMaxUnpackRatio times its packed size is refused as a decompression bomb.
inline constexpr uint64_t kFreeUnpackBytes = 64ull << 20, kMaxUnpackRatio = 1024;

/// Whether `size` bytes from `packed` bytes are more than real code ever packs to.
inline bool isImplausiblySmall(uint64_t packed, uint64_t size) {
  return size > kFreeUnpackBytes && size / kMaxUnpackRatio > packed;
}

/// Unpacks one frame into `out`, exactly `size` bytes; `dictionary` is what it was packed with, if anything. DataLoss:
/// it does not unpack, or to another size. ResourceExhausted: implausibly small.
Status unpackZstd(std::span<const uint8_t> packed, uint64_t size, std::vector<uint8_t> &out,
                  std::span<const uint8_t> dictionary = {});

} // namespace tenon::abi
