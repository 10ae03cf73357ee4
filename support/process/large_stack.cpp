// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/large_stack.h"

#include <csignal>
#include <pthread.h>
#include <system_error>

namespace tenon {

struct LargeStackThread::State {
  ~State() {
    if (started)
      (void)::pthread_join(thread, nullptr);
  }
  std::function<void()> work;
  pthread_t thread = {};
  bool started = false;
};

LargeStackThread::LargeStackThread(std::unique_ptr<State> state) : state_(std::move(state)) {}
LargeStackThread::LargeStackThread(LargeStackThread &&) noexcept = default;
LargeStackThread &LargeStackThread::operator=(LargeStackThread &&) noexcept = default;
LargeStackThread::~LargeStackThread() = default;

Result<LargeStackThread> LargeStackThread::start(size_t stackBytes, std::function<void()> work) {
  auto state = std::make_unique<State>();
  state->work = std::move(work);
  pthread_attr_t attributes;
  (void)::pthread_attr_init(&attributes); // cannot fail on Linux
  int error = ::pthread_attr_setstacksize(&attributes, stackBytes);
  if (error == 0) {
    const auto run = [](void *given) -> void * {
      // Where a signal is handled that comes because the rest of the stack is used up (crash_report.h).
      alignas(16) char signals[64 << 10];
      const stack_t place = {.ss_sp = signals, .ss_flags = 0, .ss_size = sizeof signals};
      (void)::sigaltstack(&place, nullptr);
      static_cast<State *>(given)->work();
      const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
      (void)::sigaltstack(&none, nullptr);
      return nullptr;
    };
    error = ::pthread_create(&state->thread, &attributes, run, state.get());
  }
  (void)::pthread_attr_destroy(&attributes);
  if (error != 0)
    return makeError(StatusCode::ResourceExhausted, "no thread with ", stackBytes,
                     " bytes of stack can be had: ", std::generic_category().message(error));
  state->started = true;
  return LargeStackThread(std::move(state));
}

Status runWithLargeStack(size_t stackBytes, const std::function<void()> &work) {
  Result<LargeStackThread> thread = LargeStackThread::start(stackBytes, work);
  return thread.ok() ? okStatus() : thread.takeStatus();
}

} // namespace tenon
