// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// K-13 and K-14: what a kernel does with the memory behind each binding, against what its declaration says.
//
// The trace (linker/access/trace/kernel_trace.h) finds what happens; here it becomes a verdict per binding, stored in
// the executable, and findings. A violation is an error only where the trace is certain that the instruction writes
// that binding; where it is not, a read-only binding is a warning, and under --strict an error.
#include "linker/access/trace/kernel_trace.h"
#include "linker/access/trace/source_line.h"
#include "linker/passes/advice.h"
#include "linker/passes/passes.h"
#include "support/text/demangle.h"

#include <algorithm>

namespace tenon::linker {
namespace {

std::string named(const std::string &name) {
  return name.empty() ? std::string() : concat(" '", name, "'");
}

AccessVerdict verdictOf(const KernelTrace &trace, const SlotAccess &access) {
  if (access.written)
    return AccessVerdict::Written;
  if (trace.gaveUp || access.maybeWritten || access.stored || access.passed || access.steers)
    return AccessVerdict::Unknown;
  return access.addressed ? AccessVerdict::ProvedReadOnly : AccessVerdict::Unused;
}

/// Calls visit(place, slot) for each slot of the trace: every parameter, and behind it the pointers that stand within
/// it and the addresses of described tensor maps. `slot` is what stands at the place; null where it is the rest of a
/// struct.
template <typename Visit> void forEachSlot(const abi::ParameterLayout &layout, Visit visit) {
  auto slot = layout.slots.begin();
  auto visitMap = [&](const abi::Slot &constant) {
    if (constant.kind == abi::ParameterKind::Constant && constant.tensorMap != abi::Slot::kNoTensorMap)
      visit(ParameterSlot{.parameter = constant.parameter, .offset = layout.offsetIn(constant), .isMap = true},
            &constant);
  };
  for (uint32_t k = 0; k < layout.parameters.size(); ++k) {
    const abi::ParameterKind kind = layout.parameters[k].kind;
    const bool isPointer = kind == abi::ParameterKind::Binding || kind == abi::ParameterKind::Hidden;
    const bool isOne = kind != abi::ParameterKind::Struct;
    visit(ParameterSlot{.parameter = k, .isPointer = isPointer}, isOne ? &*slot : nullptr);
    if (isOne)
      visitMap(*slot++);
    for (; slot != layout.slots.end() && slot->parameter == k; ++slot)
      if (slot->kind != abi::ParameterKind::Constant)
        visit(ParameterSlot{.parameter = k, .offset = layout.offsetIn(*slot), .isPointer = true}, &*slot);
      else
        visitMap(*slot);
  }
}

class Check {
public:
  Check(LinkContext &context, Kernel &kernel, const KernelTrace &trace)
      : context_(context), kernel_(kernel), declared_(context.exportOf(kernel)),
        layout_(*context.parameterLayouts[kernel.exportOrdinal]), slotOfBinding_(findBindings()),
        trace_(withTensorMaps(trace)) {}

