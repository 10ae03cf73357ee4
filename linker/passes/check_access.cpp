// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// K-13 and K-14: what a kernel does with the memory behind each binding, against what its declaration says.
//
// The trace (linker/access/trace/kernel_trace.h) finds what happens; here it becomes a verdict per binding, stored in
// the executable, and findings. A violation is an error only where the trace is certain that the instruction writes
// that binding; where it is not, a read-only binding is a warning, and under --strict an error.
#include "linker/access/trace/kernel_trace.h"
#include "linker/access/trace/source_line.h"
#include "linker/passes/passes.h"
#include "linker/symbol/demangle.h"

#include <algorithm>

namespace tenon::linker {
namespace {

std::string named(const std::string &name) {
  return name.empty() ? std::string() : concat(" '", name, "'");
}

AccessVerdict verdictOf(const KernelTrace &trace, const ParameterAccess &access) {
  if (access.written)
    return AccessVerdict::Written;
  if (trace.gaveUp || access.maybeWritten || access.stored || access.passed)
    return AccessVerdict::Unknown;
  return access.addressed ? AccessVerdict::ProvedReadOnly : AccessVerdict::Unused;
}

class Check {
public:
  Check(LinkContext &context, Kernel &kernel, const KernelTrace &trace)
      : context_(context), kernel_(kernel), declared_(context.exportOf(kernel)), trace_(withTensorMaps(trace)) {}

  void run() {
    const std::vector<abi::Binding> &bindings = declared_.layout.bindings;
    kernel_.access.reserve(bindings.size());
    for (uint32_t i = 0; i < bindings.size(); ++i)
      kernel_.access.push_back(verdictOf(trace_, trace_.parameters[i]));
    kernel_.writes = trace_.writesElsewhere || trace_.gaveUp;
    for (AccessVerdict verdict : kernel_.access)
      kernel_.writes |= verdict == AccessVerdict::Written || verdict == AccessVerdict::Unknown;
    for (uint32_t i = 0; i < bindings.size(); ++i) {
      if (bindings[i].readOnly)
        checkReadOnly(i);
      checkAlignment(i);
      checkNonCoherent(i);
    }
    // The compiler lays out what it generates; a pooling window is a binding of which only the shape matters.
    if (!trace_.gaveUp && kernel_.object->input->origin == abi::Origin::HandWritten)
      checkSlots();
  }

private:
  /// A binding that a tensor map describes is read and written through the map. Which map a store names does not show
  /// where there are several.
  const KernelTrace &withTensorMaps(const KernelTrace &trace) {
    const std::vector<abi::Constant> &constants = declared_.layout.constants;
    const auto maps = std::ranges::count(constants, abi::ConstantKind::TensorMap, &abi::Constant::kind);
    if (maps == 0)
      return trace;
    completed_ = trace;
    for (const abi::Constant &constant : constants) {
      if (!constant.map)
        continue;
      ParameterAccess &access = completed_.parameters[constant.map->binding];
      access.named = access.addressed = true;
      MaybePlace &write = maps == 1 ? access.written : access.maybeWritten;
      if (!write)
        write = trace.storedToMap;
    }
    return completed_;
  }

  const ptx::Function &entry() const { return *kernel_.entry; }
  std::string bindingText(uint32_t i) const { return concat("binding ", i, named(declared_.layout.bindings[i].name)); }
  /// Read again: only findings need it.
  const ptx::Instruction &instructionAt(const AccessPlace &place) const {
    return kernel_.object->bodyOf(place.function).instructions[place.instruction];
  }
  SourceLocation placeOf(const AccessPlace &place) const { return kernel_.object->placeOf(instructionAt(place)); }
  std::string opcodeAt(const AccessPlace &place) const { return instructionAt(place).form(); }
  /// "'saxpy'", "'store(float*)', which 'saxpy' calls,".
  std::string functionText(const AccessPlace &place) const {
    const ptx::Function &function = kernel_.object->module.functions[place.function];
    if (&function == &entry())
      return concat("'", entry().name, "'");
    const std::string name = demangle(function.name);
    return concat("'", name.empty() ? function.name : name, "', which '", entry().name, "' calls,");
  }
  Diagnostic &finish(Diagnostic &diagnostic, const AccessPlace *place) {
    if (place)
      if (std::optional<SourceLocation> line =
              sourceLine(kernel_.object->module, kernel_.object->bodyOf(place->function), place->instruction))
        diagnostic.note(*line, "the source line of this instruction");
    return noteDeclared(diagnostic, declared_);
  }
  Diagnostic &warning(const AccessPlace &place, std::string rule, std::string message) {
    return finish(context_.diagnostics.warning(placeOf(place), std::move(rule), std::move(message)), &place);
  }
  Diagnostic &slotFinding(bool isError, uint32_t parameter, std::string message) {
    SourceLocation where = kernel_.object->placeOf(entry().parameters[parameter]);
    return finish(isError ? context_.diagnostics.error(where, "K-14", std::move(message))
                          : context_.diagnostics.warning(where, "K-14", std::move(message)),
                  nullptr);
  }

