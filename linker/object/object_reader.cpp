// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/object_reader.h"

#include "linker/access/plan/plan_builder.h"
#include "linker/access/plan/plan_table.h"
#include "linker/access/trace/kernel_tracer.h"
#include "ptx/parse/body_room.h"
#include "ptx/parse/parser.h"

#include <algorithm>
#include <iterator>

namespace tenon::linker {

std::vector<ParameterSlots> &TraceRequests::setsOf(std::string_view symbol) {
  uint32_t &number = numbers_[symbol];
  if (number == ptx::NameMap::kNone) {
    number = static_cast<uint32_t>(sets_.size());
    symbols_.push_back(symbol);
    sets_.emplace_back();
  }
  return sets_[number];
}

void TraceRequests::add(std::string_view symbol, ParameterSlots slots) {
  std::vector<ParameterSlots> &known = setsOf(symbol);
  if (std::find(known.begin(), known.end(), slots) == known.end())
    known.push_back(std::move(slots));
}

class ObjectReader::Reading {
public:
  explicit Reading(const TraceRequests &requests) : requests_(requests) {}

  std::unique_ptr<Object> run(const ObjectInput &input, Diagnostics &diagnostics) {
    auto object = std::make_unique<Object>();
    object_ = object.get();
    object->input = &input;
    object->cubin = input.cubin;
    auto source = std::make_shared<const SourceFile>(input.path, input.bytes);
    reset();
    Diagnostics found;
    object->module = ptx::parseBodies(
        source, found, [this](const ptx::Module &module, const ptx::Function &function) { visit(module, function); },
        room_);
    const bool parsed = !found.hasErrors();
    diagnostics.append(std::move(found));
    if (!parsed)
      return nullptr;
    plans_.names.learn(object->module);
    if (usesLateNames(object->module))
      readWhole(source);
    tracePending();
    indexNames(*object);
    object->bodies.assign(std::move_iterator(bodies_.begin()), std::move_iterator(bodies_.end()));
    object->traces.assign(std::move_iterator(traces_.begin()), std::move_iterator(traces_.end()));
    return object;
  }

private:
  void reset() {
    builder_.startModule();
    plans_ = PlanTable();
    pending_.clear();
    unknown_.clear();
    unknownNumbers_.clear();
    bodies_.clear();
    traces_.clear();
  }

  void visit(const ptx::Module &module, const ptx::Function &function) {
    plans_.names.learn(module);
    const auto index = static_cast<uint32_t>(&function - module.functions.data());
    bodies_.resize(std::max<size_t>(bodies_.size(), index + 1));
    const std::vector<ParameterSlots> *requested =
        function.isEntry ? requests_.find(function.name, nextRequest_) : nullptr;
    nextRequest_ += requested != nullptr; // kernels are mostly asked for in the order of the text
    noteStems(function);
    if (function.isEntry && !requested)
      return; // only called functions are wanted besides
    const ParameterSlots none;
    const ParameterSlots &slots = requested && !requested->empty() ? requested->front() : none;
    builder_.run(module, function, plans_.names, slots, plan_);
    bodies_[index] = findBodyFacts(module, function, builder_.uses(), plans_.names);
    noteUnknown(builder_.uses());
    if (!function.isEntry) {
      plans_.keep(std::move(plan_));
      plan_ = Plan();
      return;
    }
    for (const ParameterSlots &set : *requested) { // mostly one
      if (&set != &slots)
        builder_.run(module, function, plans_.names, set, plan_);
      traceOrKeep(module, set);
    }
  }

  /// A kernel that calls waits for what it calls.
  void traceOrKeep(const ptx::Module &module, const ParameterSlots &slots) {
    uint32_t count = 0;
    for (const ParameterSlot &slot : slots)
      count = std::max(count, slot.parameter + 1);
    if (count != plan_.parameterCount)
      return; // K-11
    if (plan_.calls.empty()) {
      traces_.push_back({plan_.function, slots, tracer_.run(module, plans_, plan_, slots)});
      return;
    }
    pending_.push_back({slots, std::move(plan_)});
    plan_ = Plan();
  }

  /// Kernels that call: the functions may stand behind them.
  void tracePending() {
    for (Pending &kernel : pending_)
      traces_.push_back(
          {kernel.plan.function, kernel.slots, tracer_.run(object_->module, plans_, kernel.plan, kernel.slots)});
    std::sort(traces_.begin(), traces_.end(),
              [](const TracedKernel &a, const TracedKernel &b) { return a.function < b.function; });
  }

  /// Stems of registers (`%r` of `.reg .b32 %r<9>`), each once for the object.
  void noteStems(const ptx::Function &function) {
    std::vector<std::string_view> &stems = object_->registerStems;
    for (const ptx::Variable &variable : function.declarations)
      if (variable.registerCount && std::find(stems.begin(), stems.end(), variable.name) == stems.end())
        stems.push_back(variable.name);
  }

  void noteUnknown(const ptx::DefUse &uses) {
    for (std::string_view name : uses.unknown) {
      if (name.starts_with('%'))
        continue; // a special register; usesLateNames looks for others
      uint32_t &number = unknownNumbers_[name];
      if (number == ptx::NameMap::kNone) {
        number = 0;
        unknown_.push_back(name);
      }
    }
  }

  /// Whether a body has used a name that is declared only behind it. PTX asks for the other order, but what is not
  /// understood must not pass for what is proved.
  bool usesLateNames(const ptx::Module &module) const {
    auto isSpecial = [](const auto &named) { return named.name.starts_with('%'); };
    return std::any_of(
               unknown_.begin(), unknown_.end(),
               [&](std::string_view name) { return plans_.names.find(name).kind != ptx::NameRef::Kind::Other; }) ||
           std::any_of(module.variables.begin(), module.variables.end(), isSpecial) ||
           std::any_of(module.functions.begin(), module.functions.end(), isSpecial);
  }

  /// Once more with all names known, bodies kept.
  void readWhole(const std::shared_ptr<const SourceFile> &source) {
    reset();
    Diagnostics none; // it was parsed before
    object_->module = ptx::parse(source, none);
    plans_.names.learn(object_->module);
    for (const ptx::Function &function : object_->module.functions)
      if (!function.isDeclaration)
        visit(object_->module, function);
  }

  const TraceRequests &requests_;
  PlanBuilder builder_;
  KernelTracer tracer_;
  Plan plan_;
  PlanTable plans_;
  size_t nextRequest_ = 0;
  struct Pending {
    ParameterSlots slots;
    Plan plan;
  };
  std::vector<Pending> pending_; // kernels that call
  std::vector<std::string_view> unknown_;
  ptx::NameMap unknownNumbers_;
  ptx::BodyRoom room_;
  // Of the object at hand. They grow here, in memory that is there for the next object, too.
  std::vector<BodyFacts> bodies_;
  std::vector<TracedKernel> traces_;
  Object *object_ = nullptr;
};

ObjectReader::ObjectReader(const TraceRequests &requests) : reading_(std::make_unique<Reading>(requests)) {}
ObjectReader::~ObjectReader() = default;

std::unique_ptr<Object> ObjectReader::read(const ObjectInput &input, Diagnostics &diagnostics) {
  return reading_->run(input, diagnostics);
}

} // namespace tenon::linker
