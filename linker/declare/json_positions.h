// Where things stand in a JSON text. FlatBuffers' parser keeps no positions, and a finding about the third export wants
// a line: this walks the same text and notes where the members of the top-level lists begin.
#pragma once

#include "abi/source_file.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::linker {

/// List name -> place of each element ("exports" -> one place per export). Accepts JSON as FlatBuffers does: comments,
/// names without quotes, trailing commas. Text that does not parse gives the places up to the mistake.
std::map<std::string, std::vector<SourceLocation>> findListElements(const SourceFile &source);

} // namespace tenon::linker
