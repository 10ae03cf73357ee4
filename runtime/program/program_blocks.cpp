// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The road of a call of a function with blocks, and what a program keeps between calls.
#include "runtime/device/device.h"
#include "runtime/device/stream_capture.h"
#include "runtime/device/stream_commands.h"
#include "runtime/memory/allocator.h"
#include "runtime/program/block_call.h"
#include "runtime/program/call_results.h"
#include "runtime/program/donated_inputs.h"
#include "runtime/program/plan/function_data.h"
#include "runtime/program/plan/register_program.h"
#include "runtime/program/plan/unrolled_plan.h"
#include "runtime/program/planned_call.h"
#include "runtime/program/program.h"

#include <algorithm>

namespace tenon::runtime {

/// Where a call stands.
struct Program::BlockCall {
  const abi::fb::Function &function;
  std::vector<FunctionCalls> &calls; // [blocks]
  std::span<const Value> given;      // inputs of the function, which are the caller's
  uint32_t block = 0;
  std::vector<Value> inputs = {};          // of the block; afterwards what it hands on
  const abi::fb::Target *target = nullptr; // afterwards
  std::vector<ExpectationOutcome> outcomes = {};
  // The plans whose work may not be complete, for the message of a fault; null among them: too many to name.
  std::vector<std::shared_ptr<PlannedCall>> pending = {};

  const abi::fb::Function &source() const { return *function.blocks()->Get(block); }
  Status describeFault(Status status) const;
};

constexpr size_t kMostPending = 8;

static bool holds(const Value &value, const Buffer &buffer) {
  const auto *tensor = std::get_if<Tensor>(&value);
  return tensor && tensor->buffer.get() == &buffer;
}

static bool isAmong(const Buffer &buffer, std::span<const Value> values) {
  return std::any_of(values.begin(), values.end(), [&](const Value &value) { return holds(value, buffer); });
}

Status Program::BlockCall::describeFault(Status status) const {
  if (status.ok() || pending.size() != 1)
    return std::move(status).withContext(
        concat("function '", function.name()->string_view(),
               "': a dispatch of one of its blocks; run with --synchronous to know which"));
  return pending.front()->plan->describeFault(std::move(status));
}

/// Sets `results` to memory of the caller's for each tensor that is returned, but for those that `isGivenUp` says are
/// in his memory already.
static Status askForResults(std::span<const Value> returned, ResultMemory &memory,
                            const std::function<bool(const Buffer &)> &isGivenUp, std::vector<Value> &results) {
  results.assign(returned.size(), Scalar{});
  for (size_t i = 0; i < returned.size(); ++i) {
    const auto *tensor = std::get_if<Tensor>(&returned[i]);
    if (!tensor || (isGivenUp(*tensor->buffer) && !memory.isForAll()))
      continue;
    Tensor given{tensor->element, tensor->shape, nullptr};
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(given.shape, given.element));
    TENON_ASSIGN_OR_RETURN(given.buffer, memory.allocate(i, given, bytes));
    results[i] = std::move(given);
  }
  return okStatus();
}

Status Program::callBlocks(uint32_t index, std::span<const Value> inputs, std::vector<Value> &results,
                           const CallOptions &options) {
  const abi::fb::Function &function = view_.functionAt(index);
  if (options.stream) {
    TENON_ASSIGN_OR_RETURN(const bool isCaptured, isCapturing(device_->driver(), *options.stream));
    if (isCaptured)
      return makeError(StatusCode::FailedPrecondition, "function '", function.name()->string_view(), "' ",
                       kHostGoesAlong, ": it cannot be captured");
    TENON_RETURN_IF_ERROR(cuda::driverStatus(device_->driver(), device_->driver().cuStreamSynchronize(*options.stream),
                                             "cuStreamSynchronize"));
  }
  TENON_RETURN_IF_ERROR(checkInputs(index, inputs));
  std::unique_lock lock(globalsMutex_, std::defer_lock);
  if (usesGlobals(function)) {
    lock.lock();
    TENON_RETURN_IF_ERROR(readyGlobals(options));
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Value> returned, runBlocks(function, blockCalls_[index], inputs, options));

  // Memory of the caller's own, since others hold what a function passes through.
  auto isGivenUp = [&](const Buffer &buffer) { return isOfDonated(buffer, function, inputs); };
  auto isShared = [&](const Buffer &buffer) {
    auto isGlobal = [&](const std::optional<Value> &global) { return global && holds(*global, buffer); };
    if ((isAmong(buffer, inputs) && !isGivenUp(buffer)) ||
        (lock && std::any_of(globals_.begin(), globals_.end(), isGlobal)))
      return true;
    std::lock_guard constantsLock(plansMutex_);
    return std::any_of(constants_.begin(), constants_.end(),
                       [&](const std::shared_ptr<const Buffer> &constant) { return constant.get() == &buffer; });
  };
  // What the caller has an allocator for is copied there. Nothing is on the caller's stream now.
  Status given = options.resultMemory ? askForResults(returned, *options.resultMemory, isGivenUp, results) : okStatus();
  if (given.ok())
    given = giveResults(*device_, std::move(returned), inputs, isShared, results);
  Status finished = cuda::driverStatus(
      device_->driver(), device_->driver().cuStreamSynchronize(device_->stream().handle()), "cuStreamSynchronize");
  TENON_RETURN_IF_ERROR(std::move(given));
  return finished;
}

