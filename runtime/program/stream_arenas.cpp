// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/stream_arenas.h"

#include "runtime/cuda/driver_status.h"
#include "runtime/device/device.h"
#include "runtime/memory/allocator.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

constexpr size_t kMostStreams = 16; // the one not used for longest makes room

} // namespace

struct StreamArenas::Arena {
  explicit Arena(uint64_t stream) : stream(stream) {}

  const uint64_t stream;
  std::mutex mutex; // guards what follows, and is held while work is given to the stream
  std::shared_ptr<Buffer> memory;
};

StreamArenas::StreamArenas(Device &device) : device_(device) {}
StreamArenas::~StreamArenas() = default;

std::shared_ptr<StreamArenas::Arena> StreamArenas::find(uint64_t id) {
  std::lock_guard lock(mutex_);
  auto found = std::find_if(arenas_.begin(), arenas_.end(), [&](const auto &known) { return known->stream == id; });
  if (found == arenas_.end()) {
    if (arenas_.size() >= kMostStreams)
      arenas_.pop_back(); // another thread may hold it still
    found = arenas_.insert(arenas_.end(), std::make_shared<Arena>(id));
  }
  std::rotate(arenas_.begin(), found, found + 1);
  return arenas_.front();
}

Result<StreamArenas::Use> StreamArenas::take(CUstream stream, uint64_t id, uint64_t bytes) {
  std::shared_ptr<Arena> arena = find(id);
  std::unique_lock turn(arena->mutex);
  std::shared_ptr<Buffer> &memory = arena->memory;
  if (!memory || memory->size() < bytes) {
    // Lengths that grow from call to call are not to take new memory each time.
    uint64_t wanted = bytes;
    if (memory) {
      TENON_RETURN_IF_ERROR(
          cuda::driverStatus(device_.driver(), device_.driver().cuStreamSynchronize(stream), "cuStreamSynchronize"));
      wanted = std::max(bytes, memory->size() + memory->size() / 4);
      memory = nullptr;
    }
    Result<std::shared_ptr<Buffer>> made = allocateBuffer(device_, wanted, {});
    if (!made.ok() && wanted != bytes)
      made = allocateBuffer(device_, bytes, {});
    if (!made.ok())
      return made.takeStatus();
    memory = made.take();
  }
  const Buffer *address = memory.get();
  return Use{std::move(arena), std::move(turn), address};
}

} // namespace tenon::runtime
