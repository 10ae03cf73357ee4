// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver copies the parameter block byte for byte into the kernel's parameter space, so what counts is where each
// parameter begins and how wide it is. PTX says it exactly: each `.param` follows the one before at its own alignment
// (PTX ISA, "Kernel Function Parameter Attributes"), the same rule as K-3 on the layout's side. What PTX does not say,
// the element behind a pointer or whether 32 bits are a float, is checked only as far as it goes.
#include "abi/arch_table.h"
#include "linker/passes/advice.h"
#include "linker/passes/passes.h"
#include "ptx/parameter_offsets.h"

namespace tenon::linker {
namespace {

std::string_view spaceText(ptx::StateSpace space) {
  switch (space) {
  case ptx::StateSpace::Generic:
    return "";
  case ptx::StateSpace::Reg:
    return ".reg ";
  case ptx::StateSpace::Sreg:
    return ".sreg ";
  case ptx::StateSpace::Const:
    return ".const ";
  case ptx::StateSpace::Global:
    return ".global ";
  case ptx::StateSpace::Local:
    return ".local ";
  case ptx::StateSpace::Param:
    return ".param ";
  case ptx::StateSpace::Shared:
    return ".shared ";
  case ptx::StateSpace::Tex:
    return ".tex ";
  }
}

/// ".u32", ".u64 .ptr .global .align 16", ".align 8 .b8 [24]".
std::string parameterText(const ptx::Variable &parameter) {
  std::string text;
  if (parameter.alignment)
    text += concat(".align ", parameter.alignment, ' ');
  text += concat('.', ptx::spelling(parameter.type));
  if (parameter.isArray)
    text += concat(" [", parameter.bytes(), ']');
  if (parameter.hasPtr) {
    text += concat(" .ptr ", spaceText(parameter.ptrSpace));
    text += parameter.ptrAlignment ? concat(".align ", parameter.ptrAlignment) : "";
    if (text.back() == ' ')
      text.pop_back();
  }
  return text;
}

constexpr const char *kPointerFix =
    "it is a pointer: declare a binding; where a constant comes before it, list the parameters in their order "
    "('parameters', K-3)";
constexpr const char *kTensorMapFix = "take it as `const __grid_constant__ CUtensorMap`";

std::string named(const std::string &name) {
  return name.empty() ? std::string() : concat(" '", name, "'");
}

/// "binding 2 (a 64-bit pointer)", "constant 0 'size' (i32)".
std::string slotText(const abi::Layout &layout, const abi::Parameter &slot) {
  switch (slot.kind) {
  case abi::ParameterKind::Struct:
    return concat("a struct of ", slot.size, " bytes, alignment ", slot.alignment);
  case abi::ParameterKind::Binding:
    return concat("binding ", slot.index, named(layout.bindings[slot.index].name), " (.u64, a pointer)");
  case abi::ParameterKind::Hidden:
    return concat("hidden pointer ", slot.index, " (.u64)");
  case abi::ParameterKind::Constant:
    break;
  }
  const abi::Constant &constant = layout.constants[slot.index];
  std::string text = concat("constant ", slot.index, named(constant.name), " (");
  switch (constant.kind) {
  case abi::ConstantKind::Word:
    text += "a 32-bit word";
    break;
  case abi::ConstantKind::Scalar:
    text += abi::spelling(constant.element);
    break;
  case abi::ConstantKind::Struct:
    text += concat("a struct of ", constant.size, " bytes, alignment ", constant.alignment);
    break;
  case abi::ConstantKind::TensorMap:
    text += concat("a tensor map of ", constant.size, " bytes, alignment ", constant.alignment);
    break;
  }
  return text + ")";
}

/// "3 bindings, 1 constant and 2 hidden pointers".
std::string layoutText(const abi::Layout &layout) {
  auto count = [](size_t n, const char *noun) { return concat(n, ' ', noun, n == 1 ? "" : "s"); };
  if (!layout.parameters.empty()) {
    std::string listed;
    for (const abi::DeclaredParameter &parameter : layout.parameters)
      listed += concat(listed.empty() ? "" : ", ", parameter.toString());
    return layout.hiddenPointers ? concat(listed, " and ", count(layout.hiddenPointers, "hidden pointer")) : listed;
  }
  std::string text = concat(count(layout.bindings.size(), "binding"), layout.hiddenPointers ? ", " : " and ",
                            count(layout.constants.size(), "constant"));
  if (layout.hiddenPointers)
    text += concat(" and ", count(layout.hiddenPointers, "hidden pointer"));
  return text;
}

/// One kernel against its layout.
class Check {
public:
  Check(LinkContext &context, const Kernel &kernel, const abi::ParameterLayout &wanted)
      : context_(context), kernel_(kernel), declared_(context.exportOf(kernel)), wanted_(wanted) {}

