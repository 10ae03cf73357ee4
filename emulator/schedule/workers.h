// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that run the blocks of launches, kept from one launch to the next: starting one takes longer than many a
// kernel.
//
// All threads run the same body, which takes blocks from one grid (machine/grid.h). When the caller's own body returns,
// no block is left, so threads that have not started yet are not waited for: they find nothing to do. A launch of a
// microsecond costs one wake-up.
//
// A process that forks leaves its threads behind; the child gets its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tenon::emulator {

class Workers {
public:
  Workers() = default;
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// Runs `body` in this thread and in up to `others` more, until all that began have returned. One caller at a time.
  /// Fewer take part when the system gives no more threads.
  void run(uint32_t others, const std::function<void()> &body);
  /// From now on nobody begins before all have come: a short launch is then spread over the threads as well, which
  /// tests want and nobody else.
  void setTogether(bool together) { together_ = together; }
  /// Threads that were started and live.
  uint32_t threads() const;

private:
  struct State;
  std::shared_ptr<State> state_; // its threads keep it
  int process_ = 0;
  bool together_ = false;
};

/// Those of this process.
Workers &workers();

} // namespace tenon::emulator
