// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/buffer_table.h"

namespace tenon::compiler::host {

BufferIndex BufferTable::addInput(uint32_t argument) {
  buffers_.push_back({.source = BufferSource::Input, .index = argument});
  lastUses_.push_back(0);
  isOwned_.push_back(false);
  return BufferIndex(buffers_.size() - 1);
}

BufferIndex BufferTable::addConstant(uint32_t constant) {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].source == BufferSource::Constant && buffers_[i].index == constant)
      return BufferIndex(i);
  buffers_.push_back({.source = BufferSource::Constant, .index = constant});
  lastUses_.push_back(0);
  isOwned_.push_back(false);
  return BufferIndex(buffers_.size() - 1);
}

BufferIndex BufferTable::addTransient(Register bytes, Position lastUse) {
  buffers_.push_back({.source = BufferSource::Transient, .size = bytes});
  lastUses_.push_back(lastUse);
  isOwned_.push_back(true);
  return BufferIndex(buffers_.size() - 1);
}

bool BufferTable::mayOverwrite(BufferIndex buffer, Position position) const {
  return isOwned_[buffer] && lastUses_[buffer] <= position;
}

} // namespace tenon::compiler::host
