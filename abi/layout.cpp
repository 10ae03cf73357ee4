// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The declared ABI as a value, and its spelling in messages: what a user wrote in `#hal.pipeline.layout`, shortened.
#include "abi/layout.h"

#include "support/status.h"

#include <algorithm>

namespace tenon::abi {

Constant Constant::scalar(ElementType type) {
  Constant constant;
  constant.kind = ConstantKind::Scalar;
  constant.element = type;
  constant.size = byteSize(type);
  constant.alignment = byteSize(type);
  return constant;
}

static std::string bindingSpelling(const Binding &binding) {
  std::string out = binding.readOnly ? "ReadOnly" : "ReadWrite";
  if (binding.indirect)
    out += "|Indirect";
  if (binding.kind == BindingKind::UniformBuffer)
    out = "uniform " + out;
  if (binding.alignment != 0)
    out += concat(" align ", binding.alignment);
  return out;
}

static std::string constantSpelling(const Constant &constant) {
  switch (constant.kind) {
  case ConstantKind::Word:
    return "word";
  case ConstantKind::Scalar:
    return std::string(spelling(constant.element));
  case ConstantKind::Struct:
    return concat("struct<", constant.size, ", align ", constant.alignment, '>');
  case ConstantKind::TensorMap:
    return constant.map ? concat("tensor_map<", constant.map->toString(constant.element), '>') : "tensor_map";
  }
  return "?";
}

std::string ParameterMember::toString() const {
  switch (kind) {
  case ParameterKind::Binding:
    return concat("binding ", index, " at ", offset);
  case ParameterKind::Constant:
    return concat("constant ", index, " at ", offset);
  case ParameterKind::Hidden:
    return concat("hidden at ", offset);
  case ParameterKind::Struct:
    break;
  }
  return "?";
}

std::string DeclaredParameter::toString() const {
  std::string out;
  switch (kind) {
  case ParameterKind::Binding:
    out = concat("binding ", index);
    break;
  case ParameterKind::Constant:
    out = concat("constant ", index);
    break;
  case ParameterKind::Hidden:
    out = "hidden";
    break;
  case ParameterKind::Struct:
    out = concat(members.empty() ? "padding<" : "struct<", size, ", alignment = ", alignment, '>');
    break;
  }
  for (size_t i = 0; i < members.size(); ++i)
    out += concat(i == 0 ? "(" : ", ", members[i].toString());
  return members.empty() ? out : out + ")";
}

void Layout::simplifyOrder() {
  while (!parameters.empty() && parameters.back().kind == ParameterKind::Hidden && parameters.back().members.empty() &&
         hiddenPointers < UINT32_MAX) {
    parameters.pop_back();
    ++hiddenPointers;
  }
  if (parameters.size() != bindings.size() + constants.size())
    return;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool isBinding = i < bindings.size();
    const uint32_t index = static_cast<uint32_t>(isBinding ? i : i - bindings.size());
    if (parameters[i] != (isBinding ? DeclaredParameter::binding(index) : DeclaredParameter::constant(index)))
      return;
  }
  parameters.clear();
}

std::string Layout::toString() const {
  std::string out = concat(bindings.size(), bindings.size() == 1 ? " binding" : " bindings");
  for (size_t i = 0; i < bindings.size(); ++i)
    out += concat(i == 0 ? " (" : ", ", bindingSpelling(bindings[i]));
  if (!bindings.empty())
    out += ')';
  bool onlyWords =
      std::all_of(constants.begin(), constants.end(), [](const Constant &c) { return c.kind == ConstantKind::Word; });
  if (onlyWords && !constants.empty()) {
    out += concat(", constants = ", constants.size());
  } else if (!constants.empty()) {
    for (size_t i = 0; i < constants.size(); ++i)
      out += concat(i == 0 ? ", constants = [" : ", ", constantSpelling(constants[i]));
    out += ']';
  }
  if (hiddenPointers != 0)
    out += concat(", ", hiddenPointers, hiddenPointers == 1 ? " hidden pointer" : " hidden pointers");
  for (size_t i = 0; i < parameters.size(); ++i)
    out += concat(i == 0 ? ", parameters = [" : ", ", parameters[i].toString());
  if (!parameters.empty())
    out += ']';
  return out;
}

} // namespace tenon::abi
