// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs and executables made by hand, for tests that need neither compiler nor linker.
#pragma once

#include "abi/format/executable_generated.h"
#include "abi/format/program_generated.h"
#include "abi/layout.h"
#include "abi/target_arch.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::test {

/// File bytes at a 64-byte boundary, as the verifier wants them.
class AlignedBytes {
public:
  explicit AlignedBytes(std::span<const uint8_t> bytes);
  std::span<const uint8_t> span() const { return {reinterpret_cast<const uint8_t *>(blocks_.data()), size_}; }

private:
  struct alignas(64) Block {
    uint8_t bytes[64];
  };
  std::vector<Block> blocks_;
  size_t size_;
};

struct VariantSpec {
  std::string name;
  uint16_t arch = 80;
  std::string image; // PTX text, or a cubin's bytes
  abi::fb::ImageKind kind = abi::fb::ImageKind::Ptx;
  uint16_t isa = 70;
  abi::fb::Origin origin = abi::fb::Origin::HandWritten;
  std::vector<uint32_t> requiredThreads; // .reqntid
  bool takesAnyGrid = false;
};

/// An export with `bindings` storage buffers (all but the last read only) and `words` 32-bit constants.
abi::Export makeExport(std::string name, size_t bindings, size_t words, uint32_t threads = 64);

/// An executable in which every variant holds every export.
std::vector<uint8_t> buildExecutable(const std::string &name, std::vector<abi::Export> exports,
                                     const std::vector<VariantSpec> &variants);

struct TypeSpec {
  abi::ElementType element = abi::ElementType::F32;
  std::vector<int64_t> shape; // -1: dynamic
  bool isScalar = false;
};
struct BufferSpec {
  abi::fb::BufferSource source;
  uint32_t index = 0;
  uint32_t size = 0xffffffff;
  uint32_t offset = 0xffffffff;
};
struct CommandSpec {
  enum Kind { Dispatch, Copy, Fill } kind = Dispatch;
  uint32_t ordinal = 0;                     // Dispatch
  std::vector<uint32_t> grid;               // Dispatch: registers
  std::vector<abi::fb::BufferRange> ranges; // bindings; source, target; target
  std::vector<uint32_t> constants;          // Dispatch: registers; Fill: pattern
  uint8_t patternBytes = 4;                 // Fill
  std::string location;
  uint32_t executable = 0; // Dispatch
};
struct CheckSpec {
  uint32_t condition;
  std::string message, location;
};
struct ResultSpec {
  TypeSpec type;
  uint32_t buffer = 0;
  std::vector<uint32_t> shape;
  uint32_t scalar = 0;
  uint32_t element = 0xffffffff; // of a block: register
};
struct TargetSpec {
  uint32_t condition = 0xffffffff;
  uint32_t block = 0;
  std::vector<uint32_t> arguments;
};
struct ExpectationSpec {
  abi::fb::ExpectationKind kind;
  ResultSpec found;
  std::optional<ResultSpec> wanted;
  double atol = 0, rtol = 0;
  std::string location;
};
struct FunctionSpec {
  std::string name;
  std::vector<TypeSpec> inputs;
  std::vector<abi::fb::RegisterOp> registers;
  std::vector<BufferSpec> buffers;
  std::vector<CheckSpec> checks;
  std::vector<CommandSpec> commands;
  std::vector<ResultSpec> results;
  std::vector<ExpectationSpec> expectations;
  uint32_t arena = 0xffffffff;
  std::vector<FunctionSpec> blocks;
  std::vector<uint32_t> loads;
  std::vector<abi::fb::Store> stores;
  std::vector<TargetSpec> targets;
  std::vector<uint32_t> donated, updated;
};
struct GlobalSpec {
  std::string name;
  TypeSpec type;
  uint32_t constant = 0xffffffff;
  int64_t scalar = 0;
};
struct EditionSpec {
  abi::TargetArch target;
  std::vector<FunctionSpec> functions;
};
/// What a program keeps between calls, and its editions.
struct StateSpec {
  std::vector<GlobalSpec> globals;
  std::optional<FunctionSpec> initializer;
  std::vector<EditionSpec> editions;
};

inline constexpr uint32_t kWhole = 0xffffffff;
inline abi::fb::BufferRange wholeBuffer(uint32_t buffer) {
  return {buffer, kWhole, kWhole};
}

/// `trailingBytes` != 0: one more constant of so many bytes, which begin behind the buffer at a multiple of 64.
AlignedBytes buildProgram(const std::vector<FunctionSpec> &functions,
                          const std::vector<std::vector<uint8_t>> &executables,
                          const std::vector<std::vector<uint8_t>> &constants = {}, uint64_t trailingBytes = 0,
                          const StateSpec &state = {});

} // namespace tenon::test
