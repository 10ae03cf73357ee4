// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/random_sequence.h"

#include "support/random.h"
#include "tests/golden/values.h"

#include <cmath>
#include <set>

namespace tenon::sequences {
namespace {

/// Either zero, in an element of a floating-point type. With it a smaller-of-1 becomes a saturation in ptxas.
bool isZero(const std::string &type, uint64_t bits) {
  if (type == "f64")
    return bits << 1 == 0;
  if (type == "f32")
    return (bits & 0x7fffffff) == 0;
  return (type[0] == 'f' || type.rfind("bf", 0) == 0) && (bits & 0x7fff) == 0;
}

class Generator {
public:
  Generator(const std::vector<OpcodeForms> &table, uint64_t seed) : table_(table), random_(seed * 2 + 1) {
    sequence_.seed = seed;
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
  size_t below(size_t bound) { return static_cast<size_t>(random_.next() % bound); }
  bool chance(double share) { return random_.uniform() < share; }

  void input(const std::string &type) {
    sequence_.inputs.push_back(type);
    define(type);
  }
  uint32_t define(const std::string &type, const FormEntry *entry = nullptr) {
    Register made{type};
    if (entry) {
      made.isLoose = entry->givesLoose && type != "pred";
      made.unread = entry->isUnread ? entry->form : nullptr;
      made.isExtended = entry->isExtended;
    }
    sequence_.registers.push_back(made);
    visible_.push_back(static_cast<uint32_t>(sequence_.registers.size() - 1));
    return visible_.back();
  }

  Source constant(const std::string &type, bool mayBeImmediate) {
    Source source;
    source.kind = mayBeImmediate && chance(0.7) ? Source::Kind::Immediate : Source::Kind::Moved;
    source.type = type;
    source.bits = golden::drawValue(type, random_);
    return source;
  }

  /// A register as wide as the type, rather a late one and of that type; none: a constant.
  Source reg(const std::string &type, bool takesLoose, const FormEntry *reader = nullptr) {
    std::vector<uint32_t> same, any;
    for (uint32_t candidate : visible_) {
      const Register &what = sequence_.registers[candidate];
      if (what.unread || bitsOf(what.type) != bitsOf(type) || (what.isLoose && !(takesLoose && what.type == type)))
        continue;
      if (reader && ((what.isExtended && reader->form->body.find("mov.b") != std::string::npos) ||
                     (reader->readsBits && (what.type[0] == 'f' || what.type.rfind("bf", 0) == 0))))
        continue;
      any.push_back(candidate);
      if (what.type == type)
        same.push_back(candidate);
    }
    const std::vector<uint32_t> &from = !same.empty() && chance(0.7) ? same : any;
    if (from.empty())
      return constant(type, false);
    Source source;
    source.type = type;
    source.reg = from[from.size() - 1 - (chance(0.6) ? below(std::min<size_t>(3, from.size())) : below(from.size()))];
    return source;
  }

  Source source(const FormEntry &entry, size_t operand) {
    const std::string &type = entry.form->operands[operand];
    if (entry.form->values.rfind("range:", 0) == 0) { // right within these bounds only
      double low = 0, high = 1;
      sscanf(entry.form->values.c_str(), "range:%lf:%lf", &low, &high);
      Source source = constant(type, takesImmediate(*entry.form, operand));
      source.bits = golden::encodeNumber(type, low + (high - low) * random_.uniform());
      return source;
    }
    const std::string instruction = entry.form->instruction();
    auto is = [&](const char *opcode) { return instruction.rfind(opcode, 0) == 0; };
    if (chance(constants_) && !is("add.s16x2") && !is("add.u16x2")) {
      Source source = constant(type, takesImmediate(*entry.form, operand));
      if (operand > 0 && type == "u32") { // a place, a length or a distance; ptxas refuses some and folds others wrong
        if (is("bfe") || is("bfi"))
          source.bits &= 15;
        if (is("shl.b16") || (is("shr.") && bitsOf(entry.form->operands[0]) == 16))
          source.bits &= 0xffff;
      }
      if (is("max") || is("setp"))
        while (isZero(type, source.bits))
          source.bits = golden::drawValue(type, random_);
      return source;
    }
    return reg(type, entry.takesLoose, &entry);
  }

  /// Three to six forms, each of which takes what another one gives; mostly of what compilers print.
  void chooseFew() {
    static const std::set<std::string> common = {"abs", "add", "and", "cvt",  "fma", "mad", "max", "min", "mul",
                                                 "neg", "not", "or",  "selp", "shl", "shr", "sub", "xor"};
    auto isPrinted = [](const FormEntry &entry) {
      const std::string instruction = entry.form->instruction();
      return common.count(opcodeOf(*entry.form)) && instruction.find(".sat") == std::string::npos &&
             instruction.find(".xorsign") == std::string::npos;
    };
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
    Step step;
    step.form = entry->form;
    step.numbers = random_.next();
    for (size_t k = 0; k < entry->form->operands.size(); ++k)
      step.sources.push_back(source(*entry, k));
    const bool isGuarded = kind < 4 && entry->isSingle && !entry->ofWarp && !entry->isUnread && !entry->givesLoose &&
                           entry->form->results.size() == 1 && !entry->form->operands.empty();
    if (isGuarded) {
      step.kind = Step::Kind::Guarded;
      step.guard = reg("pred", false);
      step.isNegated = chance(0.5);
      step.otherwise = chance(0.3) ? constant(entry->form->results[0], false) : reg(entry->form->results[0], false);
    }
    for (const std::string &type : entry->form->results)
      step.results.push_back(define(type, entry));
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
  SplitMix64 random_;
  Sequence sequence_;
  std::vector<uint32_t> visible_;
  double constants_ = 0;
  int depth_ = 0;
  bool hasParted_ = false; // lanes may have been apart
};

} // namespace

Sequence randomSequence(const std::vector<OpcodeForms> &table, uint64_t seed) {
  return Generator(table, seed).run();
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
