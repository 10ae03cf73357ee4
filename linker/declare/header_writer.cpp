// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel has to be defined with the types that its author wants, and a layout tells only what is passed. So a header
// has a prototype only where a signature is declared; then a definition that differs is refused by the compiler itself.
// TENON_IMPLEMENT behind the definition checks in both cases, says in words what differs, and records the declaration
// in the object, where the linker finds it again.
#include "linker/declare/header_writer.h"

#include "abi/parameter_layout.h"
#include "linker/declare/declaration.h"
#include "support/text/demangle.h"
#include "support/text/text.h"

#include <algorithm>

namespace tenon::linker {
namespace {

/// The type that stands for a constant whose C++ type is not known.
std::string placeholder(const abi::Constant &constant) {
  switch (constant.kind) {
  case abi::ConstantKind::Word:
    return "tenon::Word";
  case abi::ConstantKind::Struct:
    return concat("tenon::Bytes<", constant.size, ", ", constant.alignment, '>'); // a macro's argument: see quoteComma
  case abi::ConstantKind::TensorMap:
    return "CUtensorMap";
  case abi::ConstantKind::Scalar:
    break;
  }
  switch (constant.element) {
  case abi::ElementType::I1:
    return "bool";
  case abi::ElementType::F16:
    return "__half";
  case abi::ElementType::BF16:
    return "__nv_bfloat16";
  case abi::ElementType::F32:
    return "float";
  case abi::ElementType::F64:
    return "double";
  case abi::ElementType::I8:
  case abi::ElementType::I16:
  case abi::ElementType::I32:
  case abi::ElementType::I64:
  case abi::ElementType::Index:
    return concat("tenon::Integer<", constant.size, '>');
  }
}

bool isIdentifier(std::string_view name) {
  auto isWord = [](char c) { return c == '_' || (c | 32) - 'a' + 0u < 26u || (c >= '0' && c <= '9'); };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), isWord);
}

/// For a comment: what would end the line becomes a question mark.
std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\'; }, '?');
  return text;
}

/// "const float *" + "x" -> "const float *x".
std::string parameterText(const std::string &type, const std::string &name) {
  if (!isIdentifier(name))
    return type;
  return concat(type, type.ends_with('*') || type.ends_with('&') ? "" : " ", name);
}

class ExportHeader {
public:
  ExportHeader(const abi::Export &declared, const std::vector<std::string> &signature)
      : declared_(declared), hasTypes_(!signature.empty()) {
    size_t i = 0;
    auto typeAt = [&](std::string otherwise) {
      std::string type = i < signature.size() ? signature[i] : std::move(otherwise);
      ++i;
      return type;
    };
    if (!declared.layout.parameters.empty())
      wrong_ = abi::computeParameterLayout(declared.layout).takeStatus();
    if (!wrong_.ok())
      return;
    for (const abi::DeclaredParameter &parameter : parametersOf(declared.layout))
      addParameter(declared.layout, parameter, typeAt);
  }

  std::string text() const {
    const std::string function = functionName();
    std::string out = concat("\n// '", oneLine(declared_.name), "': ", declared_.layout.toString(), "; workgroup ",
                             extentText(declared_.launch.workgroupSize), '\n');
    if (declared_.declaredAt.known())
      out += concat("// declared at ", oneLine(declared_.declaredAt.toString()), '\n');
    if (!wrong_.ok())
      return concat(
          out, "// it is not checked here, no kernel has this layout: ", oneLine(std::string(wrong_.message())), '\n');
    if (!isIdentifier(function))
      return out +
             concat("// '", oneLine(function), "' is no name that a definition can have: it is not checked here\n");
    if (hasTypes_ && isPlain())
      out += concat("extern \"C\" __global__ void __launch_bounds__(", declared_.launch.threads(), ") ", function, '(',
                    prototype_, ");\n");
    for (const std::string &alias : aliases_)
      out += alias;
    out += concat("#define TENON_DECLARED_", function, ' ', launchText(), items_, '\n');
    out += concat("#define TENON_DECLARED_TYPE_", function, ' ',
                  hasTypes_ && isPlain() ? concat("void(", types_, ")") : "void(tenon::Any)", '\n');
    out += concat("#define TENON_DECLARED_TEXT_", function, " \"", types_, "\"\n");
    return out;
  }

  bool mentions(std::string_view type) const { return types_.find(type) != std::string::npos; }

private:
  /// The parameters one by one, also where the layout says no order.
  static std::vector<abi::DeclaredParameter> parametersOf(const abi::Layout &layout) {
    std::vector<abi::DeclaredParameter> parameters = layout.parameters;
    if (parameters.empty()) {
      for (uint32_t i = 0; i < layout.bindings.size(); ++i)
        parameters.push_back(abi::DeclaredParameter::binding(i));
      for (uint32_t i = 0; i < layout.constants.size(); ++i)
        parameters.push_back(abi::DeclaredParameter::constant(i));
    }
    parameters.insert(parameters.end(), layout.hiddenPointers, abi::DeclaredParameter::hidden());
    return parameters;
  }

  static std::string pointerText(const abi::Binding &binding) {
    return binding.readOnly ? "const tenon::Any *" : "tenon::Any *";
  }
  static std::string bytesText(uint32_t size, uint32_t alignment) {
    return concat("tenon::Bytes<", size, ", ", alignment, '>'); // a macro's argument: add() makes an alias
  }

