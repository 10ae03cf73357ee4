// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structure of graphs: nodes, edges, clones, order; and the driver functions that read and change it.
#include "emulator/driver/graph/graph.h"

#include "emulator/driver/call.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

using namespace tenon;
using namespace tenon::emulator;

namespace tenon::emulator {

Graph *findGraph(CUgraph handle) {
  Graph *graph = handleGraph(handle);
  return driver().graphs.count(graph) ? graph : nullptr;
}
GraphNode *findNode(CUgraphNode handle) {
  GraphNode *node = reinterpret_cast<GraphNode *>(handle);
  return driver().graphNodes.count(node) ? node : nullptr;
}
GraphExec *findExec(CUgraphExec handle) {
  GraphExec *exec = reinterpret_cast<GraphExec *>(handle);
  return driver().graphExecs.count(exec) ? exec : nullptr;
}

Graph::~Graph() {
  forgetHandles(*this);
}

void forgetHandles(Graph &graph) {
  driver().graphs.erase(&graph);
  for (auto &node : graph.nodes)
    driver().graphNodes.erase(node.get());
}

GraphNode *addNode(Graph &graph, Context *context, Work work, std::vector<GraphEdge> after) {
  auto node = std::make_unique<GraphNode>();
  node->graph = &graph;
  node->id = ++driver().nextId;
  node->context = context;
  node->work = std::move(work);
  node->after = std::move(after);
  driver().graphNodes.insert(node.get());
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

CUresult edgesFrom(const Graph &graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                   std::vector<GraphEdge> &out) {
  if (count && !nodes)
    return CUDA_ERROR_INVALID_VALUE;
  std::set<GraphNode *> seen;
  for (size_t k = 0; k < count; ++k) {
    GraphEdge edge{findNode(nodes[k]), data ? data[k] : CUgraphEdgeData{}};
    if (!edge.from || edge.from->graph != &graph || !seen.insert(edge.from).second)
      return CUDA_ERROR_INVALID_VALUE;
    // A port other than "when it has finished" is a kernel's.
    bool isKernel = std::holds_alternative<KernelWork>(edge.from->work);
    if (edge.data.to_port || edge.data.type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
        ((edge.data.from_port || edge.data.type) && !isKernel) ||
        edge.data.from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
      return CUDA_ERROR_INVALID_VALUE;
    out.push_back(edge);
  }
  return CUDA_SUCCESS;
}

std::shared_ptr<Graph> cloneGraph(const Graph &graph, bool withHandles) {
  auto clone = std::make_shared<Graph>();
  std::unordered_map<const GraphNode *, GraphNode *> copies;
  for (const auto &node : graph.nodes) {
    auto copy = std::make_unique<GraphNode>();
    copy->graph = clone.get();
    copy->id = ++driver().nextId;
    copy->origin = node->id;
    copy->context = node->context;
    copy->work = node->work;
    copy->enabled = node->enabled;
    copy->attributes = node->attributes;
    if (auto *child = std::get_if<ChildGraphWork>(&copy->work)) {
      child->graph = cloneGraph(*child->graph, withHandles);
      child->graph->isEmbedded = true;
    }
    copies[node.get()] = copy.get();
    if (withHandles)
      driver().graphNodes.insert(copy.get());
    clone->nodes.push_back(std::move(copy));
  }
  for (const auto &node : graph.nodes)
    for (const GraphEdge &edge : node->after)
      copies[node.get()]->after.push_back({copies[edge.from], edge.data});
  if (withHandles)
    driver().graphs[clone.get()] = nullptr;
  return clone;
}

std::vector<GraphNode *> topologicalOrder(const Graph &graph) {
  std::unordered_map<const GraphNode *, size_t> missing, index;
  std::unordered_map<const GraphNode *, std::vector<size_t>> next;
  for (size_t k = 0; k < graph.nodes.size(); ++k) {
    const GraphNode *node = graph.nodes[k].get();
    index[node] = k;
    missing[node] = node->after.size();
    for (const GraphEdge &edge : node->after)
      next[edge.from].push_back(k);
  }
  std::set<size_t> ready; // by creation
  for (size_t k = 0; k < graph.nodes.size(); ++k)
    if (graph.nodes[k]->after.empty())
      ready.insert(k);
  std::vector<GraphNode *> order;
  while (!ready.empty()) {
    GraphNode *node = graph.nodes[*ready.begin()].get();
    ready.erase(ready.begin());
    order.push_back(node);
    for (size_t following : next[node])
      if (--missing[graph.nodes[following].get()] == 0)
        ready.insert(following);
  }
  if (order.size() != graph.nodes.size())
    order.clear();
  return order;
}

bool hasMemoryNodes(const Graph &graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto &node) {
    if (auto *child = std::get_if<ChildGraphWork>(&node->work))
      return hasMemoryNodes(*child->graph);
    return std::holds_alternative<MemoryAllocWork>(node->work) || std::holds_alternative<MemoryFreeWork>(node->work);
  });
}

CUgraphNodeType nodeType(const Work &work) {
  // In the order of the variant.
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,        CU_GRAPH_NODE_TYPE_KERNEL,    CU_GRAPH_NODE_TYPE_MEMCPY,
      CU_GRAPH_NODE_TYPE_MEMSET,       CU_GRAPH_NODE_TYPE_HOST,      CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT,   CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE,
      CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_GRAPH};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

} // namespace tenon::emulator

