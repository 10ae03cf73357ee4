// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/phases.h"

#include "support/process/terminal.h"
#include "support/status.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace tenon {

using Clock = std::chrono::steady_clock;

/// Writes the phase that runs and its seconds over one line of the terminal, from the first second on. What is printed
/// meanwhile begins at the start of that line, and wipes it.
class Phases::Ticker {
public:
  explicit Ticker(const std::string &tool) : tool_(tool), thread_([this] { run(); }) {}
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
    wipe();
  }

  void show(const std::string &phase) {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
    begin_ = Clock::now();
    wipe();
  }

private:
  void wipe() {
    if (std::exchange(written_, false))
      std::fputs("\033[K", stderr);
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; })) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
      if (phase_.empty() || seconds < 1)
        continue;
      std::fputs(concat(tool_, ": ", phase_, ", ", seconds, " s\033[K\r").c_str(), stderr);
      written_ = true;
    }
  }

  const std::string tool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_;
  Clock::time_point begin_;
  bool ends_ = false, written_ = false;
  std::thread thread_; // last: it uses the others
};

Phases::Phases(std::string tool) : tool_(std::move(tool)) {}

Phases::~Phases() {
  finish();
}

void Phases::end() {
  if (std::exchange(running_, false))
    phases_.back().seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Phases::begin(std::string name) {
  end();
  if (phases_.empty() && isTerminal(stderr))
    ticker_ = std::make_unique<Ticker>(tool_);
  if (ticker_)
    ticker_->show(name);
  phases_.push_back({std::move(name)});
  running_ = true;
  begin_ = Clock::now();
}

void Phases::divide(std::vector<Phase> parts) {
  end();
  if (!phases_.empty())
    phases_.pop_back();
  phases_.insert(phases_.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
}

void Phases::finish() {
  end();
  ticker_.reset();
  if (std::exchange(finished_, true) || !verbose_ || phases_.empty())
    return;
  std::fflush(stdout);
  std::fputs(text().c_str(), stderr);
}

std::string Phases::text() const {
  size_t width = 5;
  for (const Phase &phase : phases_)
    width = std::max(width, phase.name.size());
  std::string text;
  double total = 0;
  auto line = [&](std::string name, double seconds) {
    char number[64];
    std::snprintf(number, sizeof number, "%10.2f ms\n", seconds * 1e3);
    name.resize(width, ' ');
    text += concat(tool_, ": ", name, number);
  };
  for (const Phase &phase : phases_) {
    line(phase.name, phase.seconds);
    total += phase.seconds;
  }
  line("total", total);
  return text;
}

} // namespace tenon
