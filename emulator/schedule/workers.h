// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that run the blocks of launches, kept from one launch to the next: starting one takes longer than many a
// kernel.
//
// A launch is one body that everybody runs, and blocks are what they take from each other (machine/grid.h). So nobody has to
// be waited for who has not begun: when the caller's own body returns nothing is left to take, and a thread that wakes
// up late finds the door closed. A launch of a microsecond costs a wake-up and no more.
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
