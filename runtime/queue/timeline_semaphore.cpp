// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that changes a timeline collects the observers whose moment has come under the lock and calls them after
// it: an observer may signal, fail or wait for other semaphores.
#include "runtime/queue/timeline_semaphore.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>

namespace tenon::runtime {

Result<uint64_t> Semaphore::query() const {
  std::lock_guard lock(mutex_);
  if (!failure_.ok())
    return failure_.clone();
  return value_;
}

namespace {

Status unsupportedTimepoint(std::string_view what, uint64_t value, Semaphore::TimepointKind kind,
                            std::string_view instead) {
  constexpr const char *kNames[] = {"a CUDA event", "an event descriptor", "a sync file"};
  const auto index = static_cast<size_t>(kind);
  return makeError(StatusCode::Unimplemented, "timepoints of semaphores are not ", what, ": value ", value, " as ",
                   index < std::size(kNames) ? kNames[index] : "an unknown kind", "; ", instead);
}

} // namespace

Status Semaphore::exportTimepoint(uint64_t value, TimepointKind kind) const {
  return unsupportedTimepoint("exported", value, kind,
                              "wait for the value on the host, or submit a host call that waits for it");
}

Status Semaphore::importTimepoint(uint64_t value, TimepointKind kind, uint64_t) {
  return unsupportedTimepoint("imported", value, kind,
                              "signal the semaphore from the host when the other library's work is done");
}

Semaphore::State Semaphore::stateLocked(uint64_t value) const {
  if (!failure_.ok())
    return State::Failed;
  return value_ >= value ? State::Reached : State::Pending;
}

Semaphore::State Semaphore::state(uint64_t value) const {
  std::lock_guard lock(mutex_);
  return stateLocked(value);
}

bool Semaphore::isInFlightLocked(uint64_t value) const {
  return std::any_of(inFlight_.begin(), inFlight_.end(), [&](const InFlight &signal) { return signal.value >= value; });
}

void Semaphore::Released::wake() {
  for (Observer &observer : observers)
    observer.wake();
}

Semaphore::Released Semaphore::releaseLocked() {
  Released released;
  std::erase_if(inFlight_, [&](InFlight &signal) {
    const bool over = stateLocked(signal.value) != State::Pending;
    if (over)
      released.signals.push_back(std::move(signal));
    return over;
  });
  std::erase_if(observers_, [&](Observer &observer) {
    const bool now =
        stateLocked(observer.value) != State::Pending || (observer.orInFlight && isInFlightLocked(observer.value));
    if (now)
      released.observers.push_back(std::move(observer));
    return now;
  });
  return released;
}

Status Semaphore::signal(uint64_t value) {
  Released released;
  {
    std::lock_guard lock(mutex_);
    if (!failure_.ok())
      return failure_.clone();
    if (value <= value_)
      return makeError(StatusCode::InvalidArgument, "a semaphore at ", value_, " cannot be signalled to ", value,
                       ": its value only grows");
    value_ = value;
    released = releaseLocked();
  }
  released.wake();
  return okStatus();
}

void Semaphore::advance(uint64_t value) {
  Released released;
  {
    std::lock_guard lock(mutex_);
    if (!failure_.ok() || value <= value_)
      return;
    value_ = value;
    released = releaseLocked();
  }
  released.wake();
}

void Semaphore::fail(Status status) {
  if (status.ok())
    status = makeError(StatusCode::Aborted, "a semaphore was failed without a reason");
  Released released;
  {
    std::lock_guard lock(mutex_);
    if (!failure_.ok())
      return;
    failure_ = std::move(status);
    released = releaseLocked();
  }
  released.wake();
}

void Semaphore::addDeviceSignal(uint64_t value, std::shared_ptr<GpuEvent> event) {
  Released released;
  {
    std::lock_guard lock(mutex_);
    if (!failure_.ok() || value <= value_)
      return;
    inFlight_.push_back({value, std::move(event)});
    released = releaseLocked();
  }
  released.wake();
}

std::shared_ptr<GpuEvent> Semaphore::deviceSignal(uint64_t value) const {
  std::lock_guard lock(mutex_);
  for (const InFlight &signal : inFlight_)
    if (signal.value >= value)
      return signal.event;
  return nullptr;
}

uint64_t Semaphore::notify(uint64_t value, bool orInFlight, std::function<void()> wake) {
  {
    std::lock_guard lock(mutex_);
    if (stateLocked(value) == State::Pending && !(orInFlight && isInFlightLocked(value))) {
      observers_.push_back({++lastToken_, value, orInFlight, std::move(wake)});
      return lastToken_;
    }
  }
  wake();
  return 0;
}

void Semaphore::forget(uint64_t token) {
  std::lock_guard lock(mutex_);
  std::erase_if(observers_, [&](const Observer &observer) { return observer.token == token; });
}

namespace {

/// What the observers of one host wait share with it. It may outlive the wait: an observer is called at most once, and
/// one that comes late finds nobody.
struct Wakeup {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t generation = 0;

