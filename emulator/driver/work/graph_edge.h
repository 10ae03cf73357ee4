// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a node of a graph comes after. Streams that capture keep such edges for the next node.
#pragma once

#include <cuda.h>

namespace tenon::emulator {

struct GraphNode;

struct GraphEdge {
  GraphNode *from = nullptr;
  CUgraphEdgeData data = {};
};

} // namespace tenon::emulator