namespace {

CUgraphNode handleOf(GraphNode *node) {
  return reinterpret_cast<CUgraphNode>(node);
}

/// Nodes into the caller's array. Without one, their number; with a larger one, nulls behind them.
CUresult giveNodes(const std::vector<GraphNode *> &found, CUgraphNode *nodes, size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (nodes)
    for (size_t k = 0; k < *count; ++k)
      nodes[k] = k < found.size() ? handleOf(found[k]) : nullptr;
  *count = nodes ? std::min(*count, found.size()) : found.size();
  return CUDA_SUCCESS;
}

struct NamedEdge {
  GraphNode *from, *to;
  CUgraphEdgeData data;
};

bool isPlain(const CUgraphEdgeData &data) {
  CUgraphEdgeData none = {};
  return memcmp(&data, &none, sizeof none) == 0;
}

CUresult giveEdges(const std::vector<NamedEdge> &found, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                   size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!from && !to) {
    *count = found.size();
    return CUDA_SUCCESS;
  }
  // An edge with data must not be lost on a caller that does not ask for it.
  if (!data && std::any_of(found.begin(), found.end(), [](const NamedEdge &edge) { return !isPlain(edge.data); }))
    return CUDA_ERROR_LOSSY_QUERY;
  for (size_t k = 0; k < *count; ++k) {
    bool has = k < found.size();
    if (from)
      from[k] = has ? handleOf(found[k].from) : nullptr;
    if (to)
      to[k] = has ? handleOf(found[k].to) : nullptr;
    if (data)
      data[k] = has ? found[k].data : CUgraphEdgeData{};
  }
  *count = std::min(*count, found.size());
  return CUDA_SUCCESS;
}

std::vector<NamedEdge> edgesOf(const Graph &graph) {
  std::vector<NamedEdge> edges;
  for (const auto &node : graph.nodes)
    for (const GraphEdge &edge : node->after)
      edges.push_back({edge.from, node.get(), edge.data});
  return edges;
}

} // namespace

