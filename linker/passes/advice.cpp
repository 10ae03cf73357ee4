// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/advice.h"

#include "support/status.h"

namespace tenon::linker {
namespace {

enum class Language { Unknown, Mlir, Manifest, Record };

/// By the file's name. The compiler numbers files of the same name: "example.mlir#2".
Language languageOf(const abi::Export &declared) {
  std::string_view file = declared.declaredAt.file;
  file = file.substr(0, file.rfind('#'));
  if (file.ends_with(".mlir"))
    return Language::Mlir;
  if (file.ends_with(".json"))
    return Language::Manifest;
  for (std::string_view suffix : {".cu", ".cuh", ".h", ".hpp"})
    if (file.ends_with(suffix))
      return Language::Record;
  return Language::Unknown;
}

} // namespace

std::string alignmentAdvice(const abi::Export &declared, uint32_t binding, uint32_t bytes) {
  const std::string mlir = concat("#hal.pipeline.binding<.., alignment = ", bytes, '>');
  const std::string manifest = concat("\"alignment\": ", bytes);
  const std::string record = concat(".aligned(", bytes, ") behind its TENON_READ or TENON_WRITE");
  const std::string what = concat("declare alignment ", bytes, " on binding ", binding, ": ");
  switch (languageOf(declared)) {
  case Language::Mlir:
    return what + mlir;
  case Language::Manifest:
    return what + manifest;
  case Language::Record:
    return what + record;
  case Language::Unknown:
    return concat(what, manifest, " in a manifest, ", mlir, " in MLIR, ", record);
  }
}

std::string orderAdvice(const abi::Export &declared, const std::vector<abi::DeclaredParameter> &order) {
  std::string words, tables;
  for (const abi::DeclaredParameter &parameter : order) {
    words += concat(words.empty() ? "" : ", ", parameter.toString());
    const char *kind = parameter.kind == abi::ParameterKind::Binding ? "binding" : "constant";
    tables += concat(tables.empty() ? "{\"" : ", {\"", kind, "\": ", parameter.index, '}');
  }
  const std::string mlir = concat("parameters = [", words, "] in #hal.pipeline.layout");
  const std::string manifest = concat("\"parameters\": [", tables, "] in its layout");
  const std::string record = "list the items of TENON_KERNEL in the order of the kernel's parameters";
  switch (languageOf(declared)) {
  case Language::Mlir:
    return concat("say in which order the kernel takes them: ", mlir);
  case Language::Manifest:
    return concat("say in which order the kernel takes them: ", manifest);
  case Language::Record:
    return record;
  case Language::Unknown:
    return concat("say in which order the kernel takes them: ", manifest, " of a manifest, ", mlir, "; or ", record);
  }
}

std::string symbolAdvice(const abi::Export &declared, std::string_view symbol) {
  const std::string start = "is extern \"C\" missing? Declare the kernel extern \"C\"";
  const std::string manifest = concat("\"symbol\": \"", symbol, '"'), mlir = concat("the export @", symbol);
  switch (languageOf(declared)) {
  case Language::Mlir: // the name of an export is its symbol
    return concat(start, ", or call ", mlir);
  case Language::Manifest:
    return concat(start, ", or give the export ", manifest);
  case Language::Record: // an overload or a template: its record would have named it otherwise
    return start;
  case Language::Unknown:
    return concat(start, ", or give the export ", manifest, " in a manifest, or call ", mlir, " in MLIR");
  }
}

} // namespace tenon::linker
