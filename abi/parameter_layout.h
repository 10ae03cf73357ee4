// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a layout to the kernel's parameters: the one function that the linker checks against, the compiler generates
// from and the runtime packs with.
//
// Kernel parameters, in order: one 64-bit device pointer per binding, then the constants, each at its natural (or
// declared) alignment exactly as members of a C struct, then hidden pointers; or the order that the layout says, in
// which pointers may also stand inside a struct that is passed by value. From the first parameter with an alignment
// above 16 on, an image places them as it likes; a launch gives the driver one pointer per parameter, so nobody has to
// know where. Specification: abi/kernel_abi.md, K-3.
//
// So there are two lists. Parameters are what the kernel declares: what a proof compares and the driver copies. Slots
// are what a dispatch brings: a pointer or a constant, each in some parameter. Without structs they are the same.
//
// A dispatch brings 64-bit words for its constants, in the order of the constants wherever they stand: one for each
// word or scalar, as many as it fills for a struct, and the extents of its tensor for a tensor map that the runtime
// encodes.
#pragma once

#include "abi/layout.h"
#include "support/result.h"

#include <vector>

namespace tenon::abi {

struct Parameter {
  ParameterKind kind = ParameterKind::Binding;
  uint32_t index = 0;       // into Layout::bindings or Layout::constants, or the n-th hidden pointer or struct
  uint32_t offset = 0;      // bytes from the start of the parameter block
  uint32_t size = 0;        // bytes
  uint32_t alignment = 0;   // bytes
  bool imagePlaces = false; // offset is that of the block here; an image may have another
  bool operator==(const Parameter &) const = default;
};

/// A pointer or a constant at its place in the block.
struct Slot {
  ParameterKind kind = ParameterKind::Binding; // not Struct
  uint32_t index = 0;                          // into Layout::bindings or Layout::constants; 0 for hidden pointers
  uint32_t parameter = 0;                      // into ParameterLayout::parameters
  uint32_t offset = 0;                         // bytes from the start of the parameter block
  uint32_t size = 0;                           // bytes
  uint32_t firstWord = 0;                      // Constant: among the words of a dispatch
  uint32_t words = 0;                          // Constant: how many
  static constexpr uint32_t kNoTensorMap = ~uint32_t(0);
  uint32_t tensorMap = kNoTensorMap; // Constant: into ParameterLayout::tensorMaps, where the runtime encodes it
  bool operator==(const Slot &) const = default;
};

struct EncodedTensorMap {
  TensorMap map;
  ElementType element = ElementType::F32;
};

struct ParameterLayout {
  std::vector<Parameter> parameters; // in kernel parameter order
  std::vector<Slot> slots;           // in that order; within a struct as declared. A later one lies over an earlier one
  uint32_t bytes = 0;                // end of the last parameter (no tail padding)
  uint32_t words = 0;                // that a dispatch passes for the constants
  uint32_t bindings = 0;             // that a dispatch passes
  uint32_t constants = 0;
  std::vector<EncodedTensorMap> tensorMaps;

  /// Offsets and size are those of every image.
  bool isFixed() const { return parameters.empty() || !parameters.back().imagePlaces; }
  /// Bytes from the start of its parameter.
  uint32_t offsetIn(const Slot &slot) const { return slot.offset - parameters[slot.parameter].offset; }
};

/// Parameter block of `layout`.
/// @return InvalidArgument: a constant's size is 0 or its alignment is no power of two, or the declared order does not
///         name each binding and constant once, or a struct's members do not lie side by side in it (K-3); or a tensor
///         map cannot be encoded (K-22; Unimplemented: im2col); OutOfRange: more than 32764 bytes (K-5). Source: PTX
///         ISA, "Kernel Function Parameter Attributes".
Result<ParameterLayout> computeParameterLayout(const Layout &layout);

/// Packs one dispatch's arguments into the parameter block.
/// @param layout     the block
/// @param bindings   [n] device addresses, binding order
/// @param constants  [m] words, in the order of the constants: the low `size` bytes of each constant's words are
///                   stored, little endian
/// @param out        [b] bytes, b >= layout.bytes; padding, unused bytes, hidden pointers and tensor maps to encode are
///                   zeroed
/// @return InvalidArgument: n or m differ from the layout (K-7); OutOfRange: b.
Status packParameters(const ParameterLayout &layout, const uint64_t *bindings, size_t bindingCount,
                      const uint64_t *constants, size_t constantCount, uint8_t *out, size_t outBytes);

} // namespace tenon::abi
