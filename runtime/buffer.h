// A range of device memory with one owner. Its address is a multiple of 256 bytes, as the driver's allocators promise.
// Stream-ordered memory is returned on the device's queue: after the work submitted before, without waiting for it.
#pragma once

#include <cstdint>
#include <memory>

namespace tenon::runtime {

class Device;

inline constexpr uint64_t kBufferAlignment = 256; // bytes

class Buffer {
public:
  /// Takes over memory that the device allocated; `streamOrdered` says how it is returned.
  Buffer(std::shared_ptr<Device> device, uint64_t address, uint64_t size, bool streamOrdered);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Device address.
  uint64_t address() const { return address_; }
  /// Bytes, as asked for; 0 is possible.
  uint64_t size() const { return size_; }
  Device &device() const { return *device_; }

private:
  std::shared_ptr<Device> device_; // memory keeps its context alive
  uint64_t address_;
  uint64_t size_;
  bool streamOrdered_;
};

} // namespace tenon::runtime