  void run() {
    checkTotal();
    if (kernel_.entry->parameters.size() != wanted_.parameters.size()) {
      reportCount(); // slots would only repeat it, shifted
      return;
    }
    const std::vector<uint64_t> offsets = ptx::parameterOffsets(*kernel_.entry).offsets;
    bool shifted = false;
    for (size_t i = 0; i < wanted_.parameters.size(); ++i) {
      bool fits = checkWidth(i) && checkKind(i);
      if (!fits && !fittingOrder().empty())
        return; // the rest would say the same
      if (fits && !shifted)
        checkOffset(i, offsets[i]);
      shifted |= offsets[i] != wanted_.parameters[i].offset || !fits;
    }
  }

private:
  const ptx::Variable &parameterAt(size_t i) const { return kernel_.entry->parameters[i]; }
  std::string subject(size_t i) const {
    return concat("parameter ", i, " of '", kernel_.entry->name, "' is ", parameterText(parameterAt(i)));
  }
  std::string wantedText(size_t i) const {
    return concat("the layout declares ", slotText(declared_.layout, wanted_.parameters[i]));
  }
  Diagnostic &error(size_t i, std::string message) {
    return noteDeclared(context_.diagnostics.error(kernel_.object->placeOf(parameterAt(i)), "K-4", std::move(message)),
                        declared_);
  }
  Diagnostic &warning(size_t i, std::string message) {
    return noteDeclared(
        context_.diagnostics.warning(kernel_.object->placeOf(parameterAt(i)), "K-4", std::move(message)), declared_);
  }

  void checkTotal() {
    const ptx::Module &module = kernel_.object->module;
    const uint32_t limit = abi::maxParameterBytes(module.isa, module.target.number);
    const bool large = limit == abi::kMaxParameterBytes;
    if (wanted_.bytes <= limit)
      return;
    noteDeclared(context_.diagnostics.error(kernel_.object->placeOf(*kernel_.entry), "K-5",
                                            concat("parameters of '", kernel_.entry->name, "' take ", wanted_.bytes,
                                                   " bytes, ", module.target.toString(), " with PTX ISA ",
                                                   module.isa / 10, '.', module.isa % 10, " takes at most ", limit)),
                 declared_)
        .withFix(large ? "pass the data through a buffer"
                       : "build for sm_70 or later with PTX ISA 8.1 or later (CUDA 12.1), or "
                         "pass the data through a buffer");
  }

  void reportCount() {
    const std::vector<ptx::Variable> &parameters = kernel_.entry->parameters;
    std::string listed;
    for (const ptx::Variable &parameter : parameters)
      listed += concat(listed.empty() ? "" : ", ", parameterText(parameter));
    Diagnostic &error =
        noteDeclared(context_.diagnostics.error(kernel_.object->placeOf(*kernel_.entry), "K-11",
                                                concat("'", kernel_.entry->name, "' has ", parameters.size(),
                                                       parameters.size() == 1 ? " parameter (" : " parameters (",
                                                       listed, "), the layout declares ", wanted_.parameters.size(),
                                                       " (", layoutText(declared_.layout), ")")),
                     declared_);
    error.withFix(countFix());
  }

