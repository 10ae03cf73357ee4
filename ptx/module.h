// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX as text has it, to statement level: every instruction is an opcode, its dotted modifiers and its operands. No
// table of opcodes stands behind this; what a modifier means is for the reader (linker: ABI proof; emulator: decode).
//
// Every string_view points into the module's own source text, so a Module is moved, never copied, and keeps its source.
// Modifiers and operands lie in the module's arena: an instruction is plain memory, and a body is freed in one piece.
#pragma once

#include "abi/target_arch.h"
#include "ptx/arena.h"
#include "ptx/opcode_facts.h"
#include "ptx/scalar_type.h"
#include "support/files/source_file.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::ptx {

enum class StateSpace : uint8_t { Generic, Reg, Sreg, Const, Global, Local, Param, Shared, Tex };

/// Bytes [begin, end) of the source text.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// How a name splits into a stem and a decimal number: `%rd12` into 3 bytes and 12. Found by the parser while it has
/// the name at hand, for look-up; not every name that ends in digits has it.
struct NumberedName {
  uint32_t stemSize : 4 = 0; // 2 to 4 bytes; 0: not split
  uint32_t number : 28 = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    Name,    // register, special register (%tid.x), variable, label or function: `name`, plus `offset` for `sym+8`
    Integer, // `bits`, two's complement (a leading minus is applied)
    Float32, // `bits`, from 0f........
    Float64, // `bits`, from 0d................ or a decimal literal
    Vector,  // {a, b}: `elements`
    List,    // (a, b): call arguments: `elements`
    Address, // [base + offset] or [base, {coordinates}]: elements[0] is the base, the rest what follows the commas
    Pair,    // p|q: `elements`, two
    Sink,    // _
  };
  Kind kind = Kind::Name;
  bool negated = false; // !p
  bool minus = false;   // -%r (arithmetic minus of a name)
  NumberedName numbered;
  std::string_view name;
  uint64_t bits = 0;
  int64_t offset = 0; // Address: bytes added to the base; Name: bytes added to the symbol
  List<Operand> elements;
};

/// The special registers that hold the address of a cooperative launch's memory, through which its workgroups wait for
/// each other; 0 in any other launch. What PTX calls environment registers; these two are the CUDA driver's.
inline bool isGridWorkspace(std::string_view registerName) {
  return registerName == "%envreg1" || registerName == "%envreg2";
}

inline constexpr uint32_t kNoSpelling = UINT32_MAX;

struct Instruction {
  std::string_view predicate; // register of @p / @!p; empty: none
  NumberedName predicateNumbered;
  bool predicateNegated = false;
  OpcodeFacts facts;
  uint32_t spelling = kNoSpelling;  // the same number: the same opcode and modifiers, within one parse; from 0
  std::string_view opcode;          // "ld"
  List<std::string_view> modifiers; // "global", "nc", "v4", "f32", "L1::no_allocate", in order, without dots
  List<Operand> operands;
  SourceRange range;
  uint32_t line = 0, column = 0; // from 1

  bool hasModifier(std::string_view modifier) const;
  /// The form, as ptx_opcodes counts them: "ld.global.nc.f32".
  std::string form() const;
};

/// .reg/.shared/.local/.param/.global/.const variable, function parameter, or module variable.
struct Variable {
  StateSpace space = StateSpace::Generic;
  ScalarType type = ScalarType::None;
  uint32_t vectorWidth = 1; // .v2/.v4
  uint32_t alignment = 0;   // declared .align, 0: none
  std::string_view name;
  uint32_t registerCount = 0; // `%r<12>`: 12; 0: a plain name
  bool isArray = false;
  std::vector<std::optional<uint64_t>> dimensions; // [n] elements, [] is nullopt (extern shared)
  // `.ptr .global .align 4` of a kernel parameter
  bool hasPtr = false;
  StateSpace ptrSpace = StateSpace::Generic;
  uint32_t ptrAlignment = 0; // 0: not said
  bool isExtern = false, isVisible = false, isWeak = false, isCommon = false;
  bool isManaged = false; // .attribute(.managed)
  /// Initialiser, flattened: integer, float, or a symbol (Name; `generic(sym)+8` sets isGeneric). Of an opaque type: a
  /// field as a Name (`filter_mode`) whose one element is its value.
  struct Initializer {
    Operand value;
    bool isGeneric = false;
    uint64_t mask = 0; // 0xff00(sym): the byte of the address that this element holds, as a mask; 0: none
  };
  std::vector<Initializer> initializers;
  bool hasInitializer = false;
  SourceRange range;
  uint32_t line = 0, column = 0;