Result<std::vector<Value>> Program::runBlocks(const abi::fb::Function &function, std::vector<FunctionCalls> &calls,
                                              std::span<const Value> inputs, const CallOptions &options) {
  BlockCall call{.function = function, .calls = calls, .given = inputs};
  call.inputs.assign(inputs.begin(), inputs.end());
  const cuda::Driver &driver = device_->driver();
  Status status;
  for (uint64_t count = 1;; ++count) {
    status = runBlock(call, options);
    if (!status.ok() || !call.target)
      break;
    std::vector<Value> next;
    for (uint32_t i = 0; call.target->arguments() && i < call.target->arguments()->size(); ++i)
      next.push_back(call.inputs[call.target->arguments()->Get(i)]);
    call.inputs = std::move(next);
    call.block = call.target->block();
    if (count == options.mostBlocks) {
      status = makeError(StatusCode::DeadlineExceeded, "function '", function.name()->string_view(), "' has run ",
                         count, " blocks, the most that this call may run; block ", call.block, " would be next");
      break;
    }
  }
  // What was submitted before a failure still runs.
  Status finished =
      cuda::driverStatus(driver, driver.cuStreamSynchronize(device_->stream().handle()), "cuStreamSynchronize");
  TENON_RETURN_IF_ERROR(std::move(status));
  if (!finished.ok()) {
    finished = call.describeFault(std::move(finished));
    device_->rememberFault(finished);
    return finished;
  }
  if (options.expectations)
    *options.expectations = std::move(call.outcomes);
  else
    TENON_RETURN_IF_ERROR(statusOf(call.outcomes, function.name()->string_view()));
  call.inputs.resize(function.results() ? function.results()->size() : 0); // what is stored only is behind them
  return std::move(call.inputs);
}

Status Program::runBlock(BlockCall &call, const CallOptions &options) {
  const abi::fb::Function &block = call.source();
  for (uint32_t i = 0; block.loads() && i < block.loads()->size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Value loaded, loadGlobal(block.loads()->Get(i)));
    call.inputs.push_back(std::move(loaded));
  }
  // A file may hand on tensors that are none of what it declares.
  TENON_RETURN_IF_ERROR(runtime::checkInputs(block, call.inputs));

  // The scalars of this run; sizes and grids are those of the plan.
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> registers, runRegisterProgram(block, call.inputs));
  TENON_RETURN_IF_ERROR(evaluateChecks(block, registers, /*takesArguments=*/call.block == 0));
  std::shared_ptr<PlannedCall> planned;
  TENON_RETURN_IF_ERROR(planBlock(call.calls[call.block], block, call.inputs, planned));
  const CallPlan &plan = *planned->plan;

  std::vector<Value> results;
  TENON_RETURN_IF_ERROR(
      bindResults(*device_, plan, call.inputs, constants_, /*isOwnStream=*/true, /*memory=*/nullptr, results));
  std::shared_ptr<const Buffer> arena;
  if (plan.arenaBytes != 0) {
    TENON_ASSIGN_OR_RETURN(arena, allocateOnStream(*device_, plan.arenaBytes));
  }
  if (!plan.commands.empty()) {
    std::lock_guard lock(planned->mutex);
    if (planned->instances.empty()) {
      TENON_ASSIGN_OR_RETURN(std::unique_ptr<CallInstance> made,
                             CallInstance::create(device_, planned->plan, constants_, /*hasArena=*/false));
      planned->instances.push_back({~uint64_t(0), std::move(made)});
    }
    if (std::find(call.pending.begin(), call.pending.end(), planned) == call.pending.end() &&
        call.pending.size() < kMostPending)
      call.pending.push_back(planned);
    // A graph pays from the second time on: of many blocks there is none.
    TENON_RETURN_IF_ERROR(planned->instances.front().instance->issue(device_->stream().handle(), call.inputs, results,
                                                                     {.graph = options.graph && planned->isUsedAgain,
                                                                      .synchronous = options.synchronous,
                                                                      .observer = options.observer,
                                                                      .arena = arena.get(),
                                                                      .registers = registers}));
  }
  if (!plan.expectations.empty()) {
    TENON_ASSIGN_OR_RETURN(std::vector<ExpectationOutcome> found, evaluateExpectations(*device_, plan, results));
    std::move(found.begin(), found.end(), std::back_inserter(call.outcomes));
  }
  Status read = takeScalars(*device_, plan, registers, call.inputs, constants_, arena, results);
  if (read.code() == StatusCode::Aborted) {
    read = call.describeFault(std::move(read));
    device_->rememberFault(read);
  }
  TENON_RETURN_IF_ERROR(std::move(read));
  results.resize(plan.returned); // behind them are those that expectations compare
  for (uint32_t i = 0; block.stores() && i < block.stores()->size(); ++i) {
    const abi::fb::Store &store = *block.stores()->Get(i);
    TENON_RETURN_IF_ERROR(storeGlobal(store.global(), results[store.result()], call.given));
  }
  call.inputs = std::move(results);
  call.target = takenTarget(block, registers);
  return okStatus();
}

