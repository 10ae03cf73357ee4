// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Origins under small numbers: a program has a few hundred different ones between all of its registers, so that a sum
// or a join is mostly two comparisons or one look into a table of answers.
#pragma once

#include "linker/access/origin_algebra.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::linker {

class OriginTable {
public:
  using Id = uint32_t;
  static constexpr Id kUnknown = 0; // Origins(): nothing is computed yet
  static constexpr Id kNumber = 1;

  OriginTable() { clear(); }
  /// Only these two are known again.
  void clear();
  /// Which slots are pointers, from now on.
  void setSecrets(Secrets secrets);
  const Secrets &secrets() const { return algebra_.secrets; }
  size_t size() const { return all_.size(); }
  Id idOf(const Origins &value);
  /// Whether an index is among them, so that a product with a small number differs from others.
  bool hasIndices() const { return hasIndices_; }
  const Origins &operator[](Id id) const { return all_[id]; }

  static Id number() { return kNumber; }
  Id join(Id a, Id b) {
    if (a == b || b == kUnknown)
      return a;
    return a == kUnknown ? b : answer(Operation::Join, a, b);
  }
  Id sum(Id a, Id b) {
    if ((a == kNumber || b == kNumber) && !hasIndices_ && !hasPlaces_) // a number moves an index and a place
      return a == kNumber ? b : a;
    return answer(Operation::Sum, a, b);
  }
  Id mix(Id a, Id b) { return binary(Operation::Mix, a, b); }
  Id blend(Id a, Id b) { return binary(Operation::Blend, a, b); }
  Id pack(Id low, Id high) { return binary(Operation::Pack, low, high); }
  Id select(Id value, Id choice) { return choice == kNumber ? value : answer(Operation::Select, value, choice); }
  Id within(Id value, Id place) { return answer(Operation::Within, value, place); }
  Id negated(Id a) { return unary(Operation::Negate, a); }
  Id scaled(Id a) { return unary(Operation::Scale, a); }
  Id adjusted(Id a) { return unary(Operation::Adjust, a); }
  Id narrowed(Id a) { return unary(Operation::Narrow, a); }
  Id indexed(Id a) { return unary(Operation::Index, a); }
  Id truncated(Id a) { return unary(Operation::Truncate, a); }
  Id lowByte(Id a) { return unary(Operation::LowByte, a); }
  Id lowIndex(Id a) { return unary(Operation::LowIndex, a); }
  Id gathered(Id a) { return unary(Operation::Gather, a); }

private:
  enum class Operation : uint8_t {
    None,
    Join,
    Sum,
    Mix,
    Blend,
    Pack,
    Select,
    Within,
    Negate,
    Scale,
    Adjust,
    Narrow,
    Index,
    Truncate,
    LowByte,
    LowIndex,
    Gather
  };
  struct Answer {
    Id a = 0, b = 0, result = 0;
    Operation operation = Operation::None;
  };

  Id unary(Operation operation, Id a) { return a <= kNumber ? a : answer(operation, a, kUnknown); }
  Id binary(Operation operation, Id a, Id b) {
    return a == kNumber && b == kNumber ? kNumber : answer(operation, a, b);
  }
  Id answer(Operation operation, Id a, Id b) {
    const Answer &known = answers_[slotOf(operation, a, b)];
    return known.operation == operation && known.a == a && known.b == b ? known.result : compute(operation, a, b);
  }
  static size_t slotOf(Operation operation, Id a, Id b) {
    return (a * 31 + b * 4 + static_cast<size_t>(operation) * 17) % kAnswers;
  }
  Id compute(Operation operation, Id a, Id b);
  Origins computed(Operation operation, const Origins &a, const Origins &b) const;
  size_t placeOf(const Origins &value) const;
  void grow();

  static constexpr size_t kAnswers = 512;
  OriginAlgebra algebra_;
  bool hasIndices_ = false, hasPlaces_ = false; // some value has an index; some is an exact place
  std::vector<Origins> all_;                    // by id
  std::vector<Id> places_;                      // a power of two, by hash; kUnknown: free
  std::array<Answer, kAnswers> answers_;
};

} // namespace tenon::linker
