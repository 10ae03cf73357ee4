// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations come from MLIR, a manifest or a program that builds a LinkJob: whatever they said before, here they must
// be whole. A kernel is found by ordinal at run time, so ordinals are dense from 0 and names are unique.
#include "linker/passes/passes.h"

namespace tenon::linker {

using ExportsByName = NameIndex<abi::Export>;

static ExportsByName checkNames(LinkContext &context) {
  ExportsByName byName;
  byName.reserve(context.job.exports.size());
  for (size_t i = 0; i < context.job.exports.size(); ++i) {
    const abi::Export &declared = context.job.exports[i];
    if (declared.name.empty())
      context.diagnostics.error(declared.declaredAt, "", concat("export ", i, " has no name"));
    if (declared.ordinal != i)
      noteDeclared(
          context.diagnostics
              .error(declared.declaredAt, "",
                     concat("export '", declared.name, "' has ordinal ", declared.ordinal, ", its position is ", i))
              .withFix("number the exports from 0 without gaps, in order"),
          declared);
    const abi::Export *&first = byName[declared.name];
    if (first)
      noteDeclared(
          context.diagnostics.error(declared.declaredAt, "", concat("export '", declared.name, "' is declared again")),
          *first);
    else
      first = &declared;
  }
  return byName;
}

static void checkProvides(LinkContext &context, const ExportsByName &exports) {
  for (const ObjectInput &object : context.job.objects)
    for (const std::string &name : object.provides)
      if (!exports.contains(name))
        context.diagnostics.error(object.declaredAt, "",
                                  concat("object '", object.path, "' provides '", name, "', executable '",
                                         context.job.name, "' has no such export"));
}

void checkJob(LinkContext &context) {
  if (context.job.exports.empty())
    context.diagnostics.error({}, "", concat("executable '", context.job.name, "' has no exports"));
  if (context.job.objects.empty())
    context.diagnostics.error({}, "", concat("executable '", context.job.name, "' has no objects"))
        .withFix("name at least one object for each target");
  checkProvides(context, checkNames(context));

  context.parameterLayouts.reserve(context.job.exports.size());
  context.requests.reserve(context.job.exports.size());
  for (const abi::Export &declared : context.job.exports) {
    const std::string_view symbol = declared.symbol.empty() ? declared.name : declared.symbol;
    Result<abi::ParameterLayout> layout = abi::computeParameterLayout(declared.layout);
    if (layout.ok()) {
      context.requests.add(symbol, slotsOf(*layout));
      context.parameterLayouts.emplace_back(layout.take());
      continue;
    }
    context.requests.add(symbol);
    context.parameterLayouts.emplace_back(std::nullopt);
    // The status begins with its rule, "[K-3] ".
    std::string_view message = layout.status().message();
    const bool isTooLarge = layout.status().code() == StatusCode::OutOfRange;
    std::string rule = isTooLarge ? "K-5" : "K-3";
    if (size_t end = message.find("] "); message.starts_with('[') && end != std::string_view::npos) {
      rule = message.substr(1, end - 1);
      message.remove_prefix(end + 2);
    }
    Diagnostic &error = context.diagnostics.error(declared.declaredAt, rule,
                                                  concat("layout of export '", declared.name, "': ", message));
    if (rule != "K-22") // which says what is possible
      error.withFix(isTooLarge ? "pass the data through a buffer"
                    : !declared.layout.parameters.empty() && !message.starts_with("constant ")
                        ? "list each binding and each constant in one place, members of a struct side by side within "
                          "its size and pointers at multiples of 8"
                        : "declare the size and alignment of the struct as the kernel's compiler sees them");
  }
}

} // namespace tenon::linker
