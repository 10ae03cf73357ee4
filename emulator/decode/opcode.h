// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row of a family's table (families/*.cpp): which instructions it is about, what holds for all of them, and the
// function that decodes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon::emulator {

class Decoder;

struct OperandCount {
  static constexpr uint8_t kAny = 0xff;
  uint8_t least = 0, most = kAny;
};

/// sm_NN or higher; specific: sm_NNa. 0: every target.
struct RequiredTarget {
  uint16_t number = 0;
  bool specific = false;
};

struct Opcode {
  /// The opcode, or the opcode and its first modifiers: "cp.async.bulk". The longest name that fits an instruction
  /// wins.
  std::string_view name;
  /// Decodes decoder.in() and emits it. False: it is refused, and an error was reported.
  bool (*decode)(Decoder &decoder);
  /// Checked in this order before `decode` is called.
  RequiredTarget target = {};
  OperandCount operands = {};
};

/// The rows of one family.
struct Family {
  const Opcode *rows;
  size_t count;
  template <size_t N> constexpr Family(const Opcode (&rows)[N]) : rows(rows), count(N) {}
};

} // namespace tenon::emulator
