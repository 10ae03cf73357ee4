// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/random_sequence.h"

#include "tests/golden/values.h"
#include "tests/sequences/drawing.h"
#include "tests/sequences/pair_sequence.h"

#include <cmath>

namespace tenon::sequences {
namespace {

class Generator : public Drawing {
public:
  Generator(const std::vector<OpcodeForms> &table, uint64_t seed) : Drawing(seed), table_(table) {
    double sum = 0;
    for (const OpcodeForms &row : table) // cvt and setp have hundreds of forms
      weights_.push_back(sum += std::sqrt(static_cast<double>(row.forms.size())));
    if (seed >= kSeedsOfFewForms)
      chooseFew();
  }

  Sequence run() {
    for (const char *type : {"b32", "f32", "s32", "u32"})
      input(type);
    static const std::vector<std::string> types = {"s16",    "u16", "f16", "bf16",  "b64",   "s64",
                                                   "f64",    "f64", "f32", "f16x2", "f16x2", "s16x2",
                                                   "bf16x2", "u64", "b32", "s8x4",  "e4m3x2"};
    for (int k = 0; k < 5; ++k)
      input(types[below(types.size())]);
    static const double shares[] = {0.1, 0.3, 0.3, 0.6, 0.85};
    constants_ = shares[below(5)];
    const size_t steps = below(3) ? 2 + below(10) : 10 + below(26);
    for (size_t k = 0; k < steps; ++k)
      addStep(sequence_.steps);
    chooseStores();
    return std::move(sequence_);
  }

private:
  /// Three to six forms, each of which takes what another one gives; mostly of what compilers print.
  void chooseFew() {
    const bool isCommon = chance(0.8);
    static const unsigned widths[] = {16, 32, 32, 32, 32, 64};
    const unsigned width = widths[below(6)];
    auto isWide = [&](const std::string &type) { return type != "pred" && bitsOf(type) == width; };
    const size_t count = 3 + below(4);
    while (few_.size() < count) {
      const FormEntry &entry = anyForm();
      if (entry.form->results.size() == 1 && !entry.form->operands.empty() && !entry.isUnread && !entry.ofWarp &&
          !entry.needsAllLanes && (!isCommon || isPrinted(entry)) && isWide(entry.form->results[0]) &&
          isWide(entry.form->operands[0]))
        few_.push_back(&entry);
    }
    while (few_.size() == count && chance(0.5)) // what decides
      if (const FormEntry &entry = anyForm(); opcodeOf(*entry.form) == "setp" && !entry.needsAllLanes &&
                                              !entry.ofWarp && isWide(entry.form->operands[0]) && !entry.readsBits)
        few_.push_back(&entry);
  }

  const FormEntry &chooseForm() { return few_.empty() ? anyForm() : *few_[below(few_.size())]; }

  const FormEntry &anyForm() {
    const double at = random_.uniform() * weights_.back();
    size_t row = 0;
    while (row + 1 < table_.size() && weights_[row] <= at)
      ++row;
    return table_[row].forms[below(table_[row].forms.size())];
  }

  void addStep(std::vector<Step> &steps) {
    const size_t kind = below(24);
    if (depth_ == 0 && kind == 0)
      return addLoop(steps);
    if (depth_ == 0 && kind == 1)
      return addBranch(steps);
    const FormEntry *entry = &chooseForm();
    while ((depth_ && entry->ofWarp) || (hasParted_ && entry->needsAllLanes))
      entry = &chooseForm();
    Step step = stepOf(*entry);
    const bool isGuarded = kind < 4 && entry->isSingle && !entry->ofWarp && !entry->isUnread && !entry->givesLoose &&
                           entry->form->results.size() == 1 && !entry->form->operands.empty();
    if (isGuarded) {
      step.kind = Step::Kind::Guarded;
      step.guard = reg("pred", false);
      step.isNegated = chance(0.5);
      step.otherwise = chance(0.3) ? constant(entry->form->results[0], false) : reg(entry->form->results[0], false);
    }
    defineResults(step, *entry);
    steps.push_back(std::move(step));
    if (!few_.empty() && !isGuarded && chance(0.2))
      repeat(steps, *entry);
  }

