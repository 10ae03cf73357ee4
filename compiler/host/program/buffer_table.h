// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From tensor values, which never change, to buffers, which kernels write.
//
// A tied result (`flow.dispatch ... -> %operand`) is written in place only where no other reader can see it: its
// operand lives in memory of this call (never in a constant, and in an input only if that is given up) and is not read
// later. Otherwise it is copied first. The table keeps, per buffer, the last command position that reads the value
// living there; a tied result takes the buffer over with a last reader of its own.
#pragma once

#include "compiler/host/program/program.h"

#include <vector>

namespace tenon::compiler::host {

/// Position of an operation in its function. A value that is never read has its definition as its last reader.
using Position = uint32_t;
constexpr Position kEndOfCall = ~Position(0); // read after the last operation

class BufferTable {
public:
  BufferIndex addInput(uint32_t argument);
  BufferIndex addConstant(uint32_t constant);
  /// Memory of this call, `bytes` long, holding a value that is last read at `lastUse`.
  BufferIndex addTransient(Register bytes, Position lastUse);

  /// Whether the operation at `position` may write the buffer although values are immutable: it is the call's and its
  /// value is not read after `position`. The caller looks at the operation's other operands itself.
  bool mayOverwrite(BufferIndex buffer, Position position) const;
  /// The value of `buffer` is replaced by one that is last read at `lastUse`.
  void takeOver(BufferIndex buffer, Position lastUse) { lastUses_[buffer] = lastUse; }
  /// The memory is the call's, be it an input's: its caller gave it up.
  void own(BufferIndex buffer) { isOwned_[buffer] = true; }
  bool isInput(BufferIndex buffer) const { return buffers_[buffer].source == BufferSource::Input; }

  const std::vector<Buffer> &all() const { return buffers_; }

private:
  std::vector<Buffer> buffers_;
  std::vector<Position> lastUses_; // [buffers]
  std::vector<bool> isOwned_;      // [buffers]
};

} // namespace tenon::compiler::host