  void run() {
    const std::vector<abi::Binding> &bindings = declared_.layout.bindings;
    kernel_.access.reserve(bindings.size());
    for (uint32_t i = 0; i < bindings.size(); ++i)
      kernel_.access.push_back(verdictOf(trace_, accessOf(i)));
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
  static constexpr uint32_t kNoSlot = ~uint32_t(0);

  /// Where the trace answers for each binding: kNoSlot where only a tensor map leads to it. Empty: binding i is slot i.
  std::vector<uint32_t> findBindings() const {
    std::vector<uint32_t> slots;
    if (declared_.layout.parameters.empty())
      return slots;
    slots.resize(declared_.layout.bindings.size(), kNoSlot);
    uint32_t next = 0;
    forEachSlot(layout_, [&](const ParameterSlot &, const abi::Slot *slot) {
      if (slot && slot->kind == abi::ParameterKind::Binding)
        slots[slot->index] = next;
      ++next;
    });
    return slots;
  }

  /// A binding that a tensor map describes is read and written through the map. A store whose map is not certain may
  /// write what any of them describes.
  const KernelTrace &withTensorMaps(const KernelTrace &trace) {
    if (layout_.tensorMaps.empty())
      return trace;
    completed_ = trace;
    for (uint32_t &slot : slotOfBinding_)
      if (slot == kNoSlot) {
        slot = uint32_t(completed_.slots.size());
        completed_.slots.emplace_back();
      }
    uint32_t next = 0;
    forEachSlot(layout_, [&](const ParameterSlot &place, const abi::Slot *slot) {
      const SlotAccess &through = trace.slots[next++];
      if (!place.isMap)
        return;
      SlotAccess &access = completed_.slots[slotOf(declared_.layout.constants[slot->index].map->binding)];
      access.named = access.addressed = true;
      for (MaybePlace SlotAccess::*how : {&SlotAccess::written, &SlotAccess::maybeWritten})
        if (!(access.*how))
          access.*how = through.*how;
      if (!access.maybeWritten)
        access.maybeWritten = trace.storedToMap;
    });
    return completed_;
  }

  uint32_t slotOf(uint32_t binding) const { return slotOfBinding_.empty() ? binding : slotOfBinding_[binding]; }
  const SlotAccess &accessOf(uint32_t binding) const { return trace_.slots[slotOf(binding)]; }
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
    const SlotAccess &access = accessOf(i);
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
    const MaybePlace &place = firstPlace(access);
    std::string message = concat("cannot prove that '", entry().name, "' does not write ", bindingText(i),
                                 ", which the layout declares read-only: ", whyUnknown(i));
    const SourceLocation where = place ? placeOf(*place) : kernel_.object->placeOf(entry());
    finish(context_.job.strict ? context_.diagnostics.error(where, "K-13", std::move(message))
                               : context_.diagnostics.warning(where, "K-13", std::move(message)),
           place ? &*place : nullptr)
        .withFix(fix());
  }

  static const MaybePlace &firstPlace(const SlotAccess &access) {
    return access.maybeWritten ? access.maybeWritten
           : access.stored     ? access.stored
           : access.passed     ? access.passed
                               : access.steers;
  }

  std::string whyUnknown(uint32_t i) const {
    const SlotAccess &access = accessOf(i);
    if (access.maybeWritten && instructionAt(*access.maybeWritten).hasModifier("tensor"))
      return concat("the tensor map that ", opcodeAt(*access.maybeWritten), " stores through may lead to it");
    if (access.maybeWritten)
      return concat("the address that ", opcodeAt(*access.maybeWritten), " writes may derive from it");
    if (access.stored)
      return concat(opcodeAt(*access.stored), " stores a pointer to it in memory");
    if (access.passed)
      return concat(opcodeAt(*access.passed), " passes a pointer to it to code that is not in this object");
    if (access.steers)
      return concat("which way the kernel goes at ", opcodeAt(*access.steers),
                    " depends on bits of the pointer, so its writes may be aimed with them");
    return "the kernel is too intricate to follow";
  }

  // ------------------------------------------------------------------------------------------------------------ K-14

  void checkAlignment(uint32_t i) {
    const SlotAccess &access = accessOf(i);
    const uint32_t declared = declared_.layout.bindings[i].alignment;
    if (!access.widest || access.lowBitsTested || std::max<uint32_t>(declared, 8) >= access.widestBytes)
      return;
    warning(*access.widest, "K-14",
            concat(functionText(*access.widest), " accesses ", bindingText(i), " ", access.widestBytes,
                   " bytes at a time (", opcodeAt(*access.widest), "), the layout promises ",
                   declared ? concat("alignment ", declared) : std::string("the alignment of its element alone")))
        .withFix(concat(alignmentAdvice(declared_, i, access.widestBytes),
                        "; or test the pointer's low bits and take a narrow path"));
  }

  void checkNonCoherent(uint32_t i) {
    const SlotAccess &access = accessOf(i);
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
    bool anyNamed = false, bindingIsNoAddress = false, constantIsAddress = false;
    forEachAccess([&](const ParameterSlot &, const abi::Slot *slot, const SlotAccess &access) {
      anyNamed |= access.named;
      bindingIsNoAddress |= isArithmeticBinding(slot, access);
      constantIsAddress |= isAddressConstant(slot, access);
    });
    if (!anyNamed)
      return; // a kernel that takes no notice of its parameters cannot have them in the wrong order
    const bool swapped = bindingIsNoAddress && constantIsAddress;
    forEachAccess([&](const ParameterSlot &place, const abi::Slot *slot, const SlotAccess &access) {
      checkSlot(place, slot, access, swapped);
    });
  }

