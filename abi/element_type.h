// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types of tensors and types of scalar constants, with the spelling that MLIR and the tools use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::abi {

// Numbers are those of fb::ElementType (abi/format/schemas/layout.fbs) and are frozen.
enum class ElementType : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64, Index };

/// Bytes of one element in memory: i1 takes 1, index 8; 0 for a number that is no element type.
uint32_t byteSize(ElementType type);
bool isFloat(ElementType type);
/// "bf16"; "?" for a number that is no element type.
std::string_view spelling(ElementType type);
/// The inverse of spelling(); nothing for an unknown word.
std::optional<ElementType> parseElementType(std::string_view word);

} // namespace tenon::abi
