// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's bytes into a buffer and back, on the stream of the buffer's device.
#pragma once

#include "runtime/memory/buffer.h"

namespace tenon::runtime {

/// Copies to bytes [offset, offset + bytes.size()) of `target`; returns when `bytes` may be changed again. OutOfRange:
/// past its end. FailedPrecondition: its memory was deallocated, or is not there yet.
Status uploadBytes(Buffer &target, uint64_t offset, std::span<const uint8_t> bytes);
/// Fills `target` with `bytes` over and over; its size is a multiple of theirs. Returns as uploadBytes().
Status uploadRepeated(Buffer &target, std::span<const uint8_t> bytes);
/// Waits for everything given to the stream, then copies bytes [offset, offset + bytes.size()) of `source`. OutOfRange:
/// past its end. FailedPrecondition: its memory was deallocated, or is not there yet.
Status downloadBytes(const Buffer &source, uint64_t offset, std::span<uint8_t> bytes);

} // namespace tenon::runtime