  template <typename Visit> void forEachAccess(Visit visit) const {
    uint32_t next = 0;
    forEachSlot(layout_,
                [&](const ParameterSlot &place, const abi::Slot *slot) { visit(place, slot, trace_.slots[next++]); });
  }

  static bool isArithmeticBinding(const abi::Slot *slot, const SlotAccess &access) {
    return slot && slot->kind == abi::ParameterKind::Binding && access.named && !access.addressed;
  }
  bool isAddressConstant(const abi::Slot *slot, const SlotAccess &access) const {
    if (!slot || slot->kind != abi::ParameterKind::Constant || !access.aloneInAddress)
      return false;
    const abi::Constant &constant = declared_.layout.constants[slot->index];
    return constant.kind == abi::ConstantKind::Scalar && constant.size == 8; // a struct may hold pointers
  }

  /// "parameter 2", "byte 8 of parameter 2".
  static std::string placeText(const ParameterSlot &place) {
    return place.offset == 0 ? concat("parameter ", place.parameter)
                             : concat("byte ", place.offset, " of parameter ", place.parameter);
  }

  void checkSlot(const ParameterSlot &place, const abi::Slot *slot, const SlotAccess &access, bool swapped) {
    const uint32_t i = place.parameter;
    if (slot && slot->kind == abi::ParameterKind::Binding && !access.named) {
      slotFinding(false, i, concat("'", entry().name, "' does not use ", bindingText(slot->index)))
          .withFix("check the order of the layout's slots; or drop the binding and the kernel's parameter");
    } else if (isArithmeticBinding(slot, access)) {
      slotFinding(swapped, i,
                  concat("'", entry().name, "' uses ", placeText(place),
                         " as a number, never as an address; the layout "
                         "declares ",
                         bindingText(slot->index)))
          .withFix(swapped ? "the layout's slots and the kernel's parameters stand in a different order: list the "
                             "kernel's ('parameters', K-3)"
                           : "check the order of the layout's slots");
    } else if (isAddressConstant(slot, access)) {
      slotFinding(swapped, i,
                  concat("'", entry().name, "' uses ", placeText(place),
                         " as an address; the layout declares constant ", slot->index,
                         named(declared_.layout.constants[slot->index].name)))
          .note(placeOf(*access.aloneInAddress), concat("used here by ", opcodeAt(*access.aloneInAddress)))
          .withFix(swapped ? "the layout's slots and the kernel's parameters stand in a different order: list the "
                             "kernel's ('parameters', K-3)"
                           : "declare a binding: only bindings are buffers that the program keeps alive and in order");
    }
  }

  LinkContext &context_;
  Kernel &kernel_;
  const abi::Export &declared_;
  const abi::ParameterLayout &layout_;
  std::vector<uint32_t> slotOfBinding_;
  KernelTrace completed_; // where tensor maps add to what was traced
  const KernelTrace &trace_;
};

} // namespace

static void addSlots(const abi::ParameterLayout &layout, ParameterSlots &slots) {
  forEachSlot(layout, [&](const ParameterSlot &place, const abi::Slot *) { slots.push_back(place); });
}

ParameterSlots slotsOf(const abi::ParameterLayout &layout) {
  ParameterSlots slots;
  slots.reserve(layout.parameters.size());
  addSlots(layout, slots);
  return slots;
}

void checkAccess(LinkContext &context) {
  ParameterSlots slots;
  for (Variant &variant : context.variants)
    for (Kernel &kernel : variant.kernels) {
      if (kernel.object->isMetadataOnly)
        continue; // K-18: there are no bodies to look at
      const std::optional<abi::ParameterLayout> &layout = context.parameterLayouts[kernel.exportOrdinal];
      if (!layout || layout->parameters.size() != kernel.entry->parameters.size())
        continue;    // K-3, K-11: nobody knows which parameter is which binding
      slots.clear(); // one for all: this is done for every kernel of a job
      addSlots(*layout, slots);
      kernel.trace = kernel.object->traceOf(*kernel.entry, slots);
      if (kernel.trace)
        Check(context, kernel, *kernel.trace).run();
    }
}

} // namespace tenon::linker
