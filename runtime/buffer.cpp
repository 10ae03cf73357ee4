// Memory goes back where it came from: to the device, which knows whether it was stream-ordered.
#include "runtime/buffer.h"

#include "runtime/device.h"

namespace tenon::runtime {

Buffer::Buffer(std::shared_ptr<Device> device, uint64_t address, uint64_t size, bool streamOrdered)
    : device_(std::move(device)), address_(address), size_(size), streamOrdered_(streamOrdered) {}

Buffer::~Buffer() {
  device_->release(address_, size_, streamOrdered_);
}

} // namespace tenon::runtime
