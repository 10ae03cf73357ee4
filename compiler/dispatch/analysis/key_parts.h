// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the key of a choice consists of (prepare/choice_keys.h), where rows are of unknown length: bits of the element,
// then bits of its place, as many as any row may need. Who knows more of the rows that a kernel is for finds the parts
// by these marks, and makes the key shorter (codegen/decisions/short_keys.h).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tenon::compiler::dispatch {

// On what a body computes of keys, or of places in them: one of those below.
inline constexpr llvm::StringLiteral kKeyPartAttr = "tenon.key_part";

// A number that has the key's type.
inline constexpr llvm::StringLiteral kKeyNumber = "number";
// The constant that has a bit for each bit of a place, and the one that says how many these are.
inline constexpr llvm::StringLiteral kKeyPlaces = "places", kKeyPlaceBits = "place_bits";
// A choice of the place where the element is the best of its row, which another reduction has found: both are not in
// one key.
inline constexpr llvm::StringLiteral kKeyOfBest = "of_best";

} // namespace tenon::compiler::dispatch
