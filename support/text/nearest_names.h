// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "did you mean": the known names that are closest to one that was not found.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment).
size_t editDistance(std::string_view a, std::string_view b);

/// The names at most a third of `wanted`'s length (but at least 2 edits) away, or that hold it or are held by it,
/// nearest first, then in the order given; at most `limit`.
std::vector<std::string> nearestNames(std::string_view wanted, std::span<const std::string> known, size_t limit = 3);

/// "'a', 'b' and 'c'".
std::string quotedList(std::span<const std::string> names, std::string_view lastJoin = "and");

} // namespace tenon
