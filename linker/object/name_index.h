// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module calls by a name: functions, variables. For lookup only; nothing is ever listed in its order.
#pragma once

#include "ptx/words/name_map.h"

#include <string_view>
#include <vector>

namespace tenon::linker {

template <typename Item> class NameIndex {
public:
  /// The item of this name, or null.
  const Item *find(std::string_view name) const {
    const uint32_t number = numbers_.find(name);
    return number == ptx::NameMap::kNone ? nullptr : items_[number];
  }
  bool contains(std::string_view name) const { return numbers_.find(name) != ptx::NameMap::kNone; }
  /// The place of the item of this name; null stands there when the name is new.
  const Item *&operator[](std::string_view name) {
    uint32_t &number = numbers_[name];
    if (number == ptx::NameMap::kNone) {
      number = static_cast<uint32_t>(items_.size());
      items_.push_back(nullptr);
    }
    return items_[number];
  }

  /// Makes room for so many names.
  void reserve(size_t count) {
    numbers_.reserve(count);
    items_.reserve(count);
  }

private:
  ptx::NameMap numbers_; // into items_
  std::vector<const Item *> items_;
};

} // namespace tenon::linker