  // ------------------------------------------------------------------------------------------------------------ K-13

  void checkReadOnly(uint32_t i) {
    const ParameterAccess &access = trace_.parameters[i];
    auto fix = [i] { return concat("declare binding ", i, " without read_only, or keep the kernel from writing it"); };
    if (access.written) {
      finish(context_.diagnostics.error(placeOf(*access.written), "K-13",
                                        concat(functionText(*access.written), " writes ", bindingText(i), " (",
                                               opcodeAt(*access.written), "), the layout declares it read-only")),
             &*access.written)
          .withFix(fix());
      return;
    }
    if (kernel_.access[i] != AccessVerdict::Unknown)
      return;
    const MaybePlace &place = access.maybeWritten ? access.maybeWritten : access.stored ? access.stored : access.passed;
    std::string message = concat("cannot prove that '", entry().name, "' does not write ", bindingText(i),
                                 ", which the layout declares read-only: ", whyUnknown(i));
    const SourceLocation where = place ? placeOf(*place) : kernel_.object->placeOf(entry());
    finish(context_.job.strict ? context_.diagnostics.error(where, "K-13", std::move(message))
                               : context_.diagnostics.warning(where, "K-13", std::move(message)),
           place ? &*place : nullptr)
        .withFix(fix());
  }

  std::string whyUnknown(uint32_t i) const {
    const ParameterAccess &access = trace_.parameters[i];
    if (access.maybeWritten)
      return concat("the address that ", opcodeAt(*access.maybeWritten), " writes may derive from it");
    if (access.stored)
      return concat(opcodeAt(*access.stored), " stores a pointer to it in memory");
    if (access.passed)
      return concat(opcodeAt(*access.passed), " passes a pointer to it to code that is not in this object");
    return "the kernel is too intricate to follow";
  }

  // ------------------------------------------------------------------------------------------------------------ K-14

  void checkAlignment(uint32_t i) {
    const ParameterAccess &access = trace_.parameters[i];
    const uint32_t declared = declared_.layout.bindings[i].alignment;
    if (!access.widest || access.lowBitsTested || std::max<uint32_t>(declared, 8) >= access.widestBytes)
      return;
    warning(*access.widest, "K-14",
            concat(functionText(*access.widest), " accesses ", bindingText(i), " ", access.widestBytes,
                   " bytes at a time (", opcodeAt(*access.widest), "), the layout promises ",
                   declared ? concat("alignment ", declared) : std::string("the alignment of its element alone")))
        .withFix(concat("declare alignment ", access.widestBytes, " on binding ", i,
                        ", or test the pointer's low bits and take a narrow path"));
  }

  void checkNonCoherent(uint32_t i) {
    const ParameterAccess &access = trace_.parameters[i];
    if (!access.nonCoherent || !access.written)
      return;
    Diagnostic &found =
        warning(*access.nonCoherent, "K-14",
                concat(functionText(*access.nonCoherent), " reads ", bindingText(i), " through the read-only cache (",
                       opcodeAt(*access.nonCoherent), ") and the kernel writes it: the read may miss the write"));
    found.note(placeOf(*access.written), concat("written here by ", opcodeAt(*access.written)));
    found.withFix("take __restrict__, const or __ldg off this pointer in the kernel");
  }

