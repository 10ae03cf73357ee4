// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Readers that call themselves for what is nested need stack for it, and a process that has none left just ends. Such
// work runs on a thread whose stack does not depend on the caller's, and behind a check of how deep its input nests.
#pragma once

#include "support/result.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace tenon {

/// What the deepest text that is let through takes in MLIR and LLVM, with room for a sanitizer's frames.
inline constexpr size_t kLargeStackBytes = size_t(256) << 20;

/// A thread with a stack of its own size, of which only what is used takes memory.
class LargeStackThread {
public:
  /// Starts `work`. ResourceExhausted: there is no such thread, and `work` does not run.
  static Result<LargeStackThread> start(size_t stackBytes, std::function<void()> work);

  LargeStackThread(LargeStackThread &&) noexcept;
  LargeStackThread &operator=(LargeStackThread &&) noexcept;
  /// Waits for the end of its work.
  ~LargeStackThread();

private:
  struct State;
  explicit LargeStackThread(std::unique_ptr<State> state);
  std::unique_ptr<State> state_; // null: nothing to wait for
};

/// Runs `work` to its end on a thread of its own. ResourceExhausted: there is no such thread, and `work` did not run.
Status runWithLargeStack(size_t stackBytes, const std::function<void()> &work);

} // namespace tenon
