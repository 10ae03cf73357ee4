// From an object's bytes to what the passes need of it, in one pass over the text: headers of functions, variables, and
// of each body its facts and, where a kernel is asked for, its trace. A body is forgotten before the next one is read,
// so that memory does not grow with the text; a diagnostic that needs one reads it again (Object::bodyOf).
#pragma once

#include "linker/object/object.h"

#include <map>

namespace tenon::linker {

/// The kernels that are asked for, by symbol, and how: which of their parameters are pointers.
class TraceRequests {
public:
  void add(std::string_view symbol) { bySymbol_.try_emplace(std::string(symbol)); }
  void add(std::string_view symbol, std::vector<bool> pointers);
  /// The sets of pointers to trace a kernel with; null where nobody asks for it.
  const std::vector<std::vector<bool>> *find(std::string_view symbol) const;

private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::vector<std::vector<bool>>, Hash, std::equal_to<>> bySymbol_; // lookup only
};

/// Reads objects, one after the other; keeps its memory in between. One per thread.
class ObjectReader {
public:
  explicit ObjectReader(const TraceRequests &requests);
  ~ObjectReader();
  /// Reads PTX. The object borrows from `input`. Null after an error.
  std::unique_ptr<Object> read(const ObjectInput &input, Diagnostics &diagnostics);

private:
  class Reading;
  std::unique_ptr<Reading> reading_;
};

} // namespace tenon::linker
