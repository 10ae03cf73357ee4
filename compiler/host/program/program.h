// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as the compiler builds it: plain values that mirror abi/format/schemas/program.fbs, table for table.
//
//   host_function fills a Function from a func.func; host_program fills the Program from a module;
//   program_writer turns it into bytes. Nothing here knows MLIR.
#pragma once

#include "abi/element_type.h"
#include "abi/target_arch.h"
#include "compiler/host/program/register_program.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tenon::compiler::host {

struct ValueType {
  bool isTensor = false;
  abi::ElementType element = abi::ElementType::I32;
  std::vector<int64_t> shape; // tensors: [rank], -1 is dynamic
  bool isUnread = false;      // an input that the function does not look at: neither a tensor nor a scalar
  bool operator==(const ValueType &) const = default;
};

enum class BufferSource : uint8_t { Input, Transient, Constant };

struct Buffer {
  BufferSource source = BufferSource::Transient;
  uint32_t index = 0;            // Input: the argument; Constant: into Program::constants
  Register size = kNoRegister;   // Transient: bytes
  Register offset = kNoRegister; // Transient: bytes from the arena's start (arena_layout.h)
};

/// All of a buffer: programs made here name no sub-ranges yet.
using BufferIndex = uint32_t;

struct Dispatch {
  uint32_t executable = 0;
  uint32_t exportOrdinal = 0;
  std::array<Register, 3> grid = {kNoRegister, kNoRegister, kNoRegister};
  std::vector<BufferIndex> bindings;
  std::vector<Register> constants;
};

struct Copy {
  BufferIndex source = 0;
  BufferIndex target = 0;
};

struct Command {
  std::variant<Dispatch, Copy> body;
  std::string location; // "example.mlir:31:5"
};

/// A zero condition fails the call with `message` before anything is launched.
struct Check {
  Register condition = kNoRegister;
  std::string message;
  std::string location;
};

struct ResultValue {
  ValueType type;
  BufferIndex buffer = 0;        // tensors
  std::vector<Register> shape;   // tensors: [rank]
  Register scalar = kNoRegister; // scalars
  // Of a block, a scalar that is read back: its byte in `buffer`. Then there is no `scalar`.
  Register element = kNoRegister;
};

enum class ExpectationKind : uint8_t { NonZero, Zero, Equal, AlmostEqual };

/// check.*: compared by the host once the call has ended.
struct Expectation {
  ExpectationKind kind = ExpectationKind::NonZero;
  std::string operation; // "check.expect_eq"
  ResultValue found;
  std::optional<ResultValue> wanted; // Equal, AlmostEqual
  double absoluteTolerance = 0, relativeTolerance = 0;
  std::string location;
};

/// Where a block goes next, if the condition holds.
struct Target {
  Register condition = kNoRegister; // none: of the last target
  uint32_t block = 0;
  std::vector<uint32_t> arguments; // [parameters of that block] results of this one
};

/// A global becomes a result of the block.
struct Store {
  uint32_t global = 0;
  uint32_t result = 0;
};

/// A function, or a block of one. What a block takes from others are its first inputs, and what it hands on its
/// results.
struct Function {
  std::string name;
  std::vector<ValueType> inputs;
  RegisterProgram registers;
  std::vector<Buffer> buffers;
  std::vector<Check> checks;
  std::vector<Command> commands; // in stream order
  std::vector<ResultValue> results;
  std::vector<Expectation> expectations;
  Register arena = kNoRegister; // bytes

  std::vector<Function> blocks; // then there is nothing else but a name and types
  std::vector<uint32_t> loads;  // of a block: globals, which are its last inputs
  std::vector<Store> stores;    // of a block
  std::vector<Target> targets;  // of a block; none: it returns

  std::vector<uint32_t> donated; // inputs that it may write, ascending
  std::vector<uint32_t> updated; // those of them that callers read afterwards

  std::vector<std::string> inputNames, resultNames; // for callers; empty, or one for each
  std::string documentation;

  /// Drops buffers and registers that no command, check, result or expectation names, and renumbers the rest in order.
  void dropUnused();
};

/// `bytes`, as often as it takes to be `size` of them: a splat is its element.
struct Constant {
  std::span<const uint8_t> bytes;
  uint64_t size = 0;                                 // a multiple of bytes.size()
  std::shared_ptr<const std::vector<uint8_t>> owner; // of `bytes`; null: they live as long as the module
};

/// What a program keeps between calls.
struct Global {
  std::string name;
  ValueType type;
  std::optional<uint32_t> constant; // tensors: into Program::constants
  int64_t scalar = 0;               // scalars
};

/// The program's functions as they are for some targets.
struct Edition {
  std::vector<abi::TargetArch> targets;
  std::vector<Function> functions;
  std::optional<Function> initializer;
};

struct Program {
  std::string name;
  std::vector<std::vector<uint8_t>> executables; // TNX1 buffers
  std::vector<Function> functions;
  std::vector<Constant> constants;
  std::vector<Global> globals;
  std::optional<Function> initializer; // runs before the first call
  std::vector<Edition> editions;       // the last that is for the device is run instead
};

} // namespace tenon::compiler::host
