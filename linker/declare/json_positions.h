// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where things stand in a JSON text. FlatBuffers' parser keeps no positions, and a finding about the third export wants
// a line: this walks the same text and notes where the members of the top-level lists begin.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

/// List name -> offset of each element ("exports" -> one per export). Accepts JSON as FlatBuffers does: comments,
/// names without quotes, trailing commas. Text that does not parse gives the places up to the mistake.
std::map<std::string, std::vector<size_t>> findListElements(std::string_view text);

} // namespace tenon::linker
