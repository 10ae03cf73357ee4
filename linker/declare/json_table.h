// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of abi/format/schemas/manifest.fbs from its JSON. The schema is built in as flatc compiled it, and decides
// what is read: names of fields and enumerators, types, what must be there. So what a manifest and a record may say
// cannot drift from the schema.
#pragma once

#include "support/text/json.h"

#include <flatbuffers/flatbuffers.h>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::linker {

struct JsonTable {
  std::optional<JsonMistake> mistake; // the first; then there is no table
  std::string fix;                    // of a mistake, where one is known
  flatbuffers::DetachedBuffer buffer; // its root is the table; every field that is written is stored, also as 0
  /// Offset in the text of each element of a list of the table, by the name of its field.
  struct List {
    std::string_view field;
    std::vector<size_t> elementsAt;
  };
  std::vector<List> lists;

  std::span<const size_t> elementsOf(std::string_view field) const;
};

class JsonTableReader {
public:
  JsonTableReader();
  ~JsonTableReader();

  /// Reads all of `text` as `type`, "Manifest" or "DeclaredExport". Mistakes are those of JSON, unknown fields and
  /// enumerators, values of another type, fields that stand twice or are missing. A null is a field that is not there.
  JsonTable read(std::string_view text, std::string_view type) const;

private:
  struct Schema;
  class Reading;
  std::unique_ptr<const Schema> schema_;
};

} // namespace tenon::linker
