// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The road of a call, one sentence per step.
#include "runtime/program/program.h"
#include "runtime/program/plan/function_data.h"

#include "runtime/device/device.h"
#include "runtime/device/stream_capture.h"
#include "runtime/memory/allocator.h"
#include "runtime/program/block_call.h"
#include "runtime/program/call_instance.h"
#include "runtime/program/call_results.h"
#include "runtime/program/donated_inputs.h"
#include "runtime/program/plan/register_program.h"
#include "runtime/program/plan/unrolled_plan.h"
#include "runtime/program/planned_call.h"
#include "runtime/queue/submission_queue.h"

#include <algorithm>

namespace tenon::runtime {

namespace {

constexpr size_t kMostPlans = 256;    // of one function; the one not used for longest makes room
constexpr size_t kMostInstances = 16; // of one plan, one for each stream; likewise

/// The values behind the function's own results are the call's, not the caller's.
struct ShorterAtEnd {
  std::vector<Value> &values;
  size_t size;
  ~ShorterAtEnd() {
    if (values.size() > size)
      values.resize(size);
  }
};

/// New results of a call that fails go before it returns: while its thread may still do what a capture forbids.
struct DroppedAtFailure {
  std::vector<Value> &values;
  bool isNew;
  ~DroppedAtFailure() {
    if (isNew)
      values.clear();
  }
};

/// Registers of a call, in memory that the thread's next call has again: a call like an earlier one allocates nothing.
/// A callback of the caller's may call a program in the middle of a call, which then has others.
class KeptRegisters {
public:
  KeptRegisters() : values_(std::move(ofThread())) {}
  ~KeptRegisters() { ofThread() = std::move(values_); }
  KeptRegisters(const KeptRegisters &) = delete;
  KeptRegisters &operator=(const KeptRegisters &) = delete;
  std::vector<int64_t> &values() { return values_; }

private:
  static std::vector<int64_t> &ofThread() {
    thread_local std::vector<int64_t> values;
    return values;
  }
  std::vector<int64_t> values_;
};

} // namespace

Program::Program(std::shared_ptr<Device> device, abi::ProgramView view)
    : device_(std::move(device)), view_(std::move(view)), arenas_(*device_), calls_(view_.functionCount()) {
  globals_.resize(view_.raw().globals() ? view_.raw().globals()->size() : 0);
}

void Program::readFunctions() {
  for (size_t i = 0; i <= calls_.size(); ++i) {
    const abi::fb::Function *function = i < calls_.size() ? &view_.functionAt(i) : view_.initializer();
    std::vector<FunctionCalls> &blocks = blockCalls_.emplace_back();
    if (function && hasBlocks(*function))
      for (const abi::fb::Function *block : *function->blocks()) {
        blocks.emplace_back().isBlock = true;
        blocks.back().ignore(*block);
      }
    if (function && i < calls_.size()) {
      calls_[i].isDecidedByHost = isDecidedByHost(*function);
      if (blocks.empty())
        calls_[i].ignore(*function);
    }
  }
}

Program::~Program() = default;

void Program::FunctionCalls::ignore(const abi::fb::Function &function) {
  ignored = planIndependentScalars(function);
  ignoresAny = false;
  for (size_t i = 0; i < ignored.size(); ++i)
    ignoresAny |= ignored[i] && function.inputs()->Get(static_cast<uint32_t>(i))->kind() == abi::fb::ValueKind::Scalar;
  if (!ignoresAny)
    ignored.clear();
}

Status Program::checkFunction(uint32_t function) const {
  if (function >= view_.functionCount())
    return makeError(StatusCode::OutOfRange, "no function ", function, ": the program has ", view_.functionCount());
  return okStatus();
}

/// The host compares when the call ends: it must end before it returns.
static Status refuseExpectations(const abi::fb::Function &function) {
  if (!function.expectations() || function.expectations()->size() == 0)
    return okStatus();
  return makeError(StatusCode::FailedPrecondition, "function '", function.name()->string_view(), "' has ",
                   function.expectations()->size(),
                   " expectations (check.*), which the host compares once it has ended: "
                   "call it without a stream or a queue");
}

/// The inputs of a call that leaves donated ones as they are.
struct Program::KeptInputs {
  std::vector<Value> inputs;
  std::vector<std::shared_ptr<const Buffer>> copies;

