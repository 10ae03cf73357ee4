// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers for users of command buffers: memory that is there when the call returns and that any queue may use.
// (Programs take theirs from allocateOnStream, queues from SubmissionQueue::allocate: both stream-ordered.)
//
//   DeviceLocal   cuMemAlloc
//   HostVisible   cuMemHostAlloc, mapped into the device's addresses
//   import        memory of others: a device pointer as it is, a host pointer after cuMemHostRegister
#pragma once

#include "runtime/memory/buffer.h"

namespace tenon::runtime {

/// Memory of `bytes` bytes (0 is possible), contents undefined. ResourceExhausted: out of memory; the message says how
/// much was asked for. InvalidArgument: unknown usage or access bits, or mapping of device memory.
Result<std::shared_ptr<Buffer>> allocateBuffer(Device &device, uint64_t bytes, const BufferOptions &options);

/// Device memory of `bytes` bytes (0 is possible), contents undefined, for work on the device's own stream:
/// stream-ordered where the device has memory pools. ResourceExhausted: out of memory.
Result<std::shared_ptr<Buffer>> allocateOnStream(Device &device, uint64_t bytes);

/// Device memory of others, which stays theirs. `released` (may be empty) is called when the last user is done with it.
Result<std::shared_ptr<Buffer>> importDeviceMemory(Device &device, uint64_t address, uint64_t bytes,
                                                   const BufferOptions &options, Buffer::Release released);

/// Host memory of others, pinned and mapped for the device until the last user is done; then `released` is called.
/// The same memory can be imported again once it was let go. Errors of cuMemHostRegister; Unimplemented: the driver
/// does not register host memory.
Result<std::shared_ptr<Buffer>> importHostMemory(Device &device, void *memory, uint64_t bytes,
                                                 const BufferOptions &options, Buffer::Release released);

/// Free and total bytes of the device.
struct MemoryInfo {
  uint64_t freeBytes = 0, totalBytes = 0;
};
Result<MemoryInfo> queryMemory(Device &device);

} // namespace tenon::runtime
