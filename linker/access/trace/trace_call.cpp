// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/kernel_tracer.h"

namespace tenon::linker {

/// A .param variable, and in what nobody stores to, what another call has left there: anything of every pointer.
static Cell withBlanks(Cell cell, std::span<const BlankBytes> blank, const Secrets &secrets) {
  for (const BlankBytes &place : blank)
    storeInto(cell, place.offset, place.bytes, Origins::partOf(secrets.pointers));
  return cell;
}

Cell KernelTracer::passedValue(const Instance &instance, const Passed &passed) const {
  if (passed.isCell)
    return withBlanks(instance.cells[passed.index], passed.blank, algebra_.secrets);
  return {{0, 8, instance.values[passed.index]}};
}

void KernelTracer::receive(Instance &instance, const Passed &result, const Cell &value, const Step &step) {
  if (result.isCell) {
    sweepChanged_ |= joinInto(instance.cells[result.index], value);
    return;
  }
  const Origins all = value.size() == 1 ? value.front().value : loadAnywhere(value, algebra_.secrets);
  Plan &plan = *instance.plan;
  if (result.index >= plan.registerCount)
    return;
  Origins &held = instance.values[result.index];
  if (instance.isTracked(result.index))
    held = step.predicated ? Origins(held).join(all) : all;
  else
    sweepChanged_ |= joinInto(held, all);
}

/// The plan of a function's definition, wherever in the module that stands; null without one.
Plan *KernelTracer::planOf(uint32_t function) {
  if (function == kNoFunction)
    return nullptr;
  if (module_->functions[function].isDeclaration)
    function = plans_->names.find(module_->functions[function].name).index;
  // No kernel is in the table: they are launched, not called.
  Plan *plan = plans_->find(function);
  return plan && !plan->hasRegisterParameters ? plan : nullptr;
}

void KernelTracer::call(Instance &instance, const CallSite &site, const Step &step, uint32_t depth) {
  const AccessPlace place{instance.plan->function, step.instruction};
  Plan *callee = planOf(site.callee);
  if (!callee || callee->parameterCount != site.arguments.size() || callee->returnCount != site.results.size())
    return callUnknown(instance, site, step, place);
  std::vector<Cell> arguments;
  for (const Passed &passed : site.arguments) {
    arguments.push_back(passedValue(instance, passed));
    for (const CellEntry &entry : arguments.back())
      if (!entry.value.isKnown()) { // not computed yet: a later sweep comes by
        gaveUp_ |= recording_;
        return;
      }
  }
  Instance &called = instanceFor(callee->function, *callee, std::move(arguments));
  if (recording_)
    record(called, depth + 1);
  else
    runInstance(called, depth + 1);
  for (size_t i = 0; i < site.results.size(); ++i)
    receive(instance, site.results[i], withBlanks(called.returns[i], callee->blankReturns[i], algebra_.secrets), step);
}

/// printf and assert read their arguments; what any other unknown code does is unknown.
void KernelTracer::callUnknown(Instance &instance, const CallSite &site, const Step &step, AccessPlace place) {
  const bool reads = site.callee != kNoFunction && (site.name == "vprintf" || site.name == "__assertfail");
  if (!reads) {
    for (const Passed &passed : site.arguments)
      for (const CellEntry &entry : passedValue(instance, passed))
        escape(entry.value, &SlotAccess::passed, place);
    if (recording_ && site.name != "malloc")
      findings_.writesElsewhere();
  }
  Origins value = Origins::of(kForeign);
  if (!reads && site.name != "malloc")
    for (const Passed &passed : site.arguments) { // it may hand back what it was given, or something made of it
      const Cell cell = passedValue(instance, passed);
      value.join(loadAnywhere(cell, algebra_.secrets));
    }
  for (const Passed &result : site.results)
    receive(instance, result, anywhere(value), step);
}

} // namespace tenon::linker
