// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuGraphDebugDotPrint: a graph in the dot language, nodes in the order of their creation.
#include "emulator/driver/call.h"
#include "emulator/driver/graph/graph.h"

#include <cstdio>

using namespace tenon::emulator;

namespace {

std::string nodeName(const GraphNode &node) {
  return "node_" + std::to_string(node.id);
}

void printNodes(FILE *file, const Graph &graph, const std::string &indent) {
  for (const auto &node : graph.nodes) {
    if (auto *child = std::get_if<ChildGraphWork>(&node->work)) {
      fprintf(file, "%ssubgraph cluster_%s {\n", indent.c_str(), nodeName(*node).c_str());
      fprintf(file, "%s  label=\"child graph\";\n", indent.c_str());
      fprintf(file, "%s  %s [label=\"child graph\"];\n", indent.c_str(), nodeName(*node).c_str());
      printNodes(file, *child->graph, indent + "  ");
      fprintf(file, "%s}\n", indent.c_str());
    } else {
      fprintf(file, "%s%s [label=\"%s\"];\n", indent.c_str(), nodeName(*node).c_str(),
              describeWork(node->work).c_str());
    }
    for (const GraphEdge &edge : node->after)
      fprintf(file, "%s%s -> %s;\n", indent.c_str(), nodeName(*edge.from).c_str(), nodeName(*node).c_str());
  }
}

} // namespace

CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph || !path)
    return CUDA_ERROR_INVALID_VALUE;
  FILE *file = fopen(path, "w");
  if (!file)
    return CUDA_ERROR_OPERATING_SYSTEM;
  fprintf(file, "digraph graph_0 {\n");
  printNodes(file, *graph, "  ");
  fprintf(file, "}\n");
  return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