  void wake() {
    std::lock_guard lock(mutex);
    ++generation;
    changed.notify_all();
  }
};

/// Nothing: go on waiting. Else the answer of the wait.
std::optional<Status> answer(std::span<const SemaphorePoint> points, WaitMode mode) {
  size_t reached = 0;
  for (const SemaphorePoint &point : points) {
    switch (point.semaphore->state(point.value)) {
    case Semaphore::State::Failed:
      return point.semaphore->query().takeStatus();
    case Semaphore::State::Reached:
      ++reached;
      break;
    case Semaphore::State::Pending:
      break;
    }
  }
  if (reached == points.size() || (mode == WaitMode::Any && reached != 0))
    return okStatus();
  return std::nullopt;
}

Status deadlineExceeded(std::span<const SemaphorePoint> points, uint64_t timeoutNs) {
  std::string waited;
  for (const SemaphorePoint &point : points)
    if (Result<uint64_t> value = point.semaphore->query(); value.ok() && *value < point.value)
      waited += concat(waited.empty() ? "" : ", ", "the semaphore is at ", *value, ", waited for ", point.value);
  return makeError(StatusCode::DeadlineExceeded, "not signalled within ", timeoutNs, " ns: ", waited);
}

/// Nothing: the time is over.
std::optional<Status> waitFor(Wakeup &wakeup, std::span<const SemaphorePoint> points, WaitMode mode,
                              uint64_t timeoutNs) {
  // Above a century a deadline would overflow the clock.
  const bool isForever = timeoutNs > uint64_t(100) * 365 * 86400 * 1000000000;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(isForever ? 0 : timeoutNs);
  for (uint64_t seen = 0;;) {
    {
      std::unique_lock lock(wakeup.mutex);
      auto woken = [&] { return wakeup.generation != seen; };
      if (isForever)
        wakeup.changed.wait(lock, woken);
      else if (!wakeup.changed.wait_until(lock, deadline, woken))
        return std::nullopt;
      seen = wakeup.generation;
    }
    if (std::optional<Status> now = answer(points, mode))
      return now;
  }
}

} // namespace

Status waitSemaphores(std::span<const SemaphorePoint> points, WaitMode mode, uint64_t timeoutNs) {
  for (const SemaphorePoint &point : points)
    if (!point.semaphore)
      return makeError(StatusCode::InvalidArgument, "a wait for a null semaphore");
  if (std::optional<Status> now = answer(points, mode))
    return std::move(*now);
  if (timeoutNs == 0)
    return deadlineExceeded(points, timeoutNs);

  auto wakeup = std::make_shared<Wakeup>();
  std::vector<uint64_t> tokens;
  for (const SemaphorePoint &point : points)
    tokens.push_back(point.semaphore->notify(point.value, /*orInFlight=*/false, [wakeup] { wakeup->wake(); }));
  std::optional<Status> result = waitFor(*wakeup, points, mode, timeoutNs);
  for (size_t i = 0; i < points.size(); ++i)
    points[i].semaphore->forget(tokens[i]);
  return result ? std::move(*result) : deadlineExceeded(points, timeoutNs);
}

Status Semaphore::wait(uint64_t value, uint64_t timeoutNs) const {
  // Borrowed for the time of this call.
  const SemaphorePoint point = {std::shared_ptr<Semaphore>(std::shared_ptr<void>(), const_cast<Semaphore *>(this)),
                                value};
  return waitSemaphores({&point, 1}, WaitMode::All, timeoutNs);
}

} // namespace tenon::runtime