  /// The last step a few times more, of what it gave, and of what else it took.
  void repeat(std::vector<Step> &steps, const FormEntry &entry) {
    const golden::Form &form = *entry.form;
    std::vector<size_t> places;
    for (size_t k = 0; k < form.operands.size(); ++k)
      if (bitsOf(form.operands[k]) == bitsOf(form.results[0]) && !steps.back().sources[k].isConstant())
        places.push_back(k);
    if (places.empty() || form.results.size() != 1 || entry.isUnread || entry.givesLoose || entry.isExtended ||
        entry.readsBits)
      return;
    const size_t place = places[below(places.size())];
    for (size_t count = 1 + below(5); count-- > 0;) {
      Step next = steps.back();
      next.sources[place].reg = next.results[0];
      next.results = {define(form.results[0], &entry)};
      steps.push_back(std::move(next));
    }
  }

  /// A few steps that all lanes need not execute; `carried` is what they computed last of that width.
  std::vector<Step> region(const std::string &type, Source &carried) {
    const size_t before = sequence_.registers.size();
    std::vector<Step> steps;
    ++depth_;
    for (size_t k = 1 + below(3); k-- > 0;)
      addStep(steps);
    --depth_;
    carried = reg(type, false);
    for (size_t k = sequence_.registers.size(); k-- > before;) {
      const Register &what = sequence_.registers[k];
      if (!what.unread && !what.isLoose && !what.isExtended && bitsOf(what.type) == bitsOf(type)) {
        carried.kind = Source::Kind::Register;
        carried.reg = static_cast<uint32_t>(k);
        break;
      }
    }
    return steps;
  }

  std::string anyType() {
    static const char *const types[] = {"b32", "u32", "s32", "f32", "b64", "u16", "f64"};
    return types[below(7)];
  }

  void addLoop(std::vector<Step> &steps) {
    const std::string type = anyType();
    Step step;
    step.kind = Step::Kind::Loop;
    step.otherwise = chance(0.3) ? constant(type, false) : reg(type, false);
    step.count = chance(0.5) ? constant("u32", false) : reg("u32", false);
    hasParted_ |= !step.count.isConstant();
    step.results.push_back(define(type));
    step.body = region(type, step.carried);
    steps.push_back(std::move(step));
  }

  void addBranch(std::vector<Step> &steps) {
    const std::string type = anyType();
    Step step;
    step.kind = Step::Kind::Branch;
    step.guard = reg("pred", false);
    step.isNegated = chance(0.5);
    hasParted_ = true;
    const std::vector<uint32_t> outside = visible_;
    step.body = region(type, step.carried);
    visible_ = outside;
    step.other = region(type, step.otherwise);
    visible_ = outside;
    step.results.push_back(define(type));
    steps.push_back(std::move(step));
  }

  void chooseStores() {
    std::vector<uint32_t> computed;
    for (uint32_t candidate : visible_)
      if (candidate >= sequence_.inputs.size())
        computed.push_back(candidate);
    const size_t mode = below(4);
    auto part = [&](uint32_t of) {
      const Register &what = sequence_.registers[of];
      return what.unread || what.isLoose || what.isExtended ? Part::Whole : static_cast<Part>(below(5));
    };
    // Everything; the last; a few; parts of a few: what nobody reads, ptxas need not compute.
    for (size_t k = 0; k < computed.size(); ++k) {
      const bool isLast = k + 1 == computed.size(),
                 isAmongFew = isLast || chance(3.0 / static_cast<double>(computed.size()));
      if (mode == 0)
        sequence_.stores.push_back({computed[k], Part::Whole});
      else if (mode == 1 ? isLast : isAmongFew)
        sequence_.stores.push_back(
            {computed[k], mode == 3 || (mode == 1 && chance(0.5)) ? part(computed[k]) : Part::Whole});
    }
  }

  const std::vector<OpcodeForms> &table_;
  std::vector<double> weights_;        // summed up
  std::vector<const FormEntry *> few_; // none: all forms
  int depth_ = 0;
  bool hasParted_ = false; // lanes may have been apart
};

} // namespace

Sequence randomSequence(const std::vector<OpcodeForms> &table, uint64_t seed) {
  return seed >= kSeedsOfPairs ? pairSequence(table, seed) : Generator(table, seed).run();
}

std::vector<uint64_t> inputsOf(const Sequence &sequence) {
  SplitMix64 random(~sequence.seed);
  std::vector<uint64_t> values;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    for (const std::string &type : sequence.inputs)
      values.push_back(golden::drawValue(type, random));
  return values;
}

} // namespace tenon::sequences
