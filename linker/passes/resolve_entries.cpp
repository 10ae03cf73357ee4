// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every export has a kernel in every variant, by the name of its symbol, so that whichever variant a device takes, the
// whole executable is there. A variant whose objects all say what they provide is held to that alone: a generated
// fallback covers only what it was generated for.
//
// An entry must be `.visible` (or `.weak`): ptxas makes any other LOCAL in the cubin and the driver never finds it.
#include "linker/passes/passes.h"
#include "linker/symbol/demangle.h"
#include "support/nearest_names.h"

#include <algorithm>

namespace tenon::linker {
namespace {

bool isWanted(const Variant &variant, const abi::Export &declared) {
  return std::any_of(variant.inputs.begin(), variant.inputs.end(), [&](const ObjectInput *input) {
    return input->provides.empty() ||
           std::find(input->provides.begin(), input->provides.end(), declared.name) != input->provides.end();
  });
}

const std::string &symbolOf(const abi::Export &declared) {
  return declared.symbol.empty() ? declared.name : declared.symbol;
}

/// The place of a finding about a whole variant: its object where there is one.
SourceLocation placeOf(const Variant &variant) {
  return {variant.inputs.front()->path, 0, 0};
}

std::string variantText(const Variant &variant) {
  std::string text = concat("variant '", variant.name, "'");
  if (variant.inputs.size() > 1) {
    std::vector<std::string> paths;
    for (const ObjectInput *input : variant.inputs)
      paths.push_back(input->path);
    text += concat(" (", quotedList(paths), ")");
  }
  return text;
}

/// Names and fix for an entry point that is nowhere in the variant.
void suggestNames(const Variant &variant, const std::string &wanted, Diagnostic &error) {
  std::vector<std::string> entries;
  for (const Symbol &symbol : variant.symbols.definitions()) {
    if (!symbol.function || !symbol.function->isEntry)
      continue;
    std::string demangled = demangle(symbol.name);
    if (!demangled.empty() && baseName(demangled) == wanted) {
      error.note(symbol.place(), concat("it is here under its C++ name: '", symbol.name, "' is '", demangled, "'"));
      error.withFix(concat("is extern \"C\" missing? Declare the kernel extern \"C\", or the export with symbol '",
                           symbol.name, "'"));
      return;
    }
    entries.emplace_back(symbol.name);
  }
  if (entries.empty()) {
    error.withFix(
        "there is no entry point at all: is the kernel __global__, and not a template that nothing instantiates?");
    return;
  }
  std::vector<std::string> near = nearestNames(wanted, entries);
  if (!near.empty()) {
    error.withFix(concat("did you mean ", quotedList(near, "or"), "?"));
    return;
  }
  constexpr size_t kShown = 8;
  const size_t more = entries.size() > kShown ? entries.size() - kShown : 0;
  entries.resize(entries.size() - more);
  error.withFix(concat("entry points there: ", quotedList(entries), more ? concat(" and ", more, " more") : ""));
}

void reportMissing(LinkContext &context, const Variant &variant, const abi::Export &declared) {
  const std::string &symbol = symbolOf(declared);
  // Defined, but not as something that can be launched by name.
  for (const Symbol &found : variant.symbols.definitions()) {
    if (found.name != symbol)
      continue;
    if (!found.function || !found.function->isEntry) {
      noteDeclared(
          context.diagnostics.error(found.place(), "K-2",
                                    concat("'", symbol, "' is a ", found.function ? "function (.func)" : "variable",
                                           ", wanted an entry point (.visible .entry) in ", variantText(variant))),
          declared)
          .withFix("make it a kernel: __global__");
      return;
    }
    noteDeclared(
        context.diagnostics.error(found.place(), "K-2",
                                  concat("entry point '", symbol, "' is not .visible: the driver cannot find it")),
        declared)
        .withFix("make it .visible (in C++: neither static nor in an anonymous namespace)");
    return;
  }
  Diagnostic &error = context.diagnostics.error(placeOf(variant), "K-2",
                                                concat("entry point '", symbol, "' is not in ", variantText(variant)));
  noteDeclared(error, declared);
  suggestNames(variant, symbol, error);
}

} // namespace

void resolveEntries(LinkContext &context) {
  for (Variant &variant : context.variants) {
    if (variant.complete)
      variant.kernels.reserve(context.job.exports.size());
    size_t position = 0; // among the definitions: exports and kernels mostly come in the same order
    for (const abi::Export &declared : context.job.exports) {
      if (!isWanted(variant, declared))
        continue;
      const Symbol *symbol = variant.symbols.find(symbolOf(declared), position);
      position += symbol != nullptr;
      if (symbol && symbol->function && symbol->function->isEntry) {
        variant.kernels.push_back({.exportOrdinal = uint32_t(&declared - context.job.exports.data()),
                                   .object = symbol->object,
                                   .entry = symbol->function,
                                   .reachable = computeReachability(*symbol->object, *symbol->function)});
      } else if (variant.complete) {
        reportMissing(context, variant, declared); // an object that did not load may have held it
      }
    }
  }
}

} // namespace tenon::linker
