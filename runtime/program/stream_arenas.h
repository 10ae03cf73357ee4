// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for transients, a piece for each stream. Calls on one stream follow each other, so all plans of a program
// share the piece of a stream: it is as large as the largest of them asked for, however many shapes a program is called
// with.
#pragma once

#include "runtime/memory/buffer.h"
#include "support/result.h"

#include <cuda.h>
#include <memory>
#include <mutex>
#include <vector>

namespace tenon::runtime {

class Device;

class StreamArenas {
  struct Arena;

public:
  /// A stream's piece, for as long as this lives: nobody else gives work to the stream that uses it, so that the
  /// commands of two calls do not alternate.
  struct Use {
    std::shared_ptr<Arena> arena; // outlives its lock
    std::unique_lock<std::mutex> turn;
    const Buffer *memory = nullptr;
  };

  explicit StreamArenas(Device &device);
  ~StreamArenas();
  StreamArenas(const StreamArenas &) = delete;
  StreamArenas &operator=(const StreamArenas &) = delete;

  /// At least `bytes` bytes; the device's context is current. A piece that is too small is replaced once the stream is
  /// done with it.
  /// @param id of the stream
  /// ResourceExhausted: no memory. Errors of earlier work on the stream, if it is waited for.
  Result<Use> take(CUstream stream, uint64_t id, uint64_t bytes);

private:
  std::shared_ptr<Arena> find(uint64_t id);

  Device &device_;
  std::mutex mutex_;                           // guards the list
  std::vector<std::shared_ptr<Arena>> arenas_; // the last used first
};

} // namespace tenon::runtime
