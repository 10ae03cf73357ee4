// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuner/race.h"

#include "runtime/tools/timed_call.h"
#include "support/random.h"
#include "tuner/agreement.h"

#include <algorithm>

namespace tenon::tuner {
namespace {

using runtime::HostTensor, runtime::HostValue, runtime::Program, runtime::TimedCall, runtime::Value;

constexpr uint32_t kFunction = 0;
// A batch is so long that the events around it are no part of its time.
constexpr double kBatchSeconds = 2e-3;
constexpr uint64_t kMostCalls = 100;

/// A program on the device, ready to be called.
struct Entrant {
  Racer *racer;
  std::unique_ptr<Program> program;
  std::unique_ptr<TimedCall> timed;
  std::vector<double> seconds = {};
};

bool hasUnknownSizes(const abi::fb::Function &function) {
  for (const abi::fb::ValueType *type : *function.inputs())
    if (type->shape())
      for (int64_t extent : *type->shape())
        if (extent < 0)
          return true;
  return false;
}

Result<std::vector<Value>> upload(runtime::Device &device, const std::vector<HostValue> &values) {
  std::vector<Value> uploaded;
  for (const HostValue &value : values) {
    if (const auto *scalar = std::get_if<runtime::Scalar>(&value)) {
      uploaded.emplace_back(*scalar);
      continue;
    }
    TENON_ASSIGN_OR_RETURN(runtime::Tensor tensor, runtime::uploadTensor(device, std::get<HostTensor>(value)));
    uploaded.emplace_back(std::move(tensor));
  }
  return uploaded;
}

/// The results of a call into memory that was poisoned before.
Result<std::vector<HostTensor>> resultsOf(Program &program, const std::vector<Value> &inputs) {
  TENON_ASSIGN_OR_RETURN(std::vector<Value> results, program.call(kFunction, inputs));
  for (Value &result : results)
    if (auto *tensor = std::get_if<runtime::Tensor>(&result)) {
      TENON_ASSIGN_OR_RETURN(*tensor, runtime::uploadTensor(program.device(), poisoned(*tensor)));
    }
  TENON_RETURN_IF_ERROR(program.callInto(kFunction, inputs, results));
  std::vector<HostTensor> found;
  for (const Value &result : results)
    if (const auto *tensor = std::get_if<runtime::Tensor>(&result)) {
      TENON_ASSIGN_OR_RETURN(HostTensor host, runtime::downloadTensor(program.device(), *tensor));
      found.push_back(std::move(host));
    }
  return found;
}

class Race {
public:
  Race(const std::shared_ptr<runtime::Device> &device, const RaceOptions &options)
      : device_(device), options_(options) {}

  Result<uint64_t> run(std::vector<Racer> &racers) {
    for (Racer &racer : racers) {
      if (!racer.problem.empty())
        continue;
      Status entered = enter(racer);
      if (entered.ok())
        continue;
      if (&racer == racers.data())
        return entered;
      racer.problem = entered.message();
    }
    if (entrants_.empty())
      return makeError(StatusCode::FailedPrecondition, "there is nothing to race");
    TENON_ASSIGN_OR_RETURN(const double once, entrants_.front().timed->deviceSeconds(1));
    uint64_t calls = once <= 0 ? kMostCalls : std::clamp<uint64_t>(uint64_t(kBatchSeconds / once), 1, kMostCalls);
    if (device_->isEmulator())
      calls = 1; // no time of its is worth another
    SplitMix64 random(1);
    for (uint32_t round = 0; round < options_.rounds; ++round)
      TENON_RETURN_IF_ERROR(runRound(calls, random));
    for (Entrant &entrant : entrants_) {
      if (!entrant.racer->problem.empty())
        continue;
      auto middle = entrant.seconds.begin() + ptrdiff_t(entrant.seconds.size() / 2);
      std::nth_element(entrant.seconds.begin(), middle, entrant.seconds.end());
      entrant.racer->nanoseconds = *middle * 1e9;
    }
    return calls;
  }

private:
  Status enter(Racer &racer) {
    Entrant entrant{&racer, {}, {}};
    TENON_ASSIGN_OR_RETURN(entrant.program, Program::load(device_, racer.program, "contraction", options_.images));
    const bool isFirst = entrants_.empty();
    if (isFirst) {
      if (options_.size == 0 && hasUnknownSizes(entrant.program->function(kFunction)))
        return makeError(StatusCode::InvalidArgument, "it has sizes that are known only when the program runs: pass "
                                                      "--size=N, which stands for each of them");
      TENON_ASSIGN_OR_RETURN(inputs_,
                             upload(*device_, makeInputs(entrant.program->function(kFunction), options_.size)));
    }
    TENON_ASSIGN_OR_RETURN(std::vector<HostTensor> results, resultsOf(*entrant.program, inputs_));
    if (isFirst)
      expected_ = std::move(results);
    else
      for (size_t i = 0; i < expected_.size(); ++i)
        if (const std::string difference = disagreement(expected_[i], results[i]); !difference.empty()) {
          racer.isWrong = true;
          return makeError(StatusCode::DataLoss, "result ", i, ": ", difference);
        }
    TENON_ASSIGN_OR_RETURN(entrant.timed, TimedCall::create(*entrant.program, kFunction, inputs_));
    entrants_.push_back(std::move(entrant));
    return okStatus();
  }

  Status runRound(uint64_t calls, SplitMix64 &random) {
    std::vector<Entrant *> order;
    for (Entrant &entrant : entrants_)
      order.push_back(&entrant);
    for (size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[random.next() % left]);
    for (Entrant *entrant : order) {
      TENON_RETURN_IF_ERROR(entrant->timed->deviceSeconds(1).takeStatus()); // what another one left in caches
      TENON_ASSIGN_OR_RETURN(const double seconds, entrant->timed->deviceSeconds(calls));
      entrant->seconds.push_back(seconds / double(calls));
    }
    return okStatus();
  }

  const std::shared_ptr<runtime::Device> device_;
  const RaceOptions &options_;
  std::vector<Value> inputs_;
  std::vector<HostTensor> expected_;
  std::vector<Entrant> entrants_;
};

} // namespace

Result<uint64_t> race(const std::shared_ptr<runtime::Device> &device, std::vector<Racer> &racers,
                      const RaceOptions &options) {
  return Race(device, options).run(racers);
}

} // namespace tenon::tuner