CUresult cuGraphCreate(CUgraph *out, unsigned flags) {
  TENON_ENTER();
  if (!out || flags)
    return CUDA_ERROR_INVALID_VALUE;
  auto graph = std::make_shared<Graph>();
  *out = reinterpret_cast<CUgraph>(graph.get());
  driver.graphs[graph.get()] = graph;
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph handle) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph || graph->isEmbedded)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Graph> last = driver.graphs[graph]; // goes when nothing walks the registry
  driver.graphs.erase(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph *out, CUgraph handle) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!out || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  if (hasMemoryNodes(*graph))
    return CUDA_ERROR_NOT_SUPPORTED;
  std::shared_ptr<Graph> clone = cloneGraph(*graph, true);
  driver.graphs[clone.get()] = clone;
  *out = reinterpret_cast<CUgraph>(clone.get());
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode handle, CUgraph cloneHandle) {
  TENON_ENTER();
  GraphNode *node = findNode(handle);
  Graph *clone = findGraph(cloneHandle);
  if (!out || !node || !clone)
    return CUDA_ERROR_INVALID_VALUE;
  for (auto &candidate : clone->nodes)
    if (candidate->origin == node->id) {
      *out = handleOf(candidate.get());
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
  TENON_ENTER();
  GraphNode *node = findNode(handle);
  if (!node || !type)
    return CUDA_ERROR_INVALID_VALUE;
  *type = nodeType(node->work);
  return CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode *> found;
  for (auto &node : graph->nodes)
    found.push_back(node.get());
  return giveNodes(found, nodes, count);
}
CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode *> found;
  for (auto &node : graph->nodes)
    if (node->after.empty())
      found.push_back(node.get());
  return giveNodes(found, nodes, count);
}
CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph || !from != !to)
    return CUDA_ERROR_INVALID_VALUE;
  return giveEdges(edgesOf(*graph), from, to, data, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count) {
  TENON_ENTER();
  GraphNode *node = findNode(handle);
  if (!node)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<NamedEdge> edges;
  for (const GraphEdge &edge : node->after)
    edges.push_back({edge.from, node, edge.data});
  return giveEdges(edges, nodes, nullptr, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count) {
  TENON_ENTER();
  GraphNode *node = findNode(handle);
  if (!node)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<NamedEdge> edges = edgesOf(*node->graph);
  std::erase_if(edges, [&](const NamedEdge &edge) { return edge.from != node; });
  return giveEdges(edges, nullptr, nodes, data, count);
}
CUresult cuGraphAddDependencies(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                const CUgraphEdgeData *data, size_t count) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph || (count && (!from || !to)))
    return CUDA_ERROR_INVALID_VALUE;
  // All or nothing: the edges are looked at before the first is made.
  std::vector<std::pair<GraphNode *, GraphEdge>> wanted;
  for (size_t k = 0; k < count; ++k) {
    GraphNode *node = findNode(to[k]);
    std::vector<GraphEdge> edge;
    CUresult result = edgesFrom(*graph, &from[k], data ? &data[k] : nullptr, 1, edge);
    if (result != CUDA_SUCCESS || !node || node->graph != graph || edge[0].from == node)
      return CUDA_ERROR_INVALID_VALUE;
    auto same = [&](const GraphEdge &other) { return other.from == edge[0].from; };
    bool twice = std::any_of(node->after.begin(), node->after.end(), same) ||
                 std::any_of(wanted.begin(), wanted.end(),
                             [&](const auto &other) { return other.first == node && same(other.second); });
    if (twice || nodeType(node->work) == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
        nodeType(node->work) == CU_GRAPH_NODE_TYPE_MEM_FREE)
      return twice ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    wanted.push_back({node, edge[0]});
  }
  for (auto &[node, edge] : wanted)
    node->after.push_back(edge);
  return CUDA_SUCCESS;
}
CUresult cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count) {
  TENON_ENTER();
  Graph *graph = findGraph(handle);
  if (!graph || (count && (!from || !to)))
    return CUDA_ERROR_INVALID_VALUE;
  auto find = [&](size_t k, GraphNode *node) {
    CUgraphEdgeData wanted = data ? data[k] : CUgraphEdgeData{};
    return std::find_if(node->after.begin(), node->after.end(), [&](const GraphEdge &edge) {
      return handleOf(edge.from) == from[k] && memcmp(&edge.data, &wanted, sizeof wanted) == 0;
    });
  };
  for (size_t k = 0; k < count; ++k) {
    GraphNode *node = findNode(to[k]);
    if (!node || node->graph != graph || find(k, node) == node->after.end())
      return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t k = 0; k < count; ++k) {
    GraphNode *node = findNode(to[k]);
    if (auto edge = find(k, node); edge != node->after.end())
      node->after.erase(edge);
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroyNode(CUgraphNode handle) {
  TENON_ENTER();
  GraphNode *node = findNode(handle);
  if (!node)
    return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeType type = nodeType(node->work);
  if (node->graph->isEmbedded || type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return CUDA_ERROR_NOT_SUPPORTED;
  Graph &graph = *node->graph;
  for (auto &other : graph.nodes)
    std::erase_if(other->after, [&](const GraphEdge &edge) { return edge.from == node; });
  driver.graphNodes.erase(node);
  std::erase_if(graph.nodes, [&](const auto &other) { return other.get() == node; });
  return CUDA_SUCCESS;
}
