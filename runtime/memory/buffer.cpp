// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory goes back where it came from: each buffer holds the function that returns it.
#include "runtime/memory/buffer.h"

#include "runtime/device/device.h"

namespace tenon::runtime {

std::string usageNames(uint32_t usage) {
  constexpr const char *kNames[] = {"transfer source", "transfer target", "dispatch", "indirect", "mapping"};
  std::string out;
  for (uint32_t bit = 0; bit < 5; ++bit)
    if (usage & (1u << bit))
      out += concat(out.empty() ? "" : ", ", kNames[bit]);
  return out.empty() ? "nothing" : out;
}

Status checkBufferOptions(const BufferOptions &options) {
  if (options.usage == 0 || (options.usage & ~kUsageAll) != 0)
    return makeError(StatusCode::InvalidArgument, "a buffer's usage is ", options.usage, ": some of the bits 1 to 16");
  if (options.access == 0 || (options.access & ~kAccessAll) != 0)
    return makeError(StatusCode::InvalidArgument, "a buffer's access is ", options.access, ": read 1, write 2 or both");
  return okStatus();
}

Result<BufferOptions> deviceLocalOptions(BufferOptions options) {
  TENON_RETURN_IF_ERROR(checkBufferOptions(options));
  if (options.usage == kUsageMapping)
    return makeError(StatusCode::InvalidArgument, "a buffer in device memory cannot be mapped");
  options.memory = MemoryType::DeviceLocal;
  options.usage &= ~kUsageMapping;
  return options;
}

Buffer::Buffer(std::shared_ptr<Device> device, uint64_t address, uint64_t size, DeviceAllocator allocator,
               const BufferOptions &options)
    : device_(std::move(device)), address_(address), size_(size), options_(options), allocator_(allocator) {
  release_ = [device = device_.get(), address, size, allocator] {
    freeDeviceMemory(*device, address, size, allocator);
  };
}

Buffer::Buffer(std::shared_ptr<Device> device, uint64_t address, uint64_t size, const BufferOptions &options,
               void *host, Release release)
    : device_(std::move(device)), address_(address), size_(size), options_(options), host_(host),
      release_(std::move(release)) {}

Buffer::Buffer(std::shared_ptr<Pool> pool, uint64_t address, uint64_t size, uint64_t alignment,
               const BufferOptions &options)
    : device_(pool->device().shared_from_this()), pool_(std::move(pool)), address_(address), size_(size),
      lateAlignment_(address == 0 ? alignment : 0), options_(options) {}

Buffer::~Buffer() {
  if (!release_ && !pool_)
    return;
  if (!claimMemory())
    return;
  if (!pool_)
    release_();
  else if (const uint64_t address = this->address())
    pool_->giveBack(address, {}); // who used it is done: work in flight holds its buffers
}

Result<std::span<uint8_t>> Buffer::map(uint64_t offset, uint64_t length, uint32_t access) const {
  if (!host_)
    return makeError(StatusCode::FailedPrecondition, "a buffer in device memory cannot be mapped: allocate it "
                                                     "host-visible, or upload and download");
  if (!(options_.usage & kUsageMapping))
    return makeError(StatusCode::FailedPrecondition, "the buffer's usage is ", usageNames(options_.usage),
                     "; mapping was not asked for");
  if ((options_.access & access) != access)
    return makeError(StatusCode::FailedPrecondition, "the buffer is ",
                     options_.access == kAccessRead ? "read only" : "write only");
  if (isRetired())
    return makeError(StatusCode::FailedPrecondition, "the buffer was deallocated");
  TENON_RETURN_IF_ERROR(checkBufferRange(size_, offset, length));
  return std::span<uint8_t>(static_cast<uint8_t *>(host_) + offset, length);
}

uint8_t *Buffer::hostAddress() const {
  if (host_ || !device_->driver().hostPointer || isRetired() || address() == 0)
    return host();
  return static_cast<uint8_t *>(device_->driver().hostPointer(address(), size_));
}

Status checkBufferRange(uint64_t size, uint64_t offset, uint64_t length) {
  if (offset <= size && length <= size - offset)
    return okStatus();
  return makeError(StatusCode::OutOfRange, length, " bytes from byte ", offset, " of a buffer of ", size, " bytes");
}

} // namespace tenon::runtime
