// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control-flow graph of a body: basic blocks over Function::instructions and the edges between them.
//
// A block ends behind a branch, `ret`, `exit` or `trap`, and before a label. A predicated one of these falls through as
// well; `brx.idx` goes to every label of its table; calls return. A label is seen from its own scope and the scopes
// inside it (PTX ISA, "Identifiers", "Control Flow Instructions"), so the same name may stand in two scopes.
#pragma once

#include "ptx/module.h"

#include <memory>
#include <span>

namespace tenon::ptx {

struct BasicBlock {
  uint32_t begin = 0, end = 0; // [begin, end) of Function::instructions; both are the count for the end of the body
  uint32_t firstEdge = 0, edgeCount = 0;
  bool reachable = false; // from the entry
};

/// A branch whose label or table is not in sight.
struct UnknownTarget {
  uint32_t instruction = 0;
  std::string_view label;
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;     // in source order; blocks[0] is the entry; never empty
  std::vector<uint32_t> edges;        // block numbers, those of one block side by side
  std::vector<UnknownTarget> unknown; // with any, every block counts as reachable
  std::vector<uint32_t> blockOf;      // [instructions] the block that holds each

  std::span<const uint32_t> successors(const BasicBlock &block) const {
    return {edges.data() + block.firstEdge, block.edgeCount};
  }
};

/// Builds the graphs of functions with bodies, one after the other, each in time linear in its statements; keeps its
/// memory in between.
class ControlFlowBuilder {
public:
  ControlFlowBuilder();
  ~ControlFlowBuilder();
  void run(const Function &function, ControlFlow &flow);

private:
  class Builder;
  std::unique_ptr<Builder> builder_;
};

/// The graph of one function with a body.
ControlFlow computeControlFlow(const Function &function);

} // namespace tenon::ptx
