// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/program.h"

namespace tenon::compiler::host {
namespace {

/// Calls `visit` on every value that is looked at after the last command.
template <typename Visit> void forEachOutput(Function &function, Visit visit) {
  for (ResultValue &result : function.results)
    visit(result);
  for (Expectation &expectation : function.expectations) {
    visit(expectation.found);
    if (expectation.wanted)
      visit(*expectation.wanted);
  }
}

/// Calls `visit` on every buffer index that commands, results and expectations name.
template <typename Visit> void forEachBuffer(Function &function, Visit visit) {
  for (Command &command : function.commands) {
    if (auto *dispatch = std::get_if<Dispatch>(&command.body)) {
      for (BufferIndex &binding : dispatch->bindings)
        visit(binding);
    } else if (auto *copy = std::get_if<Copy>(&command.body)) {
      visit(copy->source);
      visit(copy->target);
    }
  }
  forEachOutput(function, [&](ResultValue &output) {
    if (output.type.isTensor || output.element != kNoRegister)
      visit(output.buffer);
  });
}

/// Calls `visit` on every register that is read outside the register program.
template <typename Visit> void forEachRegister(Function &function, Visit visit) {
  for (Buffer &buffer : function.buffers) {
    visit(buffer.size);
    visit(buffer.offset);
  }
  visit(function.arena);
  for (Check &check : function.checks)
    visit(check.condition);
  for (Command &command : function.commands)
    if (auto *dispatch = std::get_if<Dispatch>(&command.body)) {
      for (Register &count : dispatch->grid)
        visit(count);
      for (Register &constant : dispatch->constants)
        visit(constant);
    }
  forEachOutput(function, [&](ResultValue &output) {
    for (Register &dim : output.shape)
      visit(dim);
    visit(output.scalar);
    visit(output.element);
  });
  for (Target &target : function.targets)
    visit(target.condition);
}

} // namespace

void Function::dropUnused() {
  std::vector<bool> named(buffers.size(), false);
  forEachBuffer(*this, [&](BufferIndex &buffer) { named[buffer] = true; });
  std::vector<BufferIndex> renumbered(buffers.size(), 0);
  std::vector<Buffer> kept;
  for (size_t i = 0; i < buffers.size(); ++i) {
    renumbered[i] = BufferIndex(kept.size());
    if (named[i])
      kept.push_back(buffers[i]);
  }
  buffers = std::move(kept);
  forEachBuffer(*this, [&](BufferIndex &buffer) { buffer = renumbered[buffer]; });

  std::vector<Register> roots;
  forEachRegister(*this, [&](Register &value) { roots.push_back(value); });
  std::vector<Register> numbers = registers.compact(roots);
  forEachRegister(*this, [&](Register &value) {
    if (value != kNoRegister)
      value = numbers[value];
  });
}

} // namespace tenon::compiler::host
