// From a layout to the offsets of the kernel parameter block: the one function that the linker checks against, the
// compiler generates from and the runtime packs with.
//
// Kernel parameters, in order: one 64-bit device pointer per binding, then the constants, each at its natural (or
// declared) alignment exactly as members of a C struct, then hidden pointers. Specification: abi/kernel_abi.md, K-3.
#pragma once

#include "abi/layout.h"
#include "abi/result.h"

#include <vector>

namespace tenon::abi {

enum class ParameterKind : uint8_t { Binding, Constant, Hidden };

struct Parameter {
  ParameterKind kind = ParameterKind::Binding;
  uint32_t index = 0;     // into Layout::bindings or Layout::constants, or the n-th hidden pointer
  uint32_t offset = 0;    // bytes from the start of the parameter block
  uint32_t size = 0;      // bytes
  uint32_t alignment = 0; // bytes
  bool operator==(const Parameter &) const = default;
};

struct ParameterLayout {
  std::vector<Parameter> parameters; // in kernel parameter order
  uint32_t bytes = 0;                // end of the last parameter (no tail padding)
};

/// Parameter block of `layout`.
/// @return InvalidArgument: a constant's size is 0 or its alignment is no power of two (K-3); OutOfRange: more than
///         32764 bytes (K-5). Source: PTX ISA, "Kernel Function Parameter Attributes".
Result<ParameterLayout> computeParameterLayout(const Layout &layout);

/// Packs one dispatch's arguments into the parameter block.
/// @param layout     the block
/// @param bindings   [n] device addresses, binding order
/// @param constants  [m] register values: the low `size` bytes are stored, little endian; only sizes <= 8
/// @param out        [b] bytes, b >= layout.bytes; padding and hidden pointers are zeroed
/// @return InvalidArgument: n or m differ from the layout, or a constant is wider than 8 bytes (K-7); OutOfRange: b.
Status packParameters(const ParameterLayout &layout, const uint64_t *bindings, size_t bindingCount,
                      const uint64_t *constants, size_t constantCount, uint8_t *out, size_t outBytes);

} // namespace tenon::abi