Status Program::planBlock(FunctionCalls &calls, const abi::fb::Function &block, std::span<const Value> inputs,
                          std::shared_ptr<PlannedCall> &planned) {
  const uint64_t hash = CallKey::hashOf(inputs, calls.ignored);
  std::lock_guard lock(plansMutex_);
  planned = knownPlan(calls, hash, inputs);
  return planned ? okStatus() : makePlan(calls, block, inputs, /*isCaptured=*/false, planned);
}

Status Program::planUnrolled(uint32_t index, std::span<const Value> inputs, bool onlyAgain, bool isCaptured,
                             std::shared_ptr<PlannedCall> &planned) {
  constexpr size_t kMostSeen = 64, kMostPlans = 32; // a plan may have hundreds of commands
  FunctionCalls &calls = calls_[index];
  if (!calls.isDecidedByHost)
    return okStatus();
  TENON_RETURN_IF_ERROR(checkInputs(index, inputs));
  const uint64_t hash = CallKey::hashOf(inputs);
  std::lock_guard lock(plansMutex_);
  if ((planned = knownPlan(calls, hash, inputs)))
    return okStatus();
  auto seen = std::find_if(calls.seen.begin(), calls.seen.end(), [&](const auto &each) { return each.hash == hash; });
  const bool isFirst = seen == calls.seen.end();
  if (isFirst) {
    if (calls.seen.size() >= kMostSeen)
      calls.seen.erase(calls.seen.begin());
    seen = calls.seen.insert(calls.seen.end(), {hash});
  }
  if (seen->isTooLong || (isFirst && onlyAgain))
    return okStatus();
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const CallPlan> made,
                         makeUnrolledPlan(view_.functionAt(index), inputs, {executables_, constantBytes_}));
  if (!made) {
    seen->isTooLong = true;
    return okStatus();
  }
  return keepPlan(calls, std::move(made), kMostPlans, isCaptured, planned);
}

// --- Globals --------------------------------------------------------------------------------------------------------

/// The values that they have before the first call that uses one.
Status Program::readyGlobals(const CallOptions &options) {
  if (areGlobalsReady_)
    return okStatus();
  const auto *sources = view_.raw().globals();
  for (uint32_t i = 0; i < globals_.size(); ++i) {
    const abi::fb::Global &source = *sources->Get(i);
    const auto element = static_cast<abi::ElementType>(source.type()->element());
    globals_[i].reset();
    if (source.type()->kind() == abi::fb::ValueKind::Scalar) {
      globals_[i] = Scalar{element, source.scalar()};
    } else if (source.constant() < constants_.size()) {
      std::lock_guard lock(plansMutex_);
      TENON_RETURN_IF_ERROR(uploadConstant(source.constant()));
      Tensor value{element, {}, constants_[source.constant()]};
      if (source.type()->shape())
        value.shape.assign(source.type()->shape()->begin(), source.type()->shape()->end());
      globals_[i] = std::move(value);
    }
  }
  if (const abi::fb::Function *initializer = view_.initializer())
    if (Result<std::vector<Value>> ran =
            runBlocks(*initializer, blockCalls_.back(), {},
                      {.synchronous = options.synchronous, .graph = options.graph, .mostBlocks = options.mostBlocks});
        !ran.ok())
      return ran.takeStatus().withContext("before the first call");
  areGlobalsReady_ = true;
  return okStatus();
}

/// What the caller gave may change behind the call, so a global has a copy of it.
Status Program::storeGlobal(uint32_t global, const Value &value, std::span<const Value> given) {
  const auto *tensor = std::get_if<Tensor>(&value);
  if (!tensor || !isAmong(*tensor->buffer, given)) {
    globals_[global] = value;
    return okStatus();
  }
  Tensor copy = *tensor;
  TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(copy.shape, copy.element));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> memory, allocateOnStream(*device_, bytes));
  if (bytes != 0)
    TENON_RETURN_IF_ERROR(copyOnStream(device_->driver(), device_->stream().handle(),
                                       {tensor->buffer->address(), bytes}, {memory->address(), bytes}));
  copy.buffer = std::move(memory);
  globals_[global] = std::move(copy);
  return okStatus();
}

Result<Value> Program::loadGlobal(uint32_t global) {
  if (globals_[global])
    return *globals_[global];
  return makeError(StatusCode::FailedPrecondition, "global '",
                   view_.raw().globals()->Get(global)->name()->string_view(),
                   "' is loaded before it was stored, and it has no initial value");
}

} // namespace tenon::runtime
