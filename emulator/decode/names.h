// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of one function: registers, variables and labels, by scope. A register gets its place in the register file
// when it is first used, because a debug build declares many more than it uses.
#pragma once

#include "emulator/machine/decoded_kernel.h"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::emulator {

class FunctionNames {
public:
  struct Register {
    uint32_t offset = kNoOperand; // in the register file; or the constant that it is a name for
    uint32_t bytes = 0;           // 0: a predicate
  };
  struct Symbol { // a .local or .param variable of the frame, or a .shared one
    FrameSlot slot;
    bool isShared = false;
  };
  FunctionNames(const ptx::Function &function, FunctionCode &code);

  void openScope();
  void closeScope();
  uint32_t scope() const { return scope_; }
  void declareRegisters(const ptx::Variable &variable);
  void declareSymbol(std::string_view name, const Symbol &symbol);
  void declareLabel(std::string_view name, uint32_t pc);

  std::optional<Register> findRegister(std::string_view name);
  const Symbol *findSymbol(std::string_view name) const;
  /// Seen from `scope`.
  std::optional<uint32_t> findLabel(std::string_view name, uint32_t scope) const;
  /// From now on the register is another name for `constant`. False: it is written several times, was used before, or
  /// has another width.
  bool bind(std::string_view name, uint32_t bytes, uint32_t constant);
  /// A scratch register of `bytes`, 0: a predicate.
  uint32_t allocateRegister(uint32_t bytes);

private:
  struct Declared {
    ptx::ScalarType type;
    uint32_t count = 0; // of a numbered family; 0: one plain name
    std::vector<uint32_t> offsets;
  };
  struct Scope {
    uint32_t parent = 0;
    std::unordered_map<std::string_view, Declared> registers;
    std::unordered_map<std::string_view, Symbol> symbols;
    std::unordered_map<std::string_view, uint32_t> labels;
  };
  /// Where the offset of a register is kept; null: no such register.
  uint32_t *findPlace(std::string_view name, Declared *&declared);
  void countDefinitions(const ptx::Function &function);

  FunctionCode &code_;
  std::vector<Scope> scopes_;
  uint32_t scope_ = 0;
  std::unordered_map<std::string_view, uint32_t> definitions_; // of registers, by name: at least as many as there are
};

} // namespace tenon::emulator
