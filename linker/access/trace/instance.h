// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function in an abstract run, with one set of argument origins: what each register and each cell may hold.
#pragma once

#include "linker/access/cell.h"
#include "linker/access/plan/plan.h"

namespace tenon::linker {

struct Instance {
  Plan *plan = nullptr;
  std::vector<Cell> arguments, returns;
  std::vector<Origins> values;        // registers, then constants
  std::vector<Cell> cells;            // [plan.cellCount]
  std::vector<bool> cellWasRead;      // [plan.cellCount]
  Origins carry;                      // the carry flag
  std::vector<Origins> blockStates;   // [blocks x tracked] at the beginning of each block
  std::vector<uint32_t> trackedIndex; // register -> position among tracked + 1; empty: none is tracked
  uint32_t round = 0;
  bool isPrepared = false, active = false, askedWhileActive = false, recorded = false;

  /// As new, for this function; memory is kept. Then the arguments are to be filled in.
  void reset(Plan &of);
  /// Before the first sweep: only constants and arguments are known.
  void prepare();
  bool isTracked(uint32_t reg) const { return !trackedIndex.empty() && trackedIndex[reg] != 0; }
  /// Tracked registers get what they hold at the beginning of the block.
  void enterBlock(size_t block);
  /// What tracked registers hold at the end of the block goes to where control may go on.
  struct Growth {
    bool any = false, behind = false; // `behind`: in this block or one before it
  };
  Growth leaveBlock(uint32_t block);
};

} // namespace tenon::linker