  /// Slots that are not used as what they are declared. Where a constant is an address and a binding of the same kernel
  /// is none, the two are swapped; each alone may be meant.
  void checkSlots() {
    const abi::ParameterLayout &layout = *context_.parameterLayouts[kernel_.exportOrdinal];
    bool anyNamed = false, bindingIsNoAddress = false, constantIsAddress = false;
    for (size_t i = 0; i < layout.parameters.size(); ++i) {
      anyNamed |= trace_.parameters[i].named;
      bindingIsNoAddress |= isArithmeticBinding(layout.parameters[i], trace_.parameters[i]);
      constantIsAddress |= isAddressConstant(layout.parameters[i], trace_.parameters[i]);
    }
    if (!anyNamed)
      return; // a kernel that takes no notice of its parameters cannot have them in the wrong order
    const bool swapped = bindingIsNoAddress && constantIsAddress;
    for (uint32_t i = 0; i < layout.parameters.size(); ++i)
      checkSlot(layout.parameters[i], i, swapped);
  }

  static bool isArithmeticBinding(const abi::Parameter &slot, const ParameterAccess &access) {
    return slot.kind == abi::ParameterKind::Binding && access.named && !access.addressed;
  }
  bool isAddressConstant(const abi::Parameter &slot, const ParameterAccess &access) const {
    if (slot.kind != abi::ParameterKind::Constant || !access.aloneInAddress)
      return false;
    const abi::Constant &constant = declared_.layout.constants[slot.index];
    return constant.kind == abi::ConstantKind::Scalar && constant.size == 8; // a struct may hold pointers
  }

  void checkSlot(const abi::Parameter &slot, uint32_t i, bool swapped) {
    const ParameterAccess &access = trace_.parameters[i];
    if (slot.kind == abi::ParameterKind::Binding && !access.named) {
      slotFinding(false, i, concat("'", entry().name, "' does not use ", bindingText(slot.index)))
          .withFix("check the order of the layout's slots; or drop the binding and the kernel's parameter");
    } else if (isArithmeticBinding(slot, access)) {
      slotFinding(swapped, i,
                  concat("'", entry().name, "' uses parameter ", i,
                         " as a number, never as an address; the layout "
                         "declares ",
                         bindingText(slot.index)))
          .withFix(swapped ? "the layout's slots and the kernel's parameters stand in a different order"
                           : "check the order of the layout's slots");
    } else if (isAddressConstant(slot, access)) {
      slotFinding(swapped, i,
                  concat("'", entry().name, "' uses parameter ", i, " as an address; the layout declares constant ",
                         slot.index, named(declared_.layout.constants[slot.index].name)))
          .note(placeOf(*access.aloneInAddress), concat("used here by ", opcodeAt(*access.aloneInAddress)))
          .withFix(swapped ? "the layout's slots and the kernel's parameters stand in a different order"
                           : "declare a binding: only bindings are buffers that the program keeps alive and in order");
    }
  }

  LinkContext &context_;
  Kernel &kernel_;
  const abi::Export &declared_;
  KernelTrace completed_; // where tensor maps add to what was traced
  const KernelTrace &trace_;
};

} // namespace

static void addPointers(const abi::ParameterLayout &layout, std::vector<bool> &pointers) {
  for (const abi::Parameter &slot : layout.parameters)
    pointers.push_back(slot.kind != abi::ParameterKind::Constant);
}

std::vector<bool> pointersOf(const abi::ParameterLayout &layout) {
  std::vector<bool> pointers;
  pointers.reserve(layout.parameters.size());
  addPointers(layout, pointers);
  return pointers;
}

void checkAccess(LinkContext &context) {
  std::vector<bool> pointers;
  for (Variant &variant : context.variants)
    for (Kernel &kernel : variant.kernels) {
      if (kernel.object->isMetadataOnly)
        continue; // K-18: there are no bodies to look at
      const std::optional<abi::ParameterLayout> &layout = context.parameterLayouts[kernel.exportOrdinal];
      if (!layout || layout->parameters.size() != kernel.entry->parameters.size())
        continue;       // K-3, K-11: nobody knows which parameter is which binding
      pointers.clear(); // one for all: this is done for every kernel of a job
      addPointers(*layout, pointers);
      kernel.trace = kernel.object->traceOf(*kernel.entry, pointers);
      if (kernel.trace)
        Check(context, kernel, *kernel.trace).run();
    }
}

} // namespace tenon::linker
