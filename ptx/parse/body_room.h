// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that bodies are read into, and that a parse leaves to the next one: a link reads hundreds of objects, and
// fresh memory costs more than what is put there.
#pragma once

#include "ptx/module.h"
#include "ptx/spelling_table.h"

#include <vector>

namespace tenon::ptx {

class BodyRoom {
public:
  BodyRoom() = default;
  BodyRoom(const BodyRoom &) = delete;
  BodyRoom &operator=(const BodyRoom &) = delete;

private:
  friend class Parser;

  Function spare;                  // its vectors: room for the next body
  Arena arena;                     // of the operands of the body at hand
  std::vector<Function> functions; // empty between parses
  SpellingTable spellings;         // of the parse at hand
};

} // namespace tenon::ptx
