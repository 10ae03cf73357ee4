// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The declared ABI of an export, as a value: what the compiler reads from `#hal.pipeline.layout`, the linker from a
// manifest, and the loader from an executable. Specification: abi/kernel_abi.md.
#pragma once

#include "abi/element_type.h"
#include "abi/tensor_map.h"
#include "support/diagnostics.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::abi {

enum class BindingKind : uint8_t { StorageBuffer, UniformBuffer };

struct Binding {
  BindingKind kind = BindingKind::StorageBuffer;
  bool readOnly = false;
  bool indirect = false;
  uint32_t alignment = 0; // bytes; 0: the element's natural alignment is all that is promised
  std::string name;
  bool operator==(const Binding &) const = default;
};

// Word: an untyped 32-bit word, convention version 1 (`constants = 3`). Scalar: `constants = [i64, f32]`.
enum class ConstantKind : uint8_t { Word, Scalar, Struct, TensorMap };

struct Constant {
  ConstantKind kind = ConstantKind::Word;
  ElementType element = ElementType::I32; // Scalar, and the elements of a tensor map
  uint32_t size = 4;                      // bytes
  uint32_t alignment = 4;                 // bytes, a power of two
  std::string name;
  std::optional<TensorMap> map; // TensorMap: how the runtime encodes it; absent: the caller passes its bytes
  bool operator==(const Constant &) const = default;

  static Constant word() { return {}; }
  static Constant scalar(ElementType type);
};

// What a kernel parameter, or a part of one, is. Struct: bytes of a declared size, zero where no member stands.
enum class ParameterKind : uint8_t { Binding, Constant, Hidden, Struct };

/// A part of a struct that is passed by value.
struct ParameterMember {
  ParameterKind kind = ParameterKind::Binding; // not Struct
  uint32_t index = 0;                          // of the binding or constant
  uint32_t offset = 0;                         // bytes from the start of the struct
  bool operator==(const ParameterMember &) const = default;

  /// "binding 1 at 8".
  std::string toString() const;
};

/// One kernel parameter, where a layout says their order.
struct DeclaredParameter {
  ParameterKind kind = ParameterKind::Binding;
  uint32_t index = 0;                   // of the binding or constant
  uint32_t size = 0;                    // Struct: bytes
  uint32_t alignment = 0;               // Struct: bytes, a power of two
  std::vector<ParameterMember> members; // of a Struct, or pointers within the bytes of a constant that is one
  bool operator==(const DeclaredParameter &) const = default;

  static DeclaredParameter binding(uint32_t index) { return {.kind = ParameterKind::Binding, .index = index}; }
  static DeclaredParameter constant(uint32_t index) { return {.kind = ParameterKind::Constant, .index = index}; }
  static DeclaredParameter hidden() { return {.kind = ParameterKind::Hidden}; }
  static DeclaredParameter structOf(uint32_t size, uint32_t alignment, std::vector<ParameterMember> members = {}) {
    return {ParameterKind::Struct, 0, size, alignment, std::move(members)};
  }

  /// As in MLIR: "constant 0", "struct<24, alignment = 8>(binding 0 at 0, constant 1 at 8)", "padding<4, alignment =
  /// 4>".
  std::string toString() const;
};

struct Layout {
  std::vector<Binding> bindings;
  std::vector<Constant> constants;
  uint32_t hiddenPointers = 0;               // trailing pointers passed as null
  std::vector<DeclaredParameter> parameters; // in the kernel's order, without the trailing; empty: bindings, constants
  bool operator==(const Layout &) const = default;

  /// Leaves out of `parameters` what is said without it: null pointers at the end are hiddenPointers, and an order that
  /// is the usual one is none. Layouts that mean the same parameters, numbered alike, are then equal.
  void simplifyOrder();

  /// As in MLIR: "3 bindings (ReadOnly, ReadOnly, ReadWrite), constants = [i32]".
  std::string toString() const;
};

using Extent3 = std::array<uint32_t, 3>;

struct Launch {
  Extent3 workgroupSize = {1, 1, 1}; // threads
  uint32_t subgroupSize = 0;         // lanes; 0: not declared
  uint32_t dynamicSharedBytes = 0;
  Extent3 cluster = {0, 0, 0}; // workgroups; {0,0,0}: not declared
  bool cooperative = false;
  bool programmaticDependentLaunch = false;
  bool operator==(const Launch &) const = default;

  uint64_t threads() const { return uint64_t(workgroupSize[0]) * workgroupSize[1] * workgroupSize[2]; }
};

struct Export {
  std::string name;
  std::string symbol; // entry point in the objects; the same as `name` unless declared
  uint32_t ordinal = 0;
  Layout layout;
  Launch launch;
  SourceLocation declaredAt;
};

} // namespace tenon::abi
