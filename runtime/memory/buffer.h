// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A range of memory that a device can reach, with one owner. Its address is a multiple of 256 bytes, as the driver's
// allocators promise; imported memory has the address it has. What a buffer may be used for is declared when it is made
// and checked by every command that names it (command_buffer_validator.h).
//
// Stream-ordered memory is returned on the device's stream: after the work submitted before, without waiting for it.
#pragma once

#include "runtime/memory/pool.h"
#include "support/result.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace tenon::runtime {

/// DeviceLocal: in the device's memory, out of the host's reach. HostVisible: pinned host memory that the device reads
/// and writes over the bus; the host sees it without a copy.
enum class MemoryType : uint8_t { DeviceLocal, HostVisible };

// Bits of BufferOptions::usage.
inline constexpr uint32_t kUsageTransferSource = 1;
inline constexpr uint32_t kUsageTransferTarget = 2; // copies, fills, updates
inline constexpr uint32_t kUsageDispatch = 4;       // a binding of a dispatch
inline constexpr uint32_t kUsageIndirect = 8;       // the grid of an indirect dispatch
inline constexpr uint32_t kUsageMapping = 16;       // Buffer::map
inline constexpr uint32_t kUsageAll = 31;
// Bits of BufferOptions::access: what commands and the host may do.
inline constexpr uint32_t kAccessRead = 1;
inline constexpr uint32_t kAccessWrite = 2;
inline constexpr uint32_t kAccessAll = 3;

struct BufferOptions {
  MemoryType memory = MemoryType::DeviceLocal;
  uint32_t usage = kUsageAll;
  uint32_t access = kAccessAll;
};

/// "transfer source, dispatch"; "nothing" for 0.
std::string usageNames(uint32_t usage);
/// InvalidArgument: no usage or access at all, or unknown bits of either.
Status checkBufferOptions(const BufferOptions &options);
/// What a buffer in device memory is good for: everything asked for but mapping. InvalidArgument: mapping alone, or
/// what checkBufferOptions refuses.
Result<BufferOptions> deviceLocalOptions(BufferOptions options);

class Buffer {
public:
  /// How memory goes back. It is called once, with no context current; a failure cannot be answered.
  using Release = std::function<void()>;

  /// Takes over memory of allocateDeviceMemory().
  Buffer(std::shared_ptr<Device> device, uint64_t address, uint64_t size, DeviceAllocator allocator,
         const BufferOptions &options = {});
  /// Memory of any origin. `host`: where the host sees it, or null.
  Buffer(std::shared_ptr<Device> device, uint64_t address, uint64_t size, const BufferOptions &options, void *host,
         Release release);
  /// Memory of a pool, at a multiple of `alignment`. `address` 0: it comes later, by provide().
  Buffer(std::shared_ptr<Pool> pool, uint64_t address, uint64_t size, uint64_t alignment, const BufferOptions &options);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Device address; 0 while memory is waited for.
  uint64_t address() const { return address_.load(std::memory_order_acquire); }
  /// Its address was not known from the beginning: commands ask for it when they are issued.
  bool isLate() const { return lateAlignment_ != 0; }
  /// What is known of the address, for checks of alignment: the address, or that it is a multiple of this.
  uint64_t addressOrAlignment() const { return isLate() ? lateAlignment_ : address(); }
  /// Once, for a late one.
  void provide(uint64_t address) { address_.store(address, std::memory_order_release); }
  /// Where its memory came from, or null.
  const std::shared_ptr<Pool> &pool() const { return pool_; }
  /// Bytes, as asked for; 0 is possible.
  uint64_t size() const { return size_; }
  Device &device() const { return *device_; }
  const BufferOptions &options() const { return options_; }
  /// What returns its memory, where that is the device's.
  DeviceAllocator allocator() const { return allocator_; }
  bool isStreamOrdered() const { return allocator_ == DeviceAllocator::StreamOrdered; }

  /// The host's view of bytes [offset, offset + length). It sees what commands wrote once they are complete.
  /// @return [length] bytes, valid while this lives. FailedPrecondition: not host-visible, or not allowed by usage or
  ///         access (`access`: kAccessRead, kAccessWrite or both). OutOfRange: past the end.
  Result<std::span<uint8_t>> map(uint64_t offset, uint64_t length, uint32_t access) const;

  /// Where the host sees it, whatever the usage: for the runtime itself. Null: device memory.
  uint8_t *host() const { return static_cast<uint8_t *>(host_); }

  /// Where the host may read and write it: host() of host-visible memory, and of any memory on the emulator, which has
  /// no other. Null: device memory. What commands wrote is there once they are complete.
  uint8_t *hostAddress() const;

  /// True for the first caller, who returns the memory: SubmissionQueue::deallocate, or else the destructor.
  bool claimMemory() { return !claimed_.exchange(true); }
  void markRetired() { retired_.store(true, std::memory_order_release); }
  /// The memory was returned: no command may use it.
  bool isRetired() const { return retired_.load(std::memory_order_acquire); }

private:
  std::shared_ptr<Device> device_; // memory keeps its context alive
  std::shared_ptr<Pool> pool_;
  std::atomic<uint64_t> address_;
  uint64_t size_;
  uint64_t lateAlignment_ = 0; // of a late buffer
  BufferOptions options_;
  DeviceAllocator allocator_ = DeviceAllocator::Plain;
  void *host_ = nullptr;
  Release release_;
  std::atomic<bool> claimed_ = false, retired_ = false;
};

/// Bytes [offset, offset + length) are in a buffer of `size` bytes, or OutOfRange says how far they reach.
Status checkBufferRange(uint64_t size, uint64_t offset, uint64_t length);

} // namespace tenon::runtime
