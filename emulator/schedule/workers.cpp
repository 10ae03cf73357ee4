// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/workers.h"

#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace tenon::emulator {

struct Workers::State {
  std::mutex mutex;
  std::condition_variable wake, gate, done;
  const std::function<void()> *body = nullptr; // null: nothing may begin
  uint32_t wanted = 0, running = 0, threads = 0;
  bool together = false;

  void serve() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return body && wanted; });
      --wanted;
      ++running;
      const std::function<void()> &mine = *body;
      if (together)
        passGate(lock);
      lock.unlock();
      mine();
      lock.lock();
      if (--running == 0)
        done.notify_one();
    }
  }
  /// Until nobody is missing.
  void passGate(std::unique_lock<std::mutex> &lock) {
    if (wanted == 0)
      gate.notify_all();
    gate.wait(lock, [&] { return wanted == 0; });
  }
  /// A thread that serves `state` as long as the process lives. False: the system gives none.
  static bool start(const std::shared_ptr<State> &state) {
    auto *own = new std::shared_ptr<State>(state);
    auto serveState = [](void *argument) -> void * {
      std::unique_ptr<std::shared_ptr<State>> kept(static_cast<std::shared_ptr<State> *>(argument));
      (*kept)->serve();
      return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, serveState, own) != 0) {
      delete own;
      return false;
    }
    pthread_detach(thread);
    return true;
  }
};

void Workers::run(uint32_t others, const std::function<void()> &body) {
  if (int process = static_cast<int>(getpid()); process != process_) {
    process_ = process;
    state_ = std::make_shared<State>(); // a lock that a lost thread holds stays behind with it
  }
  State &state = *state_;
  {
    std::unique_lock<std::mutex> lock(state.mutex);
    while (state.threads < others && State::start(state_))
      ++state.threads;
    state.body = &body;
    state.wanted = others < state.threads ? others : state.threads;
    state.together = together_;
    for (uint32_t k = state.wanted; k; --k)
      state.wake.notify_one();
    if (together_)
      state.passGate(lock);
  }
  body();
  std::unique_lock<std::mutex> lock(state.mutex);
  state.body = nullptr;
  state.wanted = 0;
  state.done.wait(lock, [&] { return state.running == 0; });
}

uint32_t Workers::threads() const {
  if (!state_ || process_ != static_cast<int>(getpid()))
    return 0;
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->threads;
}

Workers &workers() {
  static Workers *all = new Workers; // never destroyed: its threads do not end
  return *all;
}

} // namespace tenon::emulator
