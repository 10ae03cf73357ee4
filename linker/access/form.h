// What can be said of an instruction from its opcode and modifiers alone, found out once for each spelling: a program
// has a few hundred of them, and hundreds of thousands of instructions.
#pragma once

#include "linker/access/effect.h"
#include "ptx/name_map.h"

#include <deque>
#include <string>

namespace tenon::linker {

/// ".v4.f32" is 16, ".b64" is 8; 0 where no type is written.
struct Width {
  uint32_t element = 0, count = 1;
  uint32_t bytes() const { return element * count; }
};

struct Form {
  EffectOf effect;
  Width width;
  bool nonCoherent = false;
  bool dependsOnOperands = false; // what the effect is
};

class FormTable {
public:
  /// What it returns holds until the next call.
  const Form &of(const ptx::Instruction &instruction);

private:
  ptx::NameMap numbers_;
  std::deque<std::string> spellings_;
  std::deque<Form> forms_;
  Form single_; // of an instruction whose spelling does not say it all
};

} // namespace tenon::linker