  template <typename TypeAt>
  void addParameter(const abi::Layout &layout, const abi::DeclaredParameter &parameter, TypeAt typeAt) {
    switch (parameter.kind) {
    case abi::ParameterKind::Binding: {
      const abi::Binding &binding = layout.bindings[parameter.index];
      return add(binding.readOnly ? "READ" : "WRITE", typeAt(pointerText(binding)), binding.name, binding.alignment);
    }
    case abi::ParameterKind::Constant: {
      const abi::Constant &constant = layout.constants[parameter.index];
      add("CONSTANT", typeAt(placeholder(constant)), constant.name, 0);
      break;
    }
    case abi::ParameterKind::Hidden:
      return add("HIDDEN", typeAt("void *"), "", 0);
    case abi::ParameterKind::Struct:
      add(parameter.members.empty() ? "UNUSED" : "STRUCT", typeAt(bytesText(parameter.size, parameter.alignment)), "",
          0);
      break;
    }
    for (const abi::ParameterMember &member : parameter.members)
      addMember(layout, member);
  }

  void addMember(const abi::Layout &layout, const abi::ParameterMember &member) {
    switch (member.kind) {
    case abi::ParameterKind::Binding: {
      const abi::Binding &binding = layout.bindings[member.index];
      items_ += concat(binding.readOnly ? ".read(" : ".write(", "TENON_AT(", pointerText(binding), ", ", member.offset,
                       ')', binding.alignment ? concat(".aligned(", binding.alignment, ')') : std::string(), ')');
      break;
    }
    case abi::ParameterKind::Constant:
      items_ += concat(".constant(TENON_AT(", macroType(placeholder(layout.constants[member.index])), ", ",
                       member.offset, "))");
      break;
    case abi::ParameterKind::Hidden: // zeros, as what no member names
    case abi::ParameterKind::Struct:
      break;
    }
  }

  /// A comma would part a macro's arguments.
  std::string macroType(const std::string &type) {
    if (type.find(',') == std::string::npos)
      return type;
    std::string alias = concat("TenonType_", functionName(), '_', aliases_.size());
    aliases_.push_back(concat("using ", alias, " = ", type, ";\n"));
    return alias;
  }

  void add(const char *macro, std::string type, const std::string &name, uint32_t alignment) {
    prototype_ += concat(prototype_.empty() ? "" : ", ", parameterText(type, name));
    types_ += concat(types_.empty() ? "" : ", ", type);
    type = macroType(type);
    items_ += concat(", TENON_", macro, '(', type, isIdentifier(name) ? concat(", ", name) : std::string(), ')');
    if (alignment)
      items_ += concat(".aligned(", alignment, ')');
  }

  /// The name in the source: a mangled symbol's without namespaces and arguments.
  std::string functionName() const {
    const std::string &symbol = declared_.symbol.empty() ? declared_.name : declared_.symbol;
    const std::string demangled = symbol.starts_with("_Z") ? demangle(symbol) : std::string();
    return demangled.empty() ? symbol : std::string(baseName(demangled));
  }
  bool isPlain() const { return !(declared_.symbol.starts_with("_Z") && !demangle(declared_.symbol).empty()); }

  std::string launchText() const {
    const abi::Launch &launch = declared_.launch;
    auto extent = [](const abi::Extent3 &e) { return concat('(', e[0], ", ", e[1], ", ", e[2], ')'); };
    std::string out = concat("TENON_WORKGROUP", extent(launch.workgroupSize));
    if (launch.cluster != abi::Extent3{0, 0, 0})
      out += concat(", TENON_CLUSTER", extent(launch.cluster));
    if (launch.dynamicSharedBytes)
      out += concat(", TENON_DYNAMIC_SHARED(", launch.dynamicSharedBytes, ')');
    if (launch.subgroupSize)
      out += concat(", TENON_SUBGROUP(", launch.subgroupSize, ')');
    if (launch.cooperative)
      out += ", TENON_COOPERATIVE";
    if (launch.programmaticDependentLaunch)
      out += ", TENON_PROGRAMMATIC_LAUNCH";
    if (declared_.name != functionName())
      out += concat(", TENON_NAME(", jsonString(declared_.name), ")");
    return out;
  }

  const abi::Export &declared_;
  const bool hasTypes_;
  Status wrong_ = okStatus(); // why the order is none
  std::string prototype_, types_, items_;
  std::vector<std::string> aliases_;
};

} // namespace

std::string writeHeader(const LinkJob &job, const std::vector<std::vector<std::string>> &signatures,
                        const std::string &source) {
  std::vector<ExportHeader> headers;
  for (size_t i = 0; i < job.exports.size(); ++i)
    headers.emplace_back(job.exports[i], i < signatures.size() ? signatures[i] : std::vector<std::string>());

  std::string out =
      concat("// The kernels of '", oneLine(job.name), "', written by tenon-link --header from ", oneLine(source),
             ": change that and write this again.\n"
             "//\n"
             "// Include it, define a kernel, and let the compiler prove that it is what was declared:\n"
             "//   extern \"C\" __global__ void NAME(...) { ... }\n"
             "//   TENON_IMPLEMENT(NAME);\n"
             "#pragma once\n\n"
             "#include <tenon/kernel.cuh>\n\n#include <cstdint>\n");
  auto include = [&](std::initializer_list<std::string_view> types, const char *file) {
    for (std::string_view type : types)
      for (const ExportHeader &header : headers)
        if (header.mentions(type)) {
          out += concat("#include <", file, ">\n");
          return;
        }
  };
  include({"CUtensorMap"}, "cuda.h");
  include({"bfloat16"}, "cuda_bf16.h");
  include({"half"}, "cuda_fp16.h");
  for (const ExportHeader &header : headers)
    out += header.text();
  return out;
}

} // namespace tenon::linker
