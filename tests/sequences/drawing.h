// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sequences are drawn by: registers that steps take, constants, and which of both an operand is.
#pragma once

#include "support/random.h"
#include "tests/sequences/form_table.h"
#include "tests/sequences/sequence.h"

namespace tenon::sequences {

/// What compilers print most: 17 opcodes.
bool isPrinted(const FormEntry &entry);

bool isFloatingType(const std::string &type);

class Drawing {
public:
  explicit Drawing(uint64_t seed) : random_(seed * 2 + 1) { sequence_.seed = seed; }

protected:
  size_t below(size_t bound) { return static_cast<size_t>(random_.next() % bound); }
  bool chance(double share) { return random_.uniform() < share; }

  void input(const std::string &type);
  /// `entry`: what gives it.
  uint32_t define(const std::string &type, const FormEntry *entry = nullptr);

  Source constant(const std::string &type, bool mayBeImmediate);
  /// A register as wide as the type, rather a late one and of that type; none: a constant.
  Source reg(const std::string &type, bool takesLoose, const FormEntry *reader = nullptr);
  Source source(const FormEntry &entry, size_t operand);
  /// A form with what it takes; without results.
  Step stepOf(const FormEntry &entry);
  void defineResults(Step &step, const FormEntry &entry);

  SplitMix64 random_;
  Sequence sequence_;
  std::vector<uint32_t> visible_; // registers that may be read
  double constants_ = 0;          // the share of operands that are
};

} // namespace tenon::sequences
