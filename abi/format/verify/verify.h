// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trust boundary: bytes from a file are verified here once, before anything reads them. What passes is safe for the
// views: every offset lies in the buffer, every index in its array, every enumerator is known, every register operand
// refers to an earlier register. What the rules are: abi/executable_format.md, F-1...
#pragma once

#include "support/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::abi {

/// Image.base of an image that needs no other.
inline constexpr uint32_t kNoImage = UINT32_MAX;
/// How many images may stand one behind the other as each other's dictionary (F-9).
inline constexpr uint32_t kMaxImageBases = 2;
inline constexpr uint32_t kFormatVersion = 2;
/// Of an executable with a layout that says the order of its parameters: a reader that does not know orders would pass
/// arguments in the wrong places.
inline constexpr uint32_t kOrderedFormatVersion = 3;
/// Of a program with blocks or globals: a reader that does not know them would run an empty function.
inline constexpr uint32_t kBlocksFormatVersion = 3;
inline constexpr size_t kBufferAlignment = 16;           // bytes, of the buffer's address
inline constexpr uint64_t kMaxImageBytes = 512ull << 20; // one image, decompressed (F-9)
inline constexpr uint32_t kMaxRank = 64;                 // of a tensor (F-15)

/// DataLoss names the rule, the table and the index; `name` is the file for the message. The buffer must be 16-byte
/// aligned (a violation is InvalidArgument); verifyProgram verifies the executables nested in it too.
Status verifyExecutable(std::span<const uint8_t> bytes, std::string_view name);
Status verifyProgram(std::span<const uint8_t> bytes, std::string_view name);

} // namespace tenon::abi
