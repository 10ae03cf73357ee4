// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every export has a kernel in every variant, by the name of its symbol, so that whichever variant a device takes, the
// whole executable is there. A variant whose objects all say what they provide is held to that alone: a generated
// fallback covers only what it was generated for.
//
// An entry without `.visible` (`static __global__`, or a kernel in an unnamed namespace) serves as any other: ptxas
// makes its symbol LOCAL, and the driver finds it by name all the same. A visible entry of the same name comes first.
#include "linker/passes/advice.h"
#include "linker/passes/passes.h"
#include "support/text/demangle.h"
#include "support/text/nearest_names.h"

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
void suggestNames(const Variant &variant, const abi::Export &declared, Diagnostic &error) {
  const std::string &wanted = symbolOf(declared);
  std::vector<std::string> entries;
  for (const Symbol &symbol : variant.symbols.definitions()) {
    if (!symbol.function || !symbol.function->isEntry)
      continue;
    std::string demangled = demangle(symbol.name);
    if (!demangled.empty() && baseName(demangled) == wanted) {
      error.note(symbol.place(), concat("it is here under its C++ name: '", symbol.name, "' is '", demangled, "'"));
      error.withFix(symbolAdvice(declared, symbol.name));
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
    noteDeclared(
        context.diagnostics.error(found.place(), "K-2",
                                  concat("'", symbol, "' is a ", found.function ? "function (.func)" : "variable",
                                         ", wanted an entry point (.entry) in ", variantText(variant))),
        declared)
        .withFix("make it a kernel: __global__");
    return;
  }
  Diagnostic &error = context.diagnostics.error(placeOf(variant), "K-2",
                                                concat("entry point '", symbol, "' is not in ", variantText(variant)));
  noteDeclared(error, declared);
  suggestNames(variant, declared, error);
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
      const Symbol *symbol = variant.symbols.findEntry(symbolOf(declared), position);
      position += symbol != nullptr;
      if (symbol && symbol->isEntry()) {
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