  /// A copy that is no result is used until the work is done.
  bool isAnyUnreturned(std::span<const Value> results) const {
    return std::any_of(copies.begin(), copies.end(), [&](const std::shared_ptr<const Buffer> &copy) {
      return std::none_of(results.begin(), results.end(), [&](const Value &result) {
        const auto *tensor = std::get_if<Tensor>(&result);
        return tensor && tensor->buffer == copy;
      });
    });
  }
};

Status Program::callInto(uint32_t function, std::span<const Value> inputs, std::vector<Value> &results,
                         const CallOptions &options) {
  TENON_RETURN_IF_ERROR(checkFunction(function));
  const abi::fb::Function &source = view_.functionAt(function);
  HostSpan span(device_->trace(), "call", "call", source.name()->string_view());
  cuda::ContextScope scope = device_->enter();
  TENON_RETURN_IF_ERROR(scope.status());
  const cuda::Driver &driver = device_->driver();
  const CUstream stream = options.stream.value_or(device_->stream().handle());
  bool isCaptured = false;
  if (options.stream) {
    TENON_ASSIGN_OR_RETURN(isCaptured, isCapturing(driver, stream));
  }
  RelaxedCapture relaxed(driver, isCaptured);
  TENON_RETURN_IF_ERROR(relaxed.takeStatus());
  if (sizeOf(source.donated()) == 0)
    return callWith(function, inputs, results, options, stream, isCaptured);

  // What the call writes of its inputs is its own: given up, or a copy.
  TENON_RETURN_IF_ERROR(runtime::checkInputs(source, inputs));
  if (!options.keepsInputs) {
    TENON_RETURN_IF_ERROR(checkDonated(source, inputs));
    return callWith(function, inputs, results, options, stream, isCaptured);
  }
  KeptInputs kept{{inputs.begin(), inputs.end()}, {}};
  TENON_ASSIGN_OR_RETURN(kept.copies, copyDonated(*device_, source, stream, !options.stream, kept.inputs));
  TENON_RETURN_IF_ERROR(checkDonated(source, kept.inputs));
  Status status = callWith(function, kept.inputs, results, options, stream, isCaptured);
  if (isCaptured) {
    std::lock_guard lock(plansMutex_);
    capturedCopies_.insert(capturedCopies_.end(), kept.copies.begin(), kept.copies.end());
  } else if (options.stream && (!status.ok() || kept.isAnyUnreturned(results))) {
    Status finished = cuda::driverStatus(driver, driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (status.ok())
      status = std::move(finished);
  }
  return status;
}

Status Program::callWith(uint32_t function, std::span<const Value> inputs, std::vector<Value> &results,
                         const CallOptions &options, CUstream stream, bool isCaptured) {
  const abi::fb::Function &source = view_.functionAt(function);
  const cuda::Driver &driver = device_->driver();
  std::shared_ptr<PlannedCall> planned;
  if (!blockCalls_[function].empty()) {
    if (options.mostBlocks == 0)
      TENON_RETURN_IF_ERROR(planUnrolled(function, inputs, /*onlyAgain=*/!options.stream, isCaptured, planned));
    if (!planned)
      return callBlocks(function, inputs, results, options);
  }
  if (options.stream)
    TENON_RETURN_IF_ERROR(refuseExpectations(source));

  // What the caller gave is what the function declares: counts, element types, ranks, static extents.
  TENON_RETURN_IF_ERROR(runtime::checkInputs(source, inputs));

  // Shapes, sizes, grids, kernels, checks of the function: of the first call like this one.
  if (!planned)
    TENON_RETURN_IF_ERROR(plan(function, inputs, isCaptured, planned));

  // Scalars of this one.
  KeptRegisters kept;
  std::vector<int64_t> &registers = kept.values();
  TENON_RETURN_IF_ERROR(callRegisters(function, inputs, registers));

  // Memory of the results, and of what the host will compare.
  const ShorterAtEnd trimmed{results, planned->plan->returned};
  DroppedAtFailure dropped{results, isCaptured && results.empty()};
  TENON_RETURN_IF_ERROR(
      bindResults(*device_, *planned->plan, inputs, constants_, !options.stream, options.resultMemory, results));
  if (!registers.empty())
    setScalars(*planned->plan, registers, results);
  std::vector<ResultCopy> copies;
  if (options.resultMemory && options.resultMemory->isForAll()) {
    TENON_ASSIGN_OR_RETURN(copies, askForCopies(*device_, *planned->plan, inputs, results, *options.resultMemory));
  }

  // Dispatches, copies and fills. What was submitted before a failure still runs, so it is waited for in any case.
  Status submitted = issue(*planned, stream, isCaptured, inputs, results, registers, options);
  if (submitted.ok())
    submitted = copyResults(*device_, stream, copies, results);
  dropped.isNew &= !submitted.ok();
  if (options.stream)
    return submitted;
  Status finished = cuda::driverStatus(driver, driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
  TENON_RETURN_IF_ERROR(std::move(submitted));
  finished = planned->plan->describeFault(std::move(finished));
  device_->rememberFault(finished);
  TENON_RETURN_IF_ERROR(std::move(finished));

  // What check.* said of its values.
  return planned->plan->expectations.empty() ? okStatus()
                                             : compareExpectations(*planned->plan, results, options.expectations);
}

Status Program::compareExpectations(const CallPlan &plan, std::span<const Value> results,
                                    std::vector<ExpectationOutcome> *outcomes) {
  TENON_ASSIGN_OR_RETURN(std::vector<ExpectationOutcome> found, evaluateExpectations(*device_, plan, results));
  if (!outcomes)
    return statusOf(found, plan.function->name()->string_view());
  *outcomes = std::move(found);
  return okStatus();
}

Result<std::vector<Value>> Program::call(uint32_t function, std::span<const Value> inputs, const CallOptions &options) {
  std::vector<Value> results;
  TENON_RETURN_IF_ERROR(callInto(function, inputs, results, options));
  return results;
}

Status Program::submit(SubmissionQueue &queue, SemaphorePoints waits, uint32_t function, std::span<const Value> inputs,
                       std::vector<Value> &results, SemaphorePoints signals) {
  TENON_RETURN_IF_ERROR(checkFunction(function));
  if (&queue.device() != device_.get())
    return makeError(StatusCode::FailedPrecondition, "submit: the queue is of another device, ",
                     queue.device().description());
  TENON_RETURN_IF_ERROR(refuseExpectations(view_.functionAt(function)));
  std::shared_ptr<PlannedCall> planned;
  if (!blockCalls_[function].empty()) {
    cuda::ContextScope scope = device_->enter();
    TENON_RETURN_IF_ERROR(scope.status());
    TENON_RETURN_IF_ERROR(planUnrolled(function, inputs, /*onlyAgain=*/false, /*isCaptured=*/false, planned));
    if (!planned)
      return makeError(StatusCode::FailedPrecondition, "function '", view_.functionAt(function).name()->string_view(),
                       "' ", kHostGoesAlong, ": call it without a queue");
  }
  HostSpan span(device_->trace(), "submission", "submit", view_.functionAt(function).name()->string_view());
  TENON_RETURN_IF_ERROR(checkInputs(function, inputs));
  TENON_RETURN_IF_ERROR(checkDonated(view_.functionAt(function), inputs));
  if (!planned)
    TENON_RETURN_IF_ERROR(plan(function, inputs, /*isCaptured=*/false, planned));
  std::vector<int64_t> registers;
  TENON_RETURN_IF_ERROR(callRegisters(function, inputs, registers));
  TENON_RETURN_IF_ERROR(
      bindResults(*device_, *planned->plan, inputs, constants_, /*isOwnStream=*/false, /*memory=*/nullptr, results));
  if (!registers.empty())
    setScalars(*planned->plan, registers, results);
  // What the work needs is its own: the caller's lists may change before it is issued.
  auto work = [this, planned, inputs = std::vector<Value>(inputs.begin(), inputs.end()), results,
               registers = std::move(registers)](CUstream stream) {
    return issue(*planned, stream, /*isCaptured=*/false, inputs, results, registers, {.stream = stream});
  };
  return queue.streamWork(waits, std::move(work),
                          concat("a call of '", view_.functionAt(function).name()->string_view(), "'"), signals);
}

Status Program::checkInputs(uint32_t function, std::span<const Value> inputs) {
  TENON_RETURN_IF_ERROR(checkFunction(function));
  return runtime::checkInputs(view_.functionAt(function), inputs);
}

Status Program::plan(uint32_t function, std::span<const Value> inputs, bool isCaptured,
                     std::shared_ptr<PlannedCall> &planned) {
  FunctionCalls &calls = calls_[function];
  const uint64_t hash = CallKey::hashOf(inputs, calls.ignored);
  std::lock_guard lock(plansMutex_); // also while a plan is made: threads that want the same one wait for it
  planned = knownPlan(calls, hash, inputs);
  return planned ? okStatus() : makePlan(calls, view_.functionAt(function), inputs, isCaptured, planned);
}

std::shared_ptr<PlannedCall> Program::knownPlan(const FunctionCalls &calls, uint64_t hash,
                                                std::span<const Value> inputs) {
  for (const std::shared_ptr<PlannedCall> &known : calls.plans)
    if (known->plan->key.hash() == hash && known->plan->key.matches(inputs, calls.ignored)) {
      known->lastUse = ++clock_;
      known->isUsedAgain = true;
      return known;
    }
  return nullptr;
}

Status Program::callRegisters(uint32_t function, std::span<const Value> inputs, std::vector<int64_t> &registers) const {
  registers.clear();
  if (!calls_[function].ignoresAny)
    return okStatus();
  const abi::fb::Function &source = view_.functionAt(function);
  TENON_RETURN_IF_ERROR(runRegisterProgram(source, inputs, registers));
  return evaluateChecks(source, registers);
}

Status Program::makePlan(FunctionCalls &calls, const abi::fb::Function &function, std::span<const Value> inputs,
                         bool isCaptured, std::shared_ptr<PlannedCall> &planned) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const CallPlan> made,
                         makeCallPlan(function, inputs, {executables_, constantBytes_}, calls.ignored,
                                      calls.isBlock ? ResultTaker::NextBlock : ResultTaker::Caller));
  return keepPlan(calls, std::move(made), kMostPlans, isCaptured, planned);
}

Status Program::keepPlan(FunctionCalls &calls, std::shared_ptr<const CallPlan> made, size_t most, bool isCaptured,
                         std::shared_ptr<PlannedCall> &planned) {
  auto &plans = calls.plans;
  TENON_RETURN_IF_ERROR(uploadConstants(*made));
  // A captured call makes no room; later ones do.
  while (plans.size() >= most && !isCaptured)
    plans.erase(std::min_element(plans.begin(), plans.end(),
                                 [](const auto &a, const auto &b) { return a->lastUse < b->lastUse; }));
  plans.push_back(std::make_shared<PlannedCall>(std::move(made)));
  plans.back()->lastUse = ++clock_;
  planned = plans.back();
  return okStatus();
}

Status Program::issue(PlannedCall &planned, CUstream stream, bool isCaptured, std::span<const Value> inputs,
                      std::span<const Value> results, std::span<const int64_t> registers, const CallOptions &options) {
  std::lock_guard lock(planned.mutex);
  CallInstance::Options how = {.graph = options.graph,
                               .synchronous = options.synchronous,
                               .observer = options.stream ? nullptr : options.observer,
                               .registers = registers};
  if (isCaptured) {
    // The caller's graph may run at any time: it has an arena of its own, and launches instead of a graph in a graph.
    how = {.graph = false, .synchronous = false, .isTraced = false, .registers = registers};
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<CallInstance> instance,
                           CallInstance::create(device_, planned.plan, constants_, /*hasArena=*/true));
    Status status = instance->issue(stream, inputs, results, how);
    // Whatever of it was captured is in the caller's graph, also where something failed.
    std::lock_guard keeping(plansMutex_);
    captured_.push_back(std::move(instance));
    return status;
  }
  const uint64_t id = options.stream ? streamId(device_->driver(), stream) : ~uint64_t(0);
  auto &instances = planned.instances;
  auto found = std::find_if(instances.begin(), instances.end(), [&](const auto &known) { return known.stream == id; });
  if (found == instances.end()) {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<CallInstance> instance,
                           CallInstance::create(device_, planned.plan, constants_, /*hasArena=*/false));
    if (instances.size() >= kMostInstances)
      instances.pop_back();
    found = instances.insert(instances.end(), {id, std::move(instance)});
  }
  std::rotate(instances.begin(), found, found + 1);
  StreamArenas::Use arena;
  if (planned.plan->arenaBytes != 0) {
    TENON_ASSIGN_OR_RETURN(arena, arenas_.take(stream, id, planned.plan->arenaBytes));
    how.arena = arena.memory;
  }
  return instances.front().instance->issue(stream, inputs, results, how);
}

Result<uint32_t> Program::findFunction(std::string_view name) const {
  if (!name.empty())
    return view_.findFunction(name.front() == '@' ? name.substr(1) : name);
  if (view_.functionCount() == 1)
    return 0u;
  std::string names;
  for (size_t i = 0; i < view_.functionCount(); ++i)
    names += concat(i ? ", '" : "'", view_.functionAt(i).name()->string_view(), "'");
  if (names.empty())
    return makeError(StatusCode::NotFound, "the program has no functions");
  return makeError(StatusCode::InvalidArgument, "name one of the program's functions: ", names);
}

} // namespace tenon::runtime
