// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory that another process can have: behind a POSIX file descriptor, which is sent over a socket or
// inherited. Only memory that was allocated for it can be exported; it comes from the driver's virtual memory
// management (cuMemCreate, cuMemMap) and is as long as a multiple of the device's granularity, 2 MiB as a rule.
//
// The memory lives as long as somebody has it mapped or holds a descriptor, in whatever process.
#pragma once

#include "runtime/memory/buffer.h"

namespace tenon::runtime {

/// Device memory that can be exported. Unimplemented: the driver lacks a function or the device the kind of handle; it
/// is named. ResourceExhausted: no memory.
Result<std::shared_ptr<Buffer>> allocateShareable(Device &device, uint64_t bytes, const BufferOptions &options);
/// A descriptor of the whole of what allocateShareable made, for the caller to close. FailedPrecondition: other memory.
Result<int> exportDescriptor(const Buffer &buffer);
/// The memory behind a descriptor, which stays the caller's. `bytes` are what it was allocated with, or fewer.
Result<std::shared_ptr<Buffer>> importDescriptor(Device &device, int descriptor, uint64_t bytes,
                                                 const BufferOptions &options);

} // namespace tenon::runtime
