// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/plan/unrolled_plan.h"

#include "runtime/program/plan/function_data.h"
#include "runtime/program/plan/register_program.h"

#include <algorithm>
#include <limits>

namespace tenon::runtime {

namespace {

constexpr uint32_t kNoBuffer = std::numeric_limits<uint32_t>::max();

/// What one block hands to the next: values without memory, and for each tensor the plan's buffer.
struct Handed {
  std::vector<Value> values;
  std::vector<uint32_t> buffers; // kNoBuffer: a scalar
};

class Unroller {
public:
  Unroller(const abi::fb::Function &function, std::span<const Value> inputs, const PlanSources &sources,
           const UnrollLimits &limits)
      : function_(function), inputs_(inputs), sources_(sources), limits_(limits), known_(function.blocks()->size()),
        plan_(new CallPlan{.key = CallKey(inputs), .function = &function}) {}

  Result<std::shared_ptr<const CallPlan>> make();

private:
  Status takeInputs(Handed &handed);
  Status runBlock(uint32_t block, Handed &handed, const abi::fb::Target *&target);
  Result<std::shared_ptr<const CallPlan>> planOf(const abi::fb::Function &block, uint32_t index,
                                                 std::span<const Value> values);
  std::vector<uint32_t> takeBuffers(const CallPlan &block, const Handed &handed);
  void takeCommands(const CallPlan &block, std::span<const int64_t> registers, std::span<const uint32_t> buffers);
  void giveResults(const Handed &handed);
  bool isDonated(uint32_t input) const {
    const auto *donated = function_.donated();
    return donated && std::binary_search(donated->begin(), donated->end(), input);
  }

  const abi::fb::Function &function_;
  const std::span<const Value> inputs_;
  const PlanSources &sources_;
  const UnrollLimits limits_;
  std::vector<std::vector<std::shared_ptr<const CallPlan>>> known_; // [blocks] of rounds like this one
  std::vector<uint32_t> constants_; // [constants] the buffer of each; kNoBuffer: none yet
  std::unique_ptr<CallPlan> plan_;
};

Result<std::shared_ptr<const CallPlan>> Unroller::make() {
  constants_.assign(sources_.constants.size(), kNoBuffer);
  Handed handed;
  TENON_RETURN_IF_ERROR(takeInputs(handed));
  const abi::fb::Target *target = nullptr;
  uint32_t block = 0;
  for (size_t count = 1;; ++count) {
    TENON_RETURN_IF_ERROR(runBlock(block, handed, target));
    if (!target)
      break;
    if (count == limits_.blocks || plan_->commands.size() > limits_.commands)
      return std::shared_ptr<const CallPlan>();
    block = target->block();
    Handed next;
    for (uint32_t i = 0; i < sizeOf(target->arguments()); ++i) {
      next.values.push_back(handed.values[target->arguments()->Get(i)]);
      next.buffers.push_back(handed.buffers[target->arguments()->Get(i)]);
    }
    handed = std::move(next);
  }
  giveResults(handed);
  if (plan_->commands.size() > limits_.commands)
    return std::shared_ptr<const CallPlan>();
  TENON_RETURN_IF_ERROR(packTransients(*plan_));
  orderCommands(*plan_);
  return std::shared_ptr<const CallPlan>(std::move(plan_));
}

/// A tensor that is handed on has no memory yet, so that its buffer says nothing of its size.
Status Unroller::takeInputs(Handed &handed) {
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    const Tensor *tensor = std::get_if<Tensor>(&inputs_[i]);
    handed.buffers.push_back(tensor ? static_cast<uint32_t>(plan_->buffers.size()) : kNoBuffer);
    if (!tensor) {
      handed.values.push_back(inputs_[i]);
      continue;
    }
    handed.values.push_back(Tensor{tensor->element, tensor->shape, nullptr});
    TENON_ASSIGN_OR_RETURN(const uint64_t bytes, denseBytes(tensor->shape, tensor->element));
    plan_->buffers.push_back({.place = CallPlan::Place::Input, .index = i, .bytes = bytes});
  }
  return okStatus();
}

Status Unroller::runBlock(uint32_t index, Handed &handed, const abi::fb::Target *&target) {
  const abi::fb::Function &block = *function_.blocks()->Get(index);
  // A file may hand on tensors that are none of what it declares.
  TENON_RETURN_IF_ERROR(checkInputTypes(block, handed.values));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> registers, runRegisterProgram(block, handed.values));
  TENON_RETURN_IF_ERROR(evaluateChecks(block, registers, /*takesArguments=*/index == 0));
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const CallPlan> plan, planOf(block, index, handed.values));
  const std::vector<uint32_t> buffers = takeBuffers(*plan, handed);
  takeCommands(*plan, registers, buffers);

  Handed results;
  for (uint32_t i = 0; i < plan->returned; ++i) {
    const CallPlan::Result &result = plan->results[i];
    results.buffers.push_back(result.isScalar ? kNoBuffer : buffers[result.buffer]);
    results.values.push_back(result.isScalar
                                 ? Value(Scalar{result.element, registers[block.results()->Get(i)->scalar()]})
                                 : Value(Tensor{result.element, result.shape, nullptr}));
  }
  handed = std::move(results);
  target = takenTarget(block, registers);
  return okStatus();
}

