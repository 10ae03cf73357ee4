// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/shrink.h"

namespace tenon::sequences {
namespace {

using Steps = std::vector<Step>;

/// Everything that reads the register reads `instead`.
void replaceReads(Steps &steps, uint32_t reg, const Source &instead) {
  auto replace = [&](Source &source) {
    if (source.isConstant() || source.reg != reg)
      return;
    const std::string type = source.type;
    source = instead;
    source.type = type;
  };
  forEachStep(steps, [&](Step &step) {
    for (Source &source : step.sources)
      replace(source);
    for (Source *source : {&step.guard, &step.otherwise, &step.count, &step.carried})
      if (!source->type.empty())
        replace(*source);
  });
}

class Shrinker {
public:
  Shrinker(Sequence sequence, const std::function<bool(const Sequence &)> &isInteresting, unsigned tries)
      : best_(std::move(sequence)), isInteresting_(isInteresting), tries_(tries) {}

  Sequence run() {
    for (size_t k = 0; k < best_.stores.size(); ++k) { // one store
      Sequence candidate = best_;
      candidate.stores = {best_.stores[k]};
      if (take(std::move(candidate)))
        break;
    }
    for (bool changed = true; changed && tries_;) {
      changed = withoutSteps([](Sequence &sequence) -> Steps & { return sequence.steps; });
      for (size_t outer = 0; outer < best_.steps.size(); ++outer) {
        changed |= withoutSteps([outer](Sequence &sequence) -> Steps & { return sequence.steps[outer].body; });
        changed |= withoutSteps([outer](Sequence &sequence) -> Steps & { return sequence.steps[outer].other; });
        changed |= simpler(outer);
      }
    }
    return std::move(best_);
  }

private:
  bool take(Sequence candidate) {
    if (!tries_)
      return false;
    --tries_;
    if (!isInteresting_(candidate))
      return false;
    best_ = std::move(candidate);
    return true;
  }

  bool isStored(uint32_t reg) const {
    for (const Store &store : best_.stores)
      if (store.reg == reg)
        return true;
    return false;
  }

  /// An input as wide as the register, or the constant 0.
  Source standIn(uint32_t reg) const {
    Source source;
    source.type = best_.registers[reg].type;
    source.kind = Source::Kind::Moved;
    for (uint32_t k = 0; k < best_.inputs.size(); ++k)
      if (bitsOf(best_.inputs[k]) == bitsOf(source.type)) {
        source.kind = Source::Kind::Register;
        source.reg = k;
      }
    return source;
  }

  template <typename Where> bool withoutSteps(const Where &where) {
    bool changed = false;
    for (size_t k = where(best_).size(); k-- > 0;) {
      const Step step = where(best_)[k];
      const Steps removed = {step};
      bool isKept = false;
      forEachStep(removed, [&](const Step &inner) {
        for (uint32_t result : inner.results)
          isKept |= isStored(result);
      });
      if (isKept)
        continue;
      Sequence candidate = best_;
      where(candidate).erase(where(candidate).begin() + static_cast<std::ptrdiff_t>(k));
      forEachStep(removed, [&](const Step &inner) {
        for (uint32_t result : inner.results)
          replaceReads(candidate.steps, result, standIn(result));
      });
      changed |= take(std::move(candidate));
    }
    return changed;
  }

  /// Without a guard; a loop or branch as what is inside of it.
  bool simpler(size_t at) {
    const Step step = best_.steps[at];
    if (step.kind == Step::Kind::Plain)
      return false;
    Sequence candidate = best_;
    if (step.kind == Step::Kind::Guarded) {
      candidate.steps[at].kind = Step::Kind::Plain;
      return take(std::move(candidate));
    }
    if (isStored(step.results[0]) || step.carried.isConstant())
      return false;
    Steps inner = step.body;
    inner.insert(inner.end(), step.other.begin(), step.other.end());
    candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(at));
    candidate.steps.insert(candidate.steps.begin() + static_cast<std::ptrdiff_t>(at), inner.begin(), inner.end());
    if (step.carried.reg == step.results[0])
      return false;
    Steps before(candidate.steps.begin(), candidate.steps.begin() + static_cast<std::ptrdiff_t>(at + inner.size()));
    replaceReads(before, step.results[0], step.otherwise); // the first round
    std::copy(before.begin(), before.end(), candidate.steps.begin());
    replaceReads(candidate.steps, step.results[0], step.carried);
    return take(std::move(candidate));
  }

  Sequence best_;
  const std::function<bool(const Sequence &)> &isInteresting_;
  unsigned tries_;
};

} // namespace

Sequence shrink(Sequence sequence, const std::function<bool(const Sequence &)> &isInteresting, unsigned tries) {
  return Shrinker(std::move(sequence), isInteresting, tries).run();
}

} // namespace tenon::sequences
