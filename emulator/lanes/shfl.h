// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shfl: every lane reads a register of another lane. Which one depends on two operands that are nearly always
// constants; then it is worked out when the kernel is decoded.
#pragma once

#include "emulator/machine/handlers.h"

#include <vector>

namespace tenon::emulator {

/// Which lane `lane` reads, by lane operand `b` and clamp operand `c`; `inRange` false: its own.
inline uint32_t shuffleSource(ShuffleMode mode, uint32_t lane, uint32_t b, uint32_t c, bool &inRange) {
  // PTX ISA, "shfl": c holds the clamp value (bits 0-4) and the segment mask (bits 8-12).
  uint32_t amount = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  uint32_t maxLane = (lane & segment) | (clamp & ~segment), minLane = lane & segment, source = lane;
  switch (mode) {
  case ShuffleMode::Up:
    source = lane - amount;
    inRange = static_cast<int32_t>(source) >= static_cast<int32_t>(maxLane);
    break;
  case ShuffleMode::Down:
    source = lane + amount;
    inRange = source <= maxLane;
    break;
  case ShuffleMode::Butterfly:
    source = lane ^ amount;
    inRange = source <= maxLane;
    break;
  case ShuffleMode::Index:
    source = minLane | (amount & ~segment & 31);
    inRange = source <= maxLane;
    break;
  }
  return inRange ? source & 31 : lane;
}

/// A shuffle by constants, as words of FunctionCode::operands. Eight lanes read from at most two blocks of eight, or
/// `blocks` is false.
struct FixedShuffle {
  uint32_t valid = 0;         // lanes whose source was in range
  uint32_t blocks = 0;        // 1: the fields below it hold
  uint32_t lane[kLanes] = {}; // the source
  uint32_t first[4] = {}, second[4] = {};
  uint32_t fromSecond[kLanes] = {}; // all ones: the lane reads from the second block
};
inline FixedShuffle fixShuffle(ShuffleMode mode, uint32_t b, uint32_t c) {
  FixedShuffle out;
  out.blocks = 1;
  for (uint32_t l = 0; l < kLanes; ++l) {
    bool inRange = false;
    out.lane[l] = shuffleSource(mode, l, b, c, inRange);
    out.valid |= static_cast<uint32_t>(inRange) << l;
  }
  for (uint32_t g = 0; g < 4; ++g) {
    out.first[g] = out.second[g] = out.lane[8 * g] / 8;
    for (uint32_t l = 8 * g; l < 8 * g + 8; ++l) {
      uint32_t block = out.lane[l] / 8;
      if (block == out.first[g])
        continue;
      if (out.second[g] != out.first[g] && out.second[g] != block)
        out.blocks = 0;
      out.second[g] = block;
      out.fromSecond[l] = ~0u;
    }
  }
  return out;
}

} // namespace tenon::emulator
