// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Origins under small numbers: a program has a few hundred different ones between all of its registers, so that a sum
// or a join is mostly two comparisons or one look into a table of answers.
#pragma once

#include "linker/access/origins.h"

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
  size_t size() const { return all_.size(); }
  Id idOf(const Origins &value);
  const Origins &operator[](Id id) const { return all_[id]; }

  Id join(Id a, Id b) {
    if (a == b || b == kUnknown)
      return a;
    return a == kUnknown ? b : answer(Operation::Join, a, b);
  }
  Id sum(Id a, Id b) {
    if (b == kNumber)
      return a;
    return a == kNumber ? b : answer(Operation::Sum, a, b);
  }
  Id difference(Id a, Id b) { return b == kNumber ? a : answer(Operation::Difference, a, b); }
  Id scaled(Id a) { return a <= kNumber ? a : answer(Operation::Scale, a, kUnknown); }

private:
  enum class Operation : uint8_t { None, Join, Sum, Difference, Scale };
  struct Answer {
    Id a = 0, b = 0, result = 0;
    Operation operation = Operation::None;
  };

  Id answer(Operation operation, Id a, Id b) {
    const Answer &known = answers_[slotOf(operation, a, b)];
    return known.operation == operation && known.a == a && known.b == b ? known.result : compute(operation, a, b);
  }
  static size_t slotOf(Operation operation, Id a, Id b) {
    return (a * 31 + b * 4 + static_cast<size_t>(operation)) % kAnswers;
  }
  Id compute(Operation operation, Id a, Id b);
  size_t placeOf(const Origins &value) const;
  void grow();

  static constexpr size_t kAnswers = 512;
  std::vector<Origins> all_; // by id
  std::vector<Id> places_;   // a power of two, by hash; kUnknown: free
  std::array<Answer, kAnswers> answers_;
};

} // namespace tenon::linker
