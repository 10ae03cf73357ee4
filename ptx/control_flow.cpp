// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/control_flow.h"

#include "ptx/words/name_map.h"

#include <utility>

namespace tenon::ptx {
namespace {

constexpr uint32_t kNoScope = UINT32_MAX;

bool isBranch(const Instruction &instruction) {
  return instruction.facts.control == Control::Branch || instruction.facts.control == Control::TableBranch;
}
/// Control does not come back, unless a predicate is false.
bool isExit(const Instruction &instruction) {
  return instruction.facts.control == Control::Exit;
}

} // namespace

class ControlFlowBuilder::Builder {
public:
  void run(const Function &function, ControlFlow &flow) {
    function_ = &function;
    flow_ = &flow;
    reset();
    formBlocks();
    addEdges();
    markReachable();
  }

private:
  struct Label {
    uint32_t scope = 0;
    uint32_t target = 0;             // an instruction, or a table of the function
    uint32_t other = NameMap::kNone; // the label of this name before it
  };
  /// Labels or tables by name; those of one name form a chain.
  struct Labels {
    NameMap last;
    std::vector<Label> all;
    void clear() {
      last.clear();
      all.clear();
    }
    void add(std::string_view name, Label label) {
      uint32_t &number = last[name];
      label.other = number;
      number = static_cast<uint32_t>(all.size());
      all.push_back(label);
    }
  };
  struct Branch {
    uint32_t instruction = 0, scope = 0;
  };

  void reset() {
    flow_->blocks.clear();
    flow_->edges.clear();
    flow_->unknown.clear();
    parents_.clear();
    labels_.clear();
    tables_.clear();
    branches_.clear();
    tableEdges_ = 0;
  }

  uint32_t count() const { return static_cast<uint32_t>(function_->instructions.size()); }

  /// One walk over the statements: scopes, labels, tables, branches, blocks. The block that begins with the instruction
  /// behind the last one is the end of the body: nothing follows it.
  void formBlocks() {
    parents_.push_back(kNoScope);
    uint32_t scope = 0, next = 0;
    flow_->blockOf.resize(count());
    uint32_t *blockOf = flow_->blockOf.data();
    bool opens = true; // the next instruction begins a block
    for (const Statement &statement : function_->statements) {
      switch (statement.kind) {
      case Statement::Kind::Instruction: {
        if (opens)
          beginBlock(next);
        blockOf[next] = static_cast<uint32_t>(flow_->blocks.size() - 1);
        const Control control = function_->instructions[next].facts.control;
        opens = control != Control::Next && control != Control::Call;
        if (opens && control != Control::Exit)
          branches_.push_back({next, scope});
        ++next;
        break;
      }
      case Statement::Kind::BlockBegin:
        parents_.push_back(scope);
        scope = static_cast<uint32_t>(parents_.size() - 1);
        break;
      case Statement::Kind::BlockEnd:
        scope = parents_[scope] == kNoScope ? scope : parents_[scope];
        break;
      case Statement::Kind::Label:
        labels_.add(statement.name, {.scope = scope, .target = next});
        opens = true;
        break;
      case Statement::Kind::BranchTargets:
        tables_.add(statement.name, {.scope = scope, .target = statement.index});
        break;
      case Statement::Kind::Declaration:
      case Statement::Kind::Loc:
      case Statement::Kind::Pragma:
      case Statement::Kind::CallTargets:
      case Statement::Kind::CallPrototype:
        break;
      }
    }
    beginBlock(count());
    flow_->blocks.back().end = count();
  }

  void beginBlock(uint32_t instruction) {
    if (!flow_->blocks.empty())
      flow_->blocks.back().end = instruction;
    flow_->blocks.push_back({.begin = instruction, .end = instruction});
  }

  uint32_t blockAt(uint32_t instruction) const {
    return instruction == count() ? static_cast<uint32_t>(flow_->blocks.size() - 1) : flow_->blockOf[instruction];
  }

  /// The label of this name in the nearest scope around `scope`, the first of its scope; else null.
  const Label *find(const Labels &labels, std::string_view name, uint32_t scope) const {
    const uint32_t last = labels.last.find(name);
    if (last == NameMap::kNone)
      return nullptr;
    for (; scope != kNoScope; scope = parents_[scope]) {
      const Label *found = nullptr;
      for (uint32_t i = last; i != NameMap::kNone; i = labels.all[i].other)
        if (labels.all[i].scope == scope)
          found = &labels.all[i];
      if (found)
        return found;
    }
    return nullptr;
  }

  void addTarget(const Branch &branch, std::string_view name) {
    if (const Label *label = find(labels_, name, branch.scope))
      flow_->edges.push_back(blockAt(label->target));
    else
      flow_->unknown.push_back({branch.instruction, name});
  }

  void addBranchEdges(const Branch &branch) {
    const Instruction &instruction = function_->instructions[branch.instruction];
    std::string_view name = instruction.operands.empty() ? std::string_view() : instruction.operands.back().name;
    if (instruction.facts.control == Control::Branch)
      return addTarget(branch, name);
    const Label *table = find(tables_, name, branch.scope);
    if (!table) {
      flow_->unknown.push_back({branch.instruction, name});
      return;
    }
    const std::vector<std::string_view> &entries = function_->tables[table->target].entries;
    // Jumps share tables, but not this many: the graph stays linear in the body.
    tableEdges_ += entries.size();
    if (tableEdges_ > 64 * function_->statements.size() + 65536) {
      flow_->unknown.push_back({branch.instruction, name});
      return;
    }
    for (std::string_view entry : entries)
      addTarget(branch, entry);
  }

  void addEdges() {
    size_t nextBranch = 0;
    for (uint32_t i = 0; i < flow_->blocks.size(); ++i) {
      BasicBlock &block = flow_->blocks[i];
      block.firstEdge = static_cast<uint32_t>(flow_->edges.size());
      if (block.begin != block.end) {
        const Instruction &last = function_->instructions[block.end - 1];
        const bool branches = isBranch(last);
        if (branches)
          addBranchEdges(branches_[nextBranch++]);
        if ((!branches && !isExit(last)) || !last.predicate.empty())
          flow_->edges.push_back(i + 1);
      }
      block.edgeCount = static_cast<uint32_t>(flow_->edges.size()) - block.firstEdge;
    }
  }

  void markReachable() {
    if (!flow_->unknown.empty()) {
      for (BasicBlock &block : flow_->blocks)
        block.reachable = true;
      return;
    }
    std::vector<uint32_t> &work = work_;
    work.assign(1, 0);
    flow_->blocks[0].reachable = true;
    while (!work.empty()) {
      const BasicBlock block = flow_->blocks[work.back()];
      work.pop_back();
      for (uint32_t successor : flow_->successors(block))
        if (!std::exchange(flow_->blocks[successor].reachable, true))
          work.push_back(successor);
    }
  }

  const Function *function_ = nullptr;
  ControlFlow *flow_ = nullptr;
  std::vector<uint32_t> parents_; // of each scope; kNoScope: the body itself
  Labels labels_, tables_;
  std::vector<Branch> branches_; // in source order
  std::vector<uint32_t> work_;
  size_t tableEdges_ = 0;
};

ControlFlowBuilder::ControlFlowBuilder() : builder_(std::make_unique<Builder>()) {}
ControlFlowBuilder::~ControlFlowBuilder() = default;

void ControlFlowBuilder::run(const Function &function, ControlFlow &flow) {
  builder_->run(function, flow);
}

ControlFlow computeControlFlow(const Function &function) {
  ControlFlow flow;
  ControlFlowBuilder().run(function, flow);
  return flow;
}

} // namespace tenon::ptx
