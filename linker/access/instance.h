// One function in an abstract run, with one set of argument origins: what each register and each cell may hold.
#pragma once

#include "linker/access/cell.h"
#include "linker/access/plan.h"

namespace tenon::linker {

struct Instance {
  Plan *plan = nullptr;
  std::vector<Cell> arguments, returns;
  std::vector<Origins> values;        // registers, then constants
  std::vector<Cell> cells;            // [plan.cellCount]
  std::vector<Origins> blockStates;   // [blocks x tracked] at the beginning of each block
  std::vector<uint32_t> trackedIndex; // register -> position among tracked + 1; empty: none is tracked
  uint32_t round = 0;
  bool active = false, askedWhileActive = false, recorded = false;

  /// As new, for this function and these arguments; memory is kept.
  void reset(Plan &of, std::vector<Cell> given);
  /// Before the first sweep: only constants and arguments are known.
  void prepare();
  bool isTracked(uint32_t reg) const { return !trackedIndex.empty() && trackedIndex[reg] != 0; }
  /// Tracked registers get what they hold at the beginning of the block.
  void enterBlock(size_t block);
  /// What tracked registers hold at the end of the block goes to where control may go on. Whether anything was new.
  bool leaveBlock(const ptx::BasicBlock &block);
};

} // namespace tenon::linker
