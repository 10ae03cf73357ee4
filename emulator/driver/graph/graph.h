// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs: nodes of work and what each comes after. A graph is a value: adding a node copies its parameters, cloning and
// instantiating copy the graph. An executable graph is a clone with a table of which node came from which; setting its
// parameters, updating it and switching nodes off change the clone alone. A launch turns the nodes into operations, in
// topological order, between one that begins and one that ends the launch.
#pragma once

#include "emulator/driver/operation.h"
#include "emulator/driver/work/graph_edge.h"
#include "emulator/driver/work/work.h"

#include <cuda.h>

#include <map>
#include <memory>
#include <vector>

namespace tenon::emulator {

struct Device;

struct GraphNode {
  Graph *graph = nullptr;
  uint64_t id = 0;
  uint64_t origin = 0; // the id of the node that this one was cloned from
  Context *context = nullptr;
  Work work;
  std::vector<GraphEdge> after; // in the order they were given
  bool enabled = true;          // of an executable graph
  std::map<int, CUlaunchAttributeValue> attributes;
  std::vector<void *> parameterPointers; // for the caller of cuGraphKernelNodeGetParams
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes; // in the order of creation
  bool isEmbedded = false;                       // in a child graph node, which owns it
  std::vector<GraphNode *> order;                // of an executable graph: topological
  ~Graph();
};

struct GraphExec {
  std::shared_ptr<Graph> graph;
  Graph *source = nullptr; // only compared; the graph may be gone
  Context *context = nullptr;
  uint64_t flags = 0;
  OperationPtr last; // the end of the last launch
  bool hasMemory = false;
};

inline Graph *handleGraph(CUgraph handle) {
  return reinterpret_cast<Graph *>(handle);
}
Graph *findGraph(CUgraph handle);
GraphNode *findNode(CUgraphNode handle);
GraphExec *findExec(CUgraphExec handle);

/// Adds a node; `after` are nodes of the same graph. Registers its handle.
GraphNode *addNode(Graph &graph, Context *context, Work work, std::vector<GraphEdge> after);
/// Dependencies from the API's arrays: live nodes of this graph, none twice.
CUresult edgesFrom(const Graph &graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                   std::vector<GraphEdge> &out);
/// A copy with `origin` set. `withHandles`: a clone or an embedded graph, not an executable one.
std::shared_ptr<Graph> cloneGraph(const Graph &graph, bool withHandles);
void forgetHandles(Graph &graph);
/// Nodes before what depends on them, otherwise in the order of creation. Empty (of a graph with nodes): a cycle.
std::vector<GraphNode *> topologicalOrder(const Graph &graph);
bool hasMemoryNodes(const Graph &graph);
CUgraphNodeType nodeType(const Work &work);

} // namespace tenon::emulator