  std::string countFix() const {
    const std::vector<ptx::Variable> &parameters = kernel_.entry->parameters;
    size_t pointers = 0;
    while (pointers < parameters.size() && parameters[pointers].bytes() == 8 && !parameters[pointers].isArray)
      ++pointers;
    const size_t have = wanted_.parameters.size();
    if (parameters.size() > have && have > 0) {
      bool trailing = true;
      for (size_t i = have; i < parameters.size(); ++i)
        trailing &= parameters[i].hasPtr;
      if (trailing && declared_.layout.hiddenPointers == 0)
        return concat("declare ", parameters.size() - have, " more binding", parameters.size() - have == 1 ? "" : "s",
                      "; or, if they are a compiler's scratch pointers (Triton), ",
                      "hidden_pointers = ", parameters.size() - have);
    }
    if (!declared_.layout.parameters.empty())
      return "list each parameter of the kernel once in 'parameters': a binding for a pointer, a constant for a value, "
             "a "
             "struct as one";
    return concat("declare one binding per pointer and one constant per scalar, and their order where it is another "
                  "('parameters'); this kernel begins with ",
                  pointers, pointers == 1 ? " 64-bit parameter and has " : " 64-bit parameters and has ",
                  parameters.size() - pointers, " after ", pointers == 1 ? "it" : "them",
                  " (a 64-bit scalar is one constant: constants = [i64])");
  }

  /// An order of the declared bindings and constants that fits the kernel, where the declared one does not and the
  /// widths leave no choice; else empty. A 64-bit constant could be a pointer, so such layouts are left alone.
  std::vector<abi::DeclaredParameter> fittingOrder() const {
    const abi::Layout &layout = declared_.layout;
    std::vector<abi::DeclaredParameter> order;
    for (const abi::DeclaredParameter &parameter : layout.parameters)
      if (parameter.kind == abi::ParameterKind::Struct || parameter.kind == abi::ParameterKind::Hidden ||
          !parameter.members.empty())
        return order;
    uint32_t bindings = 0, constants = 0;
    const std::vector<ptx::Variable> &parameters = kernel_.entry->parameters;
    for (size_t i = 0; i + layout.hiddenPointers < parameters.size(); ++i) {
      const ptx::Variable &parameter = parameters[i];
      const bool isPointer = parameter.bytes() == 8 && !parameter.isArray && !isFloat(parameter.type);
      if (isPointer && bindings < layout.bindings.size())
        order.push_back(abi::DeclaredParameter::binding(bindings++));
      else if (!isPointer && constants < layout.constants.size() &&
               layout.constants[constants].size == parameter.bytes())
        order.push_back(abi::DeclaredParameter::constant(constants++));
      else
        return {};
    }
    const bool isWhole = bindings == layout.bindings.size() && constants == layout.constants.size();
    return isWhole ? order : std::vector<abi::DeclaredParameter>();
  }

  std::string orderFix(std::string_view otherwise) const {
    const std::vector<abi::DeclaredParameter> order = fittingOrder();
    return order.empty() ? std::string(otherwise) : orderAdvice(declared_, order);
  }

  bool checkWidth(size_t i) {
    const ptx::Variable &parameter = parameterAt(i);
    const abi::Parameter &slot = wanted_.parameters[i];
    if (parameter.bytes() == slot.size)
      return true;
    error(i,
          concat(subject(i), " (", parameter.bytes(), parameter.bytes() == 1 ? " byte), " : " bytes), ", wantedText(i)))
        .withFix(widthFix(parameter, slot));
    return false;
  }

  std::string widthFix(const ptx::Variable &parameter, const abi::Parameter &slot) const {
    if (slot.kind == abi::ParameterKind::Struct)
      return concat("declare the size of the struct as the kernel's compiler sees it: ", parameter.bytes());
    if (slot.kind != abi::ParameterKind::Constant)
      return orderFix("make it a pointer in the kernel, declare fewer bindings, or list the kernel's parameters in "
                      "their order ('parameters', K-3)");
    if (declared_.layout.constants[slot.index].kind == abi::ConstantKind::TensorMap && !parameter.isArray)
      return kTensorMapFix;
    if (parameter.isArray && parameter.bytes() > 2) // smaller ones are how C++ passes __half
      return concat("declare a struct of ", parameter.bytes(), " bytes with alignment ",
                    parameter.effectiveAlignment());
    switch (parameter.bytes()) {
    case 1:
      return "declare the constant as i8 (or i1)";
    case 2:
      return "declare the constant as i16, f16 or bf16";
    case 4:
      return "declare the constant as i32 or f32";
    case 8:
      return parameter.hasPtr ? orderFix(kPointerFix)
                              : orderFix("declare the constant as i64 or f64, or, if it is a pointer, a binding");
    }
    return "declare what the kernel takes";
  }

