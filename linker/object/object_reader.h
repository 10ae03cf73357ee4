// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an object's bytes to what the passes need of it, in one pass over the text: headers of functions, variables, and
// of each body its facts and, where a kernel is asked for, its trace. A body is forgotten before the next one is read,
// so that memory does not grow with the text; a diagnostic that needs one reads it again (Object::bodyOf).
#pragma once

#include "linker/object/object.h"
#include "ptx/words/name_map.h"

#include <vector>

namespace tenon::linker {

/// The kernels that are asked for, by symbol, and how: the slots of their parameters.
class TraceRequests {
public:
  /// Makes room for so many symbols.
  void reserve(size_t count) {
    numbers_.reserve(count);
    symbols_.reserve(count);
    sets_.reserve(count);
  }
  /// `symbol` is a view, and outlives the requests.
  void add(std::string_view symbol) { setsOf(symbol); }
  void add(std::string_view symbol, ParameterSlots slots);
  /// The sets of slots to trace a kernel with; null where nobody asks for it.
  /// `hint`: a number of a symbol that it may be; where it is not, the right one is put there. They are numbered in the
  /// order in which they were added.
  const std::vector<ParameterSlots> *find(std::string_view symbol, size_t &hint) const {
    if (hint < symbols_.size() && ptx::sameName(symbols_[hint], symbol))
      return &sets_[hint];
    const uint32_t number = numbers_.find(symbol);
    if (number == ptx::NameMap::kNone)
      return nullptr;
    hint = number;
    return &sets_[number];
  }

private:
  std::vector<ParameterSlots> &setsOf(std::string_view symbol);

  ptx::NameMap numbers_; // by symbol: into symbols_ and sets_
  std::vector<std::string_view> symbols_;
  std::vector<std::vector<ParameterSlots>> sets_;
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
