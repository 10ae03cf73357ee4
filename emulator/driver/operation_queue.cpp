// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/operation_queue.h"

#include "emulator/driver/context.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace tenon::emulator {

using Clock = std::chrono::steady_clock;

void OperationQueue::setOrder(const RunOrder &order) {
  if (const char *idle = getenv("TENON_EMULATOR_IDLE_MILLISECONDS"))
    idleMicroseconds_ = parseIdleMilliseconds(idle).value_or(50) * 1000;
  order_ = order.order;
  random_ = SplitMix64(order.seed);
}

uint64_t OperationQueue::random() {
  if (order_ != Order::Random)
    return 0;
  return random_.next();
}

bool OperationQueue::ready(Operation &operation) {
  if (operation.state != Operation::State::Waiting)
    return false;
  std::erase_if(operation.after, isDone);
  if (!operation.after.empty())
    return false;
  return operation.context->sticky || operation.canRun();
}

void OperationQueue::complete(Operation &operation) {
  operation.state = Operation::State::Done;
  operation.time = time_;
  operation.after.clear();
  operation.release();
}

void OperationQueue::run(const OperationPtr &pointer) {
  Operation &operation = *pointer;
  Context *context = operation.context;
  if (context->sticky || !context->active) { // after a failure nothing more runs in the context
    complete(operation);
    return;
  }
  if (operation.isHostFunction()) {
    operation.state = Operation::State::Running;
    hostFunctions_.push_back(pointer);
    startThread();
    wake();
    return;
  }
  Fault fault;
  bool done = operation.run(fault);
  if (fault.code)
    operation.fail(fault);
  if (done || fault.code)
    complete(operation);
}

void OperationQueue::sweep() {
  std::erase_if(pending_, isDone);
}

bool OperationQueue::runReady(Context *only) {
  bool any = false;
  for (bool more = true; more;) {
    more = false;
    for (size_t k = 0; k < pending_.size(); ++k) {
      OperationPtr operation = pending_[k];
      if ((only && operation->context != only) || !ready(*operation))
        continue;
      run(operation);
      more = any = true;
    }
    // In one pass everything that follows something earlier has run; another is needed for what memory waited for.
    more = more && anyWatchesMemory();
  }
  sweep();
  return any;
}

bool OperationQueue::runRandom() {
  std::vector<size_t> choice;
  for (size_t k = 0; k < pending_.size(); ++k)
    if (ready(*pending_[k]))
      choice.push_back(k);
  if (choice.empty())
    return false;
  OperationPtr operation = pending_[choice[random() % choice.size()]];
  run(operation);
  sweep();
  return true;
}

void OperationQueue::collect(const OperationPtr &target, std::vector<OperationPtr> &out) {
  uint64_t mark = ++marks_;
  out.push_back(target);
  target->mark = mark;
  for (size_t k = 0; k < out.size(); ++k)
    for (const OperationPtr &before : out[k]->after)
      if (before->mark != mark && !isDone(before)) {
        before->mark = mark;
        out.push_back(before);
      }
  std::sort(out.begin(), out.end(),
            [](const OperationPtr &a, const OperationPtr &b) { return a->sequence < b->sequence; });
}

bool OperationQueue::runTowards(const OperationPtr &target) {
  std::vector<OperationPtr> wanted;
  collect(target, wanted);
  bool any = false;
  for (const OperationPtr &operation : wanted)
    if (ready(*operation)) {
      run(operation);
      any = true;
    }
  sweep();
  return any;
}

void OperationQueue::submit(const OperationPtr &operation) {
  operation->sequence = ++sequence_;
  ++calls_;
  if (order_ == Order::Eager) {
    if (ready(*operation))
      run(operation);
    if (isDone(operation)) {
      if (!pending_.empty())
        runReady(); // it may have written what others wait for
      return;
    }
    pending_.push_back(operation);
    if (anyWatchesMemory()) {
      startThread();
      wake();
    }
    return;
  }
  pending_.push_back(operation);
  startThread();
  if (pending_.size() == 1)
    wake();
  if (order_ == Order::Random)
    for (uint64_t steps = random() % 3; steps; --steps)
      runRandom();
}

