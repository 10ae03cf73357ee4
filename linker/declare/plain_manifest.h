// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The short way through a manifest: what programs write, in one pass, without the schema. Whatever is not as plain (a
// comment, an escape, a number that is no unsigned integer, an unknown field, any mistake) is left to the parser that
// reads the schema; both make the same of the same text.
#pragma once

#include "abi/format/manifest_generated.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tenon::linker {

struct PlainManifest {
  flatbuffers::DetachedBuffer buffer;       // its root is a fb::Manifest; every field that is written is stored
  std::vector<size_t> exportsAt, objectsAt; // by element: its offset in the text
};

/// Nothing where the text is not plain.
std::optional<PlainManifest> readPlainManifest(std::string_view text);

} // namespace tenon::linker
