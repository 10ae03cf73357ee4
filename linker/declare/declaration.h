// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A declaration as people write it: an export in JSON, of the schema's DeclaredExport. A manifest lists them, and
// TENON_KERNEL (tenon/kernel.cuh) puts one into the object as a record. Here both become the same values.
#pragma once

#include "abi/layout.h"
#include "support/diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::abi::fb {
struct DeclaredExport;
}

namespace tenon::linker {

struct Declaration {
  abi::Export exported;
  std::vector<std::string> signature; // C++ type of each parameter, in their order; empty: not said
};

/// Takes a declaration from its table and completes what may be left out (linker/README.md, "A manifest"). `where` is
/// its place; unknown: the table's `declared_at`. Errors name the export: no workgroup size, extents that are not 1 to
/// 3, a signature of another length than the layout.
Declaration declarationFromTable(const abi::fb::DeclaredExport &table, SourceLocation where, Diagnostics &diagnostics);

/// The JSON of a declaration, `indent` spaces in front of its lines: what a manifest's `exports` lists. Members that
/// are as they would be anyway are left out. `notes` are comments above it, one line each.
std::string declarationToJson(const Declaration &declaration, size_t indent,
                              const std::vector<std::string> &notes = {});

/// "64x1x1".
std::string extentText(const abi::Extent3 &extent);

} // namespace tenon::linker
