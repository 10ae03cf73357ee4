// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device's primary context, the one that other libraries of the process share, and what is known of the device. It is
// the part of a Device that streams, events and profiles need.
#pragma once

#include "abi/target_arch.h"
#include "runtime/cuda/handles.h"
#include "runtime/device/stream_capture.h"
#include "support/result.h"

#include <array>
#include <memory>
#include <string>

namespace tenon::runtime {

/// What a driver says of a device that is not opened.
struct DeviceInfo {
  std::string name;
  uint32_t computeCapability = 0; // 90 is 9.0
  uint64_t memoryBytes = 0;
  std::array<uint8_t, 16> uuid = {}; // zeros: not known
  bool isEmulator = false;
};
/// Unavailable: no such device.
Result<DeviceInfo> queryDeviceInfo(const cuda::Driver &driver, size_t ordinal);

class Context {
public:
  /// Reads the device's attributes and retains its primary context. Unavailable: no such device (the message says how
  /// many there are).
  static Result<std::unique_ptr<Context>> open(std::shared_ptr<const cuda::Driver> driver, int ordinal);
  /// Releases the primary context.
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const cuda::Driver &driver() const { return *driver_; }
  CUcontext handle() const { return context_; }
  int ordinal() const { return device_; }
  /// Makes the context current for a scope.
  cuda::ContextScope enter() const { return cuda::ContextScope(*driver_, context_); }
  /// The same, to give something back.
  ReleaseScope enterToRelease() const { return ReleaseScope(*driver_, context_); }

  /// What abi::rankCandidates asks: compute capability, driver version, limits.
  const abi::DeviceTraits &traits() const { return traits_; }
  /// "'NVIDIA H200' (sm_90, driver 13.0)".
  std::string description() const;
  /// Shared memory of a block that needs no opt-in, in bytes.
  uint32_t sharedBytesWithoutOptin() const { return sharedBytesWithoutOptin_; }
  uint32_t multiprocessors() const { return multiprocessors_; }
  /// The driver's stream-ordered allocator can be used.
  bool hasMemoryPools() const { return hasMemoryPools_; }

private:
  Context(std::shared_ptr<const cuda::Driver> driver, CUdevice device) : driver_(std::move(driver)), device_(device) {}
  Status readTraits();
  Result<int> attribute(CUdevice_attribute attribute, const char *name) const;

  const std::shared_ptr<const cuda::Driver> driver_;
  const CUdevice device_;
  CUcontext context_ = nullptr;
  abi::DeviceTraits traits_;
  uint32_t sharedBytesWithoutOptin_ = 0;
  uint32_t multiprocessors_ = 1;
  bool hasMemoryPools_ = false;
};

} // namespace tenon::runtime
