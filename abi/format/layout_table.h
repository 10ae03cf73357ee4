// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts, exports and architectures as tables of the file, and as the values of abi/layout.h.
#pragma once

#include "abi/format/executable_generated.h"
#include "abi/layout.h"
#include "abi/target_arch.h"
#include "support/status.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::abi {

/// Layout and export, from and to the file's tables. Reading takes unverified tables too (a manifest's JSON): an absent
/// size or alignment of a constant becomes its kind's, absent extents the default, extents that are not [3] {0, 0, 0}.
Layout layoutFromTable(const fb::Layout &table);
/// That each parameter and member of an order says one thing. InvalidArgument: "parameters[1]: has 'binding' and
/// 'constant', ...". What is named is abi::computeParameterLayout's matter.
Status checkParameterTables(const fb::Layout &table);
Export exportFromTable(const fb::Export &table);
TargetArch archFromStruct(const fb::Arch &arch);
flatbuffers::Offset<fb::Export> exportToTable(flatbuffers::FlatBufferBuilder &builder, const Export &value);

/// Exports of one executable: equal layouts and equal launches become one table each, and places go to placesToFrame.
class ExportTables {
public:
  explicit ExportTables(flatbuffers::FlatBufferBuilder &builder) : builder_(builder) {}
  flatbuffers::Offset<fb::Export> add(const Export &value);

private:
  flatbuffers::FlatBufferBuilder &builder_;
  struct KnownLayout {
    Layout layout;
    flatbuffers::Offset<fb::Layout> table;
  };
  std::map<std::string, std::vector<KnownLayout>> layouts_; // by a part of their content
  std::map<std::string, flatbuffers::Offset<fb::Launch>> launches_;
};

} // namespace tenon::abi
