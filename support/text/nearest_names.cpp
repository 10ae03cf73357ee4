// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names are short (tens of bytes) and lists of them too, so the plain quadratic table is all that is needed.
#include "support/text/nearest_names.h"

#include <algorithm>
#include <tuple>

namespace tenon {

size_t editDistance(std::string_view a, std::string_view b) {
  // Three rows of the table: the one being filled, the one above, and the one above that (for swaps).
  std::vector<size_t> older(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], older[j - 2] + 1);
    }
    older.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::vector<std::string> nearestNames(std::string_view wanted, std::span<const std::string> known, size_t limit) {
  struct Near {
    size_t distance;
    const std::string *name;
  };
  const size_t reach = std::max<size_t>(2, wanted.size() / 3);
  std::vector<Near> near;
  for (const std::string &name : known) {
    size_t distance = editDistance(wanted, name);
    bool holds = wanted.size() >= 3 && name.size() >= 3 &&
                 (name.find(wanted) != std::string::npos || wanted.find(name) != std::string_view::npos);
    const bool sharesNothing = distance == std::max(wanted.size(), name.size());
    if ((distance <= reach && !sharesNothing) || holds)
      near.push_back({distance, &name});
  }
  // `name` points into `known`, so comparing it keeps the order given.
  std::sort(near.begin(), near.end(),
            [](const Near &a, const Near &b) { return std::tie(a.distance, a.name) < std::tie(b.distance, b.name); });
  std::vector<std::string> result;
  for (size_t i = 0; i < near.size() && i < limit; ++i)
    result.push_back(*near[i].name);
  return result;
}

std::string quotedList(std::span<const std::string> names, std::string_view lastJoin) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && i + 1 == names.size())
      text.append(" ").append(lastJoin).append(" ");
    else if (i > 0)
      text += ", ";
    text.append("'").append(names[i]).append("'");
  }
  return text;
}

} // namespace tenon