  bool checkKind(size_t i) {
    const abi::Parameter &slot = wanted_.parameters[i];
    switch (slot.kind) {
    case abi::ParameterKind::Binding:
    case abi::ParameterKind::Hidden:
      return checkPointer(i, slot);
    case abi::ParameterKind::Constant:
      return checkConstant(i, declared_.layout.constants[slot.index]);
    case abi::ParameterKind::Struct: // bytes: whatever has as many of them is one, also a pointer that is not used
      return true;
    }
  }

  bool checkPointer(size_t i, const abi::Parameter &slot) {
    const ptx::Variable &parameter = parameterAt(i);
    if (isFloat(parameter.type)) {
      error(i, concat(subject(i), ", ", wantedText(i))).withFix("make it a pointer in the kernel");
      return false;
    }
    const uint32_t alignment = parameter.effectiveAlignment();
    if (alignment < slot.alignment) { // no compiler lays a pointer there: it is a struct of smaller members
      error(i,
            concat(subject(i), " with alignment ", alignment, ", ", wantedText(i), " with alignment ", slot.alignment))
          .withFix(concat("declare a constant: a struct of ", parameter.bytes(), " bytes with alignment ", alignment));
      return false;
    }
    if (parameter.hasPtr && parameter.ptrSpace != ptx::StateSpace::Generic &&
        parameter.ptrSpace != ptx::StateSpace::Global) {
      error(i, concat(subject(i), ", ", wantedText(i), " to global memory"))
          .withFix("take a generic or a global pointer");
      return false;
    }
    // Undeclared, a base address is a multiple of its element's size; no element is wider than 8 bytes.
    const uint32_t declared =
        slot.kind == abi::ParameterKind::Binding ? declared_.layout.bindings[slot.index].alignment : 0;
    const uint32_t promised = std::max<uint32_t>(declared, 8);
    if (parameter.hasPtr && parameter.ptrAlignment > promised) {
      error(i, concat(subject(i), ", the layout promises alignment ",
                      declared ? concat(declared) : std::string("of the element alone")))
          .withFix(alignmentAdvice(declared_, slot.index, parameter.ptrAlignment));
      return false;
    }
    return true;
  }

  bool checkConstant(size_t i, const abi::Constant &constant) {
    const ptx::Variable &parameter = parameterAt(i);
    if (parameter.hasPtr) {
      error(i, concat(subject(i), ", ", wantedText(i))).withFix(orderFix(kPointerFix));
      return false;
    }
    if (constant.kind == abi::ConstantKind::TensorMap && !parameter.isArray) {
      error(i, concat(subject(i), ", ", wantedText(i))).withFix(kTensorMapFix);
      return false;
    }
    if (constant.kind != abi::ConstantKind::Scalar || parameter.isArray)
      return true; // a word is untyped, and an aggregate of the right size is how C++ passes __half
    const bool wantsFloat = abi::isFloat(constant.element);
    if ((wantsFloat && isInteger(parameter.type)) || (!wantsFloat && isFloat(parameter.type)))
      warning(i, concat(subject(i), ", ", wantedText(i), ": the same width, another kind"))
          .withFix(wantsFloat ? "declare an integer, or take a float in the kernel"
                              : "declare a float, or take an integer in the kernel");
    return true;
  }

  void checkOffset(size_t i, uint64_t offset) {
    const abi::Parameter &slot = wanted_.parameters[i];
    const uint32_t found = parameterAt(i).effectiveAlignment();
    if (offset != slot.offset)
      error(i, concat(subject(i), " and begins at byte ", offset, ", the layout puts ",
                      slotText(declared_.layout, slot), " at byte ", slot.offset))
          .withFix(concat("declare alignment ", found, " (it is ", slot.alignment, " now)"));
    else if (found > slot.alignment)
      warning(i, concat(subject(i), " with alignment ", found, ", ", wantedText(i), " with alignment ", slot.alignment,
                        ": they agree on byte ", offset, " by chance"))
          .withFix(concat("declare alignment ", found));
  }

  LinkContext &context_;
  const Kernel &kernel_;
  const abi::Export &declared_;
  const abi::ParameterLayout &wanted_;
};

} // namespace

void checkParameters(LinkContext &context) {
  for (const Variant &variant : context.variants)
    for (const Kernel &kernel : variant.kernels)
      if (const auto &layout = context.parameterLayouts[kernel.exportOrdinal])
        Check(context, kernel, *layout).run();
}

} // namespace tenon::linker
