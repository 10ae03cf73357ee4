// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/work/work_queue.h"

#include "emulator/driver/state.h"
#include "emulator/driver/work/unlocked.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace tenon::emulator {

using Clock = std::chrono::steady_clock;

bool WorkQueue::setOrder(std::string_view text) {
  if (const char *idle = getenv("TENON_EMULATOR_IDLE_MILLISECONDS"); idle && *idle)
    idleMicroseconds_ = static_cast<unsigned>(std::clamp(atol(idle), 1l, 1000000l)) * 1000;
  if (text == "eager" || text == "lazy") {
    order_ = text == "lazy" ? Order::Lazy : Order::Eager;
    return true;
  }
  if (!text.starts_with("random:"))
    return false;
  text.remove_prefix(7);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed_);
  if (error != std::errc() || end != text.data() + text.size())
    return false;
  order_ = Order::Random;
  random_ = SplitMix64(seed_);
  return true;
}

uint64_t WorkQueue::random() {
  if (order_ != Order::Random)
    return 0;
  return random_.next();
}

bool WorkQueue::ready(Operation &operation) {
  if (operation.state != Operation::State::Waiting)
    return false;
  std::erase_if(operation.after, isDone);
  if (!operation.after.empty())
    return false;
  if (auto *memory = std::get_if<MemoryOpsWork>(&operation.work); memory && !operation.context->sticky)
    return canAdvance(driver_, *memory);
  return true;
}

void WorkQueue::complete(Operation &operation) {
  operation.state = Operation::State::Done;
  operation.time = driver_.virtualTime;
  operation.after.clear();
  operation.work = EmptyWork{};
}

void WorkQueue::run(const OperationPtr &pointer) {
  Operation &operation = *pointer;
  Context *context = operation.context;
  if (context->sticky || !context->active) { // after a failure nothing more runs in the context
    complete(operation);
    return;
  }
  if (std::holds_alternative<HostWork>(operation.work)) {
    operation.state = Operation::State::Running;
    hostFunctions_.push_back(pointer);
    startThread();
    wake();
    return;
  }
  Fault fault;
  bool done = true;
  if (auto *kernel = std::get_if<KernelWork>(&operation.work))
    fault = runKernel(driver_, context, *kernel);
  else if (auto *copy = std::get_if<CopyWork>(&operation.work))
    fault = runCopy(driver_, *copy);
  else if (auto *fill = std::get_if<FillWork>(&operation.work))
    fault = runFill(driver_, *fill);
  else if (auto *memory = std::get_if<MemoryOpsWork>(&operation.work))
    done = runMemoryOps(driver_, *memory, fault);
  else if (auto *allocation = std::get_if<MemoryAllocWork>(&operation.work))
    fault = runAllocation(driver_, *allocation);
  else if (auto *release = std::get_if<MemoryFreeWork>(&operation.work))
    fault = runRelease(driver_, *release);
  if (fault.code) {
    markLost(context, fault.code);
    driver_.lastReport = fault.message;
    fflush(stdout);
    fprintf(stderr, "tenon emulator: error: %s\n", fault.message.c_str());
  }
  if (done || fault.code)
    complete(operation);
}

void WorkQueue::sweep() {
  std::erase_if(pending_, isDone);
}

bool WorkQueue::runReady(Context *only) {
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
    more = more && waitsForMemory();
  }
  sweep();
  return any;
}

bool WorkQueue::runRandom() {
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

void WorkQueue::collect(const OperationPtr &target, std::vector<OperationPtr> &out) {
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

bool WorkQueue::runTowards(const OperationPtr &target) {
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

void WorkQueue::submit(const OperationPtr &operation) {
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
    if (waitsForMemory()) {
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

bool WorkQueue::waitsForMemory() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const OperationPtr &operation) {
    return std::holds_alternative<MemoryOpsWork>(operation->work);
  });
}

bool WorkQueue::poll(const OperationPtr &target) {
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
        return false; // the program is told once that there was work
      }
    runReady(); // what memory waits for may come from elsewhere
    break;
  }
  }
  return false;
}

CUresult WorkQueue::finish(const OperationPtr &target) {
  if (!target)
    return CUDA_SUCCESS;
  Context *context = target->context;
  if (isDone(target))
    return static_cast<CUresult>(context->sticky);
  double limit = 10;
  if (const char *text = getenv("TENON_EMULATOR_DEADLOCK_SECONDS"); text && *text)
    limit = std::max(0.01, atof(text));
  // Whoever waits first does not always go first: other threads get the time to enqueue what must not overtake this.
  if (order_ != Order::Eager && driver_.hasThreads)
    if (uint64_t delay = (order_ == Order::Random ? random() : ++waits_) % 3 * 400) {
      Unlocked unlocked(driver_);
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

CUresult WorkQueue::finishAll(Context *context) {
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

CUresult WorkQueue::reportStuck(const OperationPtr &target) {
  std::vector<OperationPtr> wanted;
  collect(target, wanted);
  std::string text = "deadlock: nothing can run, and the program waits";
  for (const OperationPtr &operation : pending_) {
    auto *memory = std::get_if<MemoryOpsWork>(&operation->work);
    std::erase_if(operation->after, isDone);
    if (!memory || !operation->after.empty())
      continue;
    text += "\n  stream " + std::to_string(operation->stream) + ": " + describeWork(operation->work) + ", it is " +
            currentValue(driver_, *memory);
  }
  driver_.lastReport = text;
  fprintf(stderr, "tenon emulator: error: %s\n", text.c_str());
  Context *context = target->context;
  markLost(context, CUDA_ERROR_LAUNCH_TIMEOUT);
  runReady(context); // sticky: they are dropped
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

void WorkQueue::drop(Context *context) {
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
