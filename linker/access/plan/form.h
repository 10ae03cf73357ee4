// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be said of an instruction from its opcode and modifiers alone, found out once for each spelling: a program
// has a few hundred of them, and hundreds of thousands of instructions.
#pragma once

#include "linker/access/plan/effect.h"

#include <deque>
#include <string>
#include <vector>

namespace tenon::linker {

/// ".v4.f32" is 16, ".b64" is 8; 0 where no type is written.
struct Width {
  uint32_t element = 0, count = 1;
  uint32_t bytes() const { return element * count; }
};

struct Form {
  EffectOf effect;
  Transfer transfer; // of what computes
  Width width;
  bool setsCarry = false; // .cc
  bool nonCoherent = false;
  bool isFloat = false;           // computes with floating-point numbers
  bool convertsAddress = false;   // cvta
  bool dependsOnOperands = false; // what the effect is: on which of them are addresses
  bool hasAddress = false, beginsWithAddress = false;
};

class FormTable {
public:
  FormTable() : places_(64) {}
  /// To be called before the instructions of another parse, whose spellings have other numbers.
  void startModule() { byNumber_.clear(); }
  /// What it returns holds until the next call.
  const Form &of(const ptx::Instruction &instruction) {
    const uint32_t number = instruction.spelling;
    const Form *known = number < byNumber_.size() ? byNumber_[number] : nullptr;
    return known && !known->dependsOnOperands ? *known : lookUp(instruction);
  }

private:
  /// A spelling by its first and last eight bytes, which are all that most have.
  struct Place {
    uint64_t first = 0, last = 0;
    uint32_t size = 0, form = 0; // size 0: free
  };

  const Form &lookUp(const ptx::Instruction &instruction);
  const Form &formFor(const ptx::Instruction &instruction);
  Place &placeOf(std::string_view spelling);
  void grow();

  std::vector<const Form *> byNumber_; // by the number of a spelling; null: not looked up yet
  std::vector<Place> places_;          // a power of two, by hash
  std::vector<std::string> spellings_; // of the forms
  std::deque<Form> forms_;             // they stay where they are
  Form single_;                        // of an instruction whose spelling does not say it all
};

} // namespace tenon::linker
