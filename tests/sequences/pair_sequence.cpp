// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sequences/pair_sequence.h"

#include "tests/sequences/drawing.h"

namespace tenon::sequences {
namespace {

class Pairs : public Drawing {
public:
  Pairs(const std::vector<OpcodeForms> &table, uint64_t seed) : Drawing(seed), table_(table) {}

  Sequence run() {
    constexpr size_t kPairs = 6;
    for (const char *type : {"b32", "s32", "f32", "u16", "s16", "f16", "b64", "s64", "f64", "f16x2", "s16x2", "bf16"})
      input(type);
    std::vector<const FormEntry *> printed;
    for (const OpcodeForms &row : table_)
      for (const FormEntry &entry : row.forms)
        if (!entry.isUnread && !entry.ofWarp && !entry.form->operands.empty() &&
            (isPrinted(entry) || row.opcode == "setp"))
          printed.push_back(&entry);
    const uint64_t first = (sequence_.seed - kSeedsOfPairs) * kPairs, count = printed.size();
    for (uint64_t number = first; number < first + kPairs; ++number) {
      constants_ = chance(0.5) ? 0.6 : 0.1;
      visible_.resize(sequence_.inputs.size()); // each pair has its own registers
      const FormEntry *one = printed[number % count], *other = printed[number / count % count];
      for (size_t tries = 0; tries < 200 && placesFor(*one, *other).empty(); ++tries)
        other = printed[below(count)];
      addPair(*one, *other);
    }
    return std::move(sequence_);
  }

private:
  /// The operands of `reader` that may be what `writer` gives first.
  static std::vector<size_t> placesFor(const FormEntry &writer, const FormEntry &reader) {
    const std::string &type = writer.form->results[0];
    std::vector<size_t> places;
    if ((isFloatingType(type) && reader.readsBits) ||
        (writer.isExtended && reader.form->body.find("mov.b") != std::string::npos))
      return places;
    for (size_t k = 0; k < reader.form->operands.size(); ++k) {
      const std::string &taken = reader.form->operands[k];
      if (bitsOf(taken) == bitsOf(type) && (taken == "pred") == (type == "pred") &&
          (!writer.givesLoose || (reader.takesLoose && taken == type)))
        places.push_back(k);
    }
    return places;
  }

  void addPair(const FormEntry &one, const FormEntry &other) {
    addOne(one);
    const Step first = sequence_.steps.back();
    const std::vector<size_t> places = placesFor(one, other);
    if (!places.empty()) {
      addOne(other);
      Step &second = sequence_.steps.back();
      const size_t place = places[below(places.size())];
      second.sources[place] = {};
      second.sources[place].type = other.form->operands[place];
      second.sources[place].reg = first.results[0];
      for (size_t k = 0; k < second.sources.size(); ++k)
        if (k != place && chance(0.6))
          takeToo(second, k, first);
      for (uint32_t result : second.results)
        sequence_.stores.push_back({result, Part::Whole});
    }
    if (places.empty() || chance(0.4))
      sequence_.stores.push_back({first.results[0], Part::Whole});
  }

  void addOne(const FormEntry &entry) {
    sequence_.steps.push_back(stepOf(entry));
    defineResults(sequence_.steps.back(), entry);
  }

  /// An operand is one of `first`, where that has one as wide.
  void takeToo(Step &step, size_t operand, const Step &first) {
    const std::string &type = step.form->operands[operand], opcode = opcodeOf(*step.form);
    for (const Source &source : first.sources) {
      const bool isSame = type == source.type || (bitsOf(type) == bitsOf(source.type) && !source.isConstant());
      if (!isSame || (type == "pred") != (source.type == "pred") ||
          (source.isConstant() && opcode != "setp" && opcode != "selp"))
        continue;
      const Source::Kind kind = source.kind;
      step.sources[operand] = source;
      step.sources[operand].type = type;
      if (kind == Source::Kind::Immediate && !takesImmediate(*step.form, operand))
        step.sources[operand].kind = Source::Kind::Moved;
      return;
    }
  }

  const std::vector<OpcodeForms> &table_;
};

} // namespace

Sequence pairSequence(const std::vector<OpcodeForms> &table, uint64_t seed) {
  return Pairs(table, seed).run();
}

} // namespace tenon::sequences