bool OperationQueue::anyWatchesMemory() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const OperationPtr &operation) { return operation->watchesMemory(); });
}

bool OperationQueue::poll(const OperationPtr &target) {
  ++calls_;
  if (isDone(target))
    return true;
  switch (order_) {
  case Order::Eager:
    runReady();
    return isDone(target);
  case Order::Random:
    if (!runRandom())
      break;
    return isDone(target);
  case Order::Lazy: {
    std::vector<OperationPtr> wanted;
    collect(target, wanted);
    for (const OperationPtr &operation : wanted)
      if (ready(*operation)) {
        run(operation);
        sweep();
        return false; // so that the program sees "not ready" at least once
      }
    runReady(); // what memory waits for may come from elsewhere
    break;
  }
  }
  return false;
}

CUresult OperationQueue::finish(const OperationPtr &target) {
  if (!target)
    return CUDA_SUCCESS;
  Context *context = target->context;
  if (isDone(target))
    return static_cast<CUresult>(context->sticky);
  double limit = 10;
  if (const char *text = getenv("TENON_EMULATOR_DEADLOCK_SECONDS"); text && *text)
    limit = parseDeadlockSeconds(text).value_or(limit);
  // A wait sometimes lets other threads go first, which may enqueue work that must not overtake this.
  if (order_ != Order::Eager && lock_.hasThreads)
    if (uint64_t delay = (order_ == Order::Random ? random() : ++waits_) % 3 * 400) {
      Unlocked unlocked(lock_);
      std::this_thread::sleep_for(std::chrono::microseconds(delay));
    }
  Clock::time_point quietSince = Clock::now();
  while (!isDone(target)) {
    ++calls_;
    bool moved = order_ == Order::Random ? runRandom() : runTowards(target);
    // What the target waits for may come from work that it does not follow: on a device both would run at once.
    if (!moved && !isDone(target))
      moved = runReady();
    if (moved || hostRunning_ || !hostFunctions_.empty())
      quietSince = Clock::now();
    if (moved)
      continue;
    if (std::chrono::duration<double>(Clock::now() - quietSince).count() > limit)
      return reportStuck(target);
    sleep(kPollMicroseconds);
  }
  return context->active ? static_cast<CUresult>(context->sticky) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult OperationQueue::finishAll(Context *context) {
  for (;;) {
    auto found = std::find_if(pending_.begin(), pending_.end(), [&](const OperationPtr &operation) {
      return !isDone(operation) && (!context || operation->context == context);
    });
    if (found == pending_.end())
      return context ? static_cast<CUresult>(context->sticky) : CUDA_SUCCESS;
    OperationPtr operation = *found;
    if (CUresult result = finish(operation); result != CUDA_SUCCESS && context)
      return result;
  }
}

CUresult OperationQueue::reportStuck(const OperationPtr &target) {
  std::vector<OperationPtr> wanted;
  collect(target, wanted);
  std::string text = "deadlock: nothing can run, and the program waits";
  for (const OperationPtr &operation : pending_) {
    std::erase_if(operation->after, isDone);
    if (operation->watchesMemory() && operation->after.empty())
      text += "\n  stream " + std::to_string(operation->stream) + ": " + operation->describeWait();
  }
  Context *context = target->context;
  target->fail({CUDA_ERROR_LAUNCH_TIMEOUT, text});
  runReady(context); // sticky: they are dropped
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

void OperationQueue::drop(Context *context) {
  for (const OperationPtr &operation : pending_)
    if (operation->context == context && operation->state == Operation::State::Waiting)
      complete(*operation);
  sweep();
  while (std::any_of(pending_.begin(), pending_.end(),
                     [&](const OperationPtr &operation) { return operation->context == context; })) {
    sleep(kPollMicroseconds);
    sweep();
  }
}

} // namespace tenon::emulator