/// Rounds of a loop mostly differ in nothing but the constants of their dispatches.
Result<std::shared_ptr<const CallPlan>> Unroller::planOf(const abi::fb::Function &block, uint32_t index,
                                                         std::span<const Value> values) {
  const CallKey::IgnoredScalars ignored = planIndependentScalars(block);
  for (const std::shared_ptr<const CallPlan> &plan : known_[index])
    if (plan->key.matches(values, ignored))
      return plan;
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const CallPlan> made,
                         makeCallPlan(block, values, sources_, ignored, ResultTaker::NextBlock));
  known_[index].push_back(made);
  return made;
}

/// @return [buffers of the block] those of the plan
std::vector<uint32_t> Unroller::takeBuffers(const CallPlan &block, const Handed &handed) {
  std::vector<uint32_t> buffers;
  for (const CallPlan::Buffer &buffer : block.buffers) {
    const auto next = static_cast<uint32_t>(plan_->buffers.size());
    switch (buffer.place) {
    case CallPlan::Place::Input:
      buffers.push_back(handed.buffers[buffer.index]);
      continue;
    case CallPlan::Place::Constant:
      if (uint32_t &known = constants_[buffer.index]; known != kNoBuffer) {
        buffers.push_back(known);
        continue;
      } else {
        known = next;
      }
      plan_->buffers.push_back(buffer);
      break;
    case CallPlan::Place::Arena:
    case CallPlan::Place::Result: // of the block; of the function, if it is still there at the end
      plan_->buffers.push_back({.place = CallPlan::Place::Arena, .bytes = buffer.bytes});
      break;
    }
    buffers.push_back(next);
  }
  return buffers;
}

void Unroller::takeCommands(const CallPlan &block, std::span<const int64_t> registers,
                            std::span<const uint32_t> buffers) {
  for (PlannedCommand command : block.commands) {
    for (PlannedRange &range : command.ranges)
      range.buffer = buffers[range.buffer];
    takeConstants(command, registers, command.constants);
    plan_->launches += command.kind == PlannedCommand::Kind::Dispatch;
    plan_->commands.push_back(std::move(command));
  }
}

/// The results of a function with blocks are memory of their own: what lies elsewhere is copied at the end.
void Unroller::giveResults(const Handed &handed) {
  plan_->returned = sizeOf(function_.results());
  for (uint32_t i = 0; i < plan_->returned; ++i) {
    CallPlan::Result result;
    if (const auto *scalar = std::get_if<Scalar>(&handed.values[i])) {
      result.isScalar = true;
      result.scalar = *scalar;
      result.element = scalar->element;
      plan_->results.push_back(std::move(result));
      continue;
    }
    const Tensor &tensor = *std::get_if<Tensor>(&handed.values[i]);
    result.element = tensor.element;
    result.shape = tensor.shape;
    result.bytes = *denseBytes(tensor.shape, tensor.element);
    result.buffer = handed.buffers[i];
    // A donated input comes back as what it is, once.
    const bool isTwice = std::any_of(plan_->results.begin(), plan_->results.end(), [&](const CallPlan::Result &other) {
      return !other.isScalar && other.buffer == result.buffer;
    });
    if (const CallPlan::Buffer &buffer = plan_->buffers[result.buffer];
        !isTwice && buffer.place == CallPlan::Place::Input && isDonated(buffer.index)) {
      plan_->results.push_back(std::move(result));
      continue;
    }
    if (plan_->buffers[result.buffer].place != CallPlan::Place::Arena) {
      const uint32_t from = result.buffer;
      result.buffer = static_cast<uint32_t>(plan_->buffers.size());
      plan_->buffers.push_back({.place = CallPlan::Place::Arena, .bytes = result.bytes});
      if (result.bytes != 0)
        plan_->commands.push_back({.kind = PlannedCommand::Kind::Copy,
                                   .ranges = {{from, 0, result.bytes}, {result.buffer, 0, result.bytes}}});
    }
    CallPlan::Buffer &buffer = plan_->buffers[result.buffer];
    buffer.place = CallPlan::Place::Result;
    buffer.index = static_cast<uint32_t>(plan_->resultBuffers.size());
    plan_->resultBuffers.push_back(result.buffer);
    plan_->results.push_back(std::move(result));
  }
}

} // namespace

bool isDecidedByHost(const abi::fb::Function &function) {
  for (uint32_t i = 0; i < sizeOf(function.blocks()); ++i) {
    const abi::fb::Function &block = *function.blocks()->Get(i);
    if (sizeOf(block.loads()) || sizeOf(block.stores()) || sizeOf(block.expectations()))
      return false;
    for (uint32_t k = 0; k < sizeOf(block.results()); ++k)
      if (block.results()->Get(k)->element() != kNoRegister)
        return false;
  }
  return hasBlocks(function) && sizeOf(function.expectations()) == 0;
}

Result<std::shared_ptr<const CallPlan>> makeUnrolledPlan(const abi::fb::Function &function,
                                                         std::span<const Value> inputs, const PlanSources &sources,
                                                         const UnrollLimits &limits) {
  return Unroller(function, inputs, sources, limits).make();
}

} // namespace tenon::runtime
