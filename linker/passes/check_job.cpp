// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations come from MLIR, a manifest or a program that builds a LinkJob: whatever they said before, here they must
// be whole. A kernel is found by ordinal at run time, so ordinals are dense from 0 and names are unique.
#include "abi/arch_table.h"
#include "linker/passes/passes.h"

#include <algorithm>

namespace tenon::linker {

using ExportsByName = NameIndex<abi::Export>;

static ExportsByName checkNames(LinkContext &context) {
  ExportsByName byName;
  byName.reserve(context.job.exports.size());
  for (size_t i = 0; i < context.job.exports.size(); ++i) {
    const abi::Export &declared = context.job.exports[i];
    if (declared.name.empty())
      context.diagnostics.error(declared.declaredAt, "", concat("export ", i, " has no name"))
          .withFix("name it as the program calls it: \"name\": \"saxpy\"");
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

/// What one device has is the loader's business; here is what none has.
static void checkDynamicShared(LinkContext &context, const abi::Export &declared) {
  const auto most = std::ranges::max_element(abi::architectures(), {}, [](const abi::Architecture &architecture) {
    return architecture.limits.blockSharedBytes;
  });
  if (declared.launch.dynamicSharedBytes > most->limits.blockSharedBytes)
    context.diagnostics
        .error(declared.declaredAt, "K-9",
               concat("export '", declared.name, "' declares ", declared.launch.dynamicSharedBytes,
                      " bytes of dynamic shared memory, at most ", most->limits.blockSharedBytes, " are possible (",
                      most->name, ")"))
        .withFix("declare what one workgroup needs");
}

void checkJob(LinkContext &context) {
  const SourceLocation where = {context.job.inputFiles.empty() ? "" : context.job.inputFiles.front(), 0, 0};
  if (context.job.name.empty())
    context.diagnostics.error(where, "", "the executable has no name")
        .withFix("name it as the program does: \"name\": \"kernels\"");
  if (context.job.exports.empty())
    context.diagnostics.error(where, "", concat("executable '", context.job.name, "' has no exports"));
  if (context.job.objects.empty())
    context.diagnostics.error(where, "", concat("executable '", context.job.name, "' has no objects"))
        .withFix("name at least one object for each target");
  checkProvides(context, checkNames(context));

  context.parameterLayouts.reserve(context.job.exports.size());
  context.requests.reserve(context.job.exports.size());
  for (const abi::Export &declared : context.job.exports) {
    checkDynamicShared(context, declared);
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
    if (message.starts_with("binding "))
      error.withFix("declare how the memory is aligned, as 16, or leave it out");
    else if (rule != "K-22") // which says what is possible
      error.withFix(isTooLarge ? "pass the data through a buffer"
                    : !declared.layout.parameters.empty() && !message.starts_with("constant ")
                        ? "list each binding and each constant in one place, members of a struct side by side within "
                          "its size and pointers at multiples of 8"
                        : "declare the size and alignment of the struct as the kernel's compiler sees them");
  }
}

} // namespace tenon::linker
