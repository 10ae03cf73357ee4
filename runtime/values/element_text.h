// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element as text: what `8xf32=` is followed by and what a result prints. Integers are decimal or 0x..., i1 is also
// true/false; floats as C writes them (1, 0.5, 1e-3, inf, nan, 0x1p3). Printed floats have six significant digits (%G).
#pragma once

#include "abi/element_type.h"
#include "support/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// Parses one element into its low byteSize(type) bytes, little endian. Integers take the signed and the unsigned range
/// (i8: -128 to 255). InvalidArgument: not a number of that type; OutOfRange: it does not fit.
Result<uint64_t> parseElement(std::string_view text, abi::ElementType type);

/// Prints the element whose bytes lie at `data`.
std::string formatElement(const uint8_t *data, abi::ElementType type);

/// As formatElement, with digits enough to tell it from every other element of its type.
std::string formatElementExactly(const uint8_t *data, abi::ElementType type);

/// The element as a number, for comparisons; exact for every type but i64 and index.
double elementAsDouble(const uint8_t *data, abi::ElementType type);

} // namespace tenon::runtime