  /// Elements (product of the dimensions; an open first dimension counts 0) times vectorWidth times byteSize(type).
  uint64_t bytes() const;
  /// Declared alignment, else the natural one.
  uint32_t effectiveAlignment() const;
};

/// .loc FILE LINE COLUMN [, function_name ..., inlined_at ...]
struct SourceMark {
  uint32_t file = 0, line = 0, column = 0;
  std::string_view functionName; // debug string label when inlined
  uint32_t inlinedFile = 0, inlinedLine = 0, inlinedColumn = 0;
};

/// One statement of a body, in source order. Scopes are marked by BlockBegin/BlockEnd: names declared inside end there.
struct Statement {
  enum class Kind : uint8_t {
    Instruction,
    Label,
    Declaration,
    BlockBegin,
    BlockEnd,
    Loc,
    Pragma,
    BranchTargets,
    CallTargets,
    CallPrototype
  };
  Kind kind = Kind::Instruction;
  uint32_t index = 0;    // into Function::instructions / declarations / marks / tables, by kind
  std::string_view name; // Label and tables: the name; Pragma: its string
};

/// `name: .branchtargets a, b;` / `.calltargets f, g;` / `.callprototype (ret) _ (params) .noreturn;`
struct LabelTable {
  std::string_view name;
  std::vector<std::string_view> entries;
  std::vector<Variable> returns, parameters; // prototypes
  bool noReturn = false;
  uint32_t line = 0, column = 0;
};

struct Function {
  std::string_view name;
  bool isEntry = false, isVisible = false, isExtern = false, isWeak = false;
  bool isDeclaration = false; // no body
  bool noReturn = false;
  std::vector<Variable> returns, parameters;
  // Performance directives; absent when not written. Missing extents of a directive are 1.
  std::optional<std::array<uint32_t, 3>> requiredThreads; // .reqntid
  std::optional<std::array<uint32_t, 3>> maxThreads;      // .maxntid
  std::optional<uint32_t> minBlocksPerSm;                 // .minnctapersm
  std::optional<uint32_t> maxRegisters;                   // .maxnreg
  std::optional<std::array<uint32_t, 3>> requiredCluster; // .reqnctapercluster
  std::optional<uint32_t> maxClusterRank;                 // .maxclusterrank
  bool explicitCluster = false, blocksAreClusters = false;
  std::vector<std::string_view> pragmas;

  std::vector<Statement> statements;
  std::vector<Instruction> instructions;
  std::vector<Variable> declarations;
  std::vector<SourceMark> marks;
  std::vector<LabelTable> tables;
  SourceRange range; // header and body
  uint32_t line = 0, column = 0;
};

struct DebugFile {
  uint32_t number = 0;
  std::string_view path;
};

/// .alias name, target;
struct Alias {
  std::string_view name, target;
  uint32_t line = 0, column = 0;
};

struct Module {
  std::shared_ptr<const SourceFile> source;
  std::unique_ptr<Arena> arena; // of modifiers, operands and their elements
  uint16_t isa = 0;             // .version, 10 * major + minor
  abi::TargetArch target;
  std::vector<std::string_view> targetOptions; // "debug", "texmode_unified", ...
  uint32_t addressSize = 0;
  std::vector<Function> functions; // definitions and declarations, in order
  std::vector<Variable> variables;
  std::vector<DebugFile> files;
  std::vector<Alias> aliases;
  std::vector<std::string_view> pragmas; // of the module; a body's are statements
  SourceLocation versionAt, targetAt, addressSizeAt;

  Module() = default;
  Module(Module &&) = default;
  Module &operator=(Module &&) = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// The definition named so, else a declaration, else null.
  const Function *findFunction(std::string_view name) const;
  const Variable *findVariable(std::string_view name) const;
};

} // namespace tenon::ptx
