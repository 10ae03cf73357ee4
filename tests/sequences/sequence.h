// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sequence: a kernel made of many instruction forms, each of which takes what others before it gave, or constants.
// What ptxas makes of one instruction is recorded in tests/golden; its optimiser looks at several together, and at
// constants, and what it gets wrong lies there.
#pragma once

#include "tests/golden/form.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::sequences {

using golden::Form;

constexpr unsigned kThreads = 128; // of a kernel: each has inputs of its own

/// What a step reads.
struct Source {
  enum class Kind : uint8_t {
    Register,
    Moved,     // a constant that is moved to a register before
    Immediate, // a constant in the instruction
  };
  Kind kind = Kind::Register;
  uint32_t reg = 0;
  uint64_t bits = 0;
  std::string type; // as which it is read
  bool isConstant() const { return kind != Kind::Register; }
};

struct Step {
  enum class Kind : uint8_t { Plain, Guarded, Loop, Branch };
  Kind kind = Kind::Plain;
  // Plain and Guarded: one form. Guarded: where the predicate does not hold, the result is `otherwise`.
  const Form *form = nullptr;
  std::vector<Source> sources;
  std::vector<uint32_t> results;
  uint64_t numbers = 0; // what %any8 and %any5 stand for
  Source guard;         // Guarded, Branch: a predicate
  bool isNegated = false;
  Source otherwise;
  // Loop: results[0] begins as `otherwise` and becomes `carried` at the end of each of `count` rounds. Branch: it is
  // `carried` of `body`, or `otherwise` of `other`.
  std::vector<Step> body, other;
  Source count, carried;
};

struct Register {
  std::string type;
  bool isLoose = false;         // where it is a NaN, any NaN is right
  const Form *unread = nullptr; // the form that gave it, where no other may read it
  bool isExtended = false;      // of fewer bits: nobody reads its upper half alone
};

/// What is kept of a register.
enum class Part : uint8_t { Whole, Low, High, ShiftedHigh, Byte };

struct Store {
  uint32_t reg = 0;
  Part part = Part::Whole;
};

struct Sequence {
  uint64_t seed = 0;
  std::vector<std::string> inputs; // types; register k is input k
  std::vector<Register> registers;
  std::vector<Step> steps;
  std::vector<Store> stores;
};

/// Of a register: 1 (a predicate), 16, 32 or 64.
unsigned bitsOf(const std::string &type);

/// Whether this operand of the form may be a constant in the instruction.
bool takesImmediate(const Form &form, size_t operand);

/// An entry `NAME(inputs, outputs, scratch)`: thread t reads eight bytes for each input from inputs[t], and writes
/// store s to outputs[s][t].
std::string entryOf(const Sequence &sequence, const std::string &name);
/// The lines before the first entry.
std::string headOfModule();

/// Calls `visit` for every step, those inside of others too.
template <typename Steps, typename Visit> void forEachStep(Steps &steps, const Visit &visit) {
  for (auto &step : steps) {
    visit(step);
    forEachStep(step.body, visit);
    forEachStep(step.other, visit);
  }
}

} // namespace tenon::sequences
