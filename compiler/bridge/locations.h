// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places and findings, between the linker's words and MLIR's.
//
// The linker stores the place of a declaration in the executable, so it is given the file's name without its folders:
// output must not depend on where it was made. LocationMap remembers the full place for the way back. Each file has an
// id of its own: where two files have the same name in different folders, the second is called "example.mlir#2".
#pragma once

#include "support/diagnostics.h"

#include "mlir/IR/Location.h"

#include <map>
#include <string>

namespace tenon::compiler::bridge {

class LocationMap {
public:
  /// "example.mlir:31:5" of an operation; unknown where the location names no file.
  SourceLocation toSource(mlir::Location location);
  /// The way back. A place that did not come from toSource() is one in the named file; an unknown one is `fallback`.
  mlir::Location toMlir(const SourceLocation &where, mlir::Location fallback) const;

private:
  std::string fileId(const std::string &path);

  std::map<std::string, std::string> ids_;      // path -> id
  std::map<std::string, unsigned> named_;       // name without folders -> files of that name
  std::map<std::string, mlir::Location> known_; // id:line:column -> where it came from
};

/// Hands every finding to MLIR's diagnostics: rule and message, its notes, the fix as a last note.
/// @param fallback where findings without a place of their own are reported
void report(const Diagnostics &diagnostics, const LocationMap &locations, mlir::Location fallback);

} // namespace tenon::compiler::bridge
