// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's author may have declared its ABI next to it; whoever uses the kernel declares it again, in MLIR or in a
// manifest. Both were written by people, so neither is taken at its word: where they differ, both are shown.
#include "linker/declare/kernel_record.h"
#include "linker/passes/passes.h"

#include <map>

namespace tenon::linker {

static void compare(LinkContext &context, const KernelRecord &record, const abi::Export &declared) {
  const abi::Export &recorded = record.declaration.exported;
  for (const Difference &difference : differences(recorded, declared)) {
    // The record itself is a line of bytes: its source is shown instead, where the record says which.
    const bool hasSource = recorded.declaredAt.known() && !(recorded.declaredAt == record.where);
    const std::string place = hasSource ? concat("its TENON_KERNEL (read from ", record.where.file, ')')
                                        : std::string("the record that the kernel's object holds");
    Diagnostic &error =
        context.diagnostics.error(hasSource ? recorded.declaredAt : SourceLocation{record.where.file, 0, 0}, "K-21",
                                  concat(difference.field, " of '", declared.name, "' is ", difference.record, " in ",
                                         place, ", ", difference.declared, " in the declaration"));
    noteDeclared(error, declared).withFix("change the one that is wrong; a new record needs the kernel compiled again");
  }
}

void checkRecords(LinkContext &context) {
  std::multimap<std::string_view, const abi::Export *> bySymbol; // filled for the first record: many jobs have none
  for (const std::unique_ptr<Object> &object : context.objects) {
    if (!object)
      continue;
    for (const KernelRecord &record : readRecords(*object, context.diagnostics)) {
      if (bySymbol.empty())
        for (const abi::Export &declared : context.job.exports)
          bySymbol.emplace(declared.symbol.empty() ? declared.name : declared.symbol, &declared);
      auto [first, last] = bySymbol.equal_range(record.declaration.exported.symbol);
      for (; first != last; ++first) {
        const abi::Export &declared = *first->second;
        const auto &layout = context.parameterLayouts[size_t(&declared - context.job.exports.data())];
        if (layout || declared.layout.parameters.empty()) // an order that cannot be says nothing
          compare(context, record, declared);
      }
    }
  }
}

} // namespace tenon::linker
