// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction on its way from text to Decoded, as the families see it (families/*.cpp): its operands become
// numbers, what it computes becomes a handler, and whatever is not understood becomes an error at its line.
//
// Width rule: a handler works on registers of exactly its type's width. ld, st and cvt may name wider registers; then a
// conversion to or from a scratch register is emitted around the instruction, under the same predicate.
#pragma once

#include "emulator/decode/form.h"
#include "emulator/decode/names.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::emulator {

class KernelBuilder;

/// A value of ld, st or mov: `{%r1}`, a vector of one, is its element (ptxas takes it, Triton writes it).
inline const ptx::Operand &onlyElement(const ptx::Operand &operand) {
  const bool isOne = operand.kind == ptx::Operand::Kind::Vector && operand.elements.size() == 1;
  return isOne ? operand.elements[0] : operand;
}

class Decoder {
public:
  using ScalarType = ptx::ScalarType;
  using Operand = ptx::Operand;
  Decoder(KernelBuilder &builder, const ptx::Function &function, FunctionCode &code);

  // What is decoded.
  const ptx::Instruction &in() const { return *in_; }
  const ptx::Function &function() const { return function_; }
  const ptx::Module &module() const;
  const CheckOptions &checks() const;

  // Errors, at the instruction. All return false. fail: it is wrong, and the module does not load; refuse and
  // unsupported: this kernel does not run, others of the module may.
  bool fail(const std::string &message);
  bool refuse(const std::string &message);
  bool unsupported(const std::string &why = {});

  // Rules. False: an error was reported.
  bool expectOperands(size_t least, size_t most);
  bool needsTarget(uint16_t number, bool specific = false); // sm_NN or higher; `specific`: sm_NNa

  // Operands. False: an error was reported. relaxed: the register may be wider than the type.
  bool source(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed = false);
  bool destination(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed = false);
  bool predicateSource(const Operand &operand, uint32_t &out, bool &negated);
  bool predicateDestination(const Operand &operand, uint32_t &out);
  /// {a, b, ...}: the operands of `count` elements, added to `out`; a sink is kNoOperand.
  bool vectorElements(const Operand &operand, ScalarType type, uint32_t count, bool isSource,
                      std::vector<uint32_t> &out);
  /// [base + offset] in `space`: `a`, `imm` and `addressMode` of `decoded`; `space` becomes the one to access.
  bool address(const Operand &operand, MemorySpace &space, Decoded &decoded);
  /// A 64-bit register with the generic address of `operand`, an address in `space`.
  bool genericAddress(const Operand &operand, MemorySpace space, uint32_t &out);

  // Names of the function.
  std::optional<FunctionNames::Register> findRegister(std::string_view name) { return names_.findRegister(name); }
  const FunctionNames::Symbol *findSymbol(std::string_view name) const { return names_.findSymbol(name); }
  /// The kernel parameter that `operand`, an address, names; null: it names something else.
  const ParameterSlot *kernelParameter(const Operand &operand);

  // Values that are known before the kernel runs, as operands.
  uint32_t constant(uint64_t value, uint32_t bytes);
  std::optional<uint64_t> constantValue(uint32_t operand) const; // nothing: not made by constant()
  uint32_t parameter(uint32_t offset, uint32_t bytes);
  /// A register that is written once, here and by all lanes, with a value that is the same during the whole launch
  /// (a constant, a parameter, a special register) is a name for it, and the instruction goes away. False: it does not.
  bool bindConstant(const Form &form, const Operand &destination, uint32_t bytes, uint32_t constant);

  // What instructions need in the function's code.
  uint32_t allocateRegister(uint32_t bytes) { return names_.allocateRegister(bytes); } // 0: a predicate
  uint32_t carryRegister();
  uint32_t addOperands(const std::vector<uint32_t> &operands); // Decoded::list
  uint32_t cacheSlot();                                        // Decoded::target of a memory instruction
  uint32_t addCallSite(CallSite site);                         // Decoded::target of a call
  /// The code of a function that the kernel can reach; null: it cannot.
  const FunctionCode *codeOf(const ptx::Function *function) const;

  // Emission. The predicate of the instruction is added.
  void emit(Decoded decoded);
  void emitConversion(uint32_t to, uint32_t toBytes, uint32_t from, uint32_t fromBytes, bool isSigned);
  /// Refuses what is left of `form` and a null handler; emits.
  bool finish(Form &form, Decoded &decoded);
  /// The next instruction that is emitted branches to `label` of this scope, which may still come.
  void branchTo(std::string_view label);
  /// `list` and `imm` of a branch through the table `name`.
  bool branchTable(std::string_view name, Decoded &decoded);

private:
  friend class FunctionDecoder;
  struct Fixup {
    size_t at;
    bool isTable; // an entry of `operands`, else `target` of an instruction
    uint32_t scope;
    std::string_view label;
    uint32_t line, column;
  };
  struct Widening {
    uint32_t to, toBytes, from, fromBytes;
    bool isSigned;
  };

  SourceLocation place() const;
  bool begin(uint32_t index); // of an instruction; false: its predicate is none
  void end();                 // emits what has to follow it
  void endFunction();
  void resolveLabels();
  bool specialSource(std::string_view name, uint32_t bytes, uint32_t &out);
  bool symbolAddress(const Operand &operand, uint32_t bytes, uint32_t &out, bool generic = false);
  bool simpleAddress(const Operand &operand, MemorySpace &space, Decoded &decoded);
  void toClusterWindow(Decoded &decoded);
  void addSharedBase(uint32_t bytes, uint32_t &out);

  KernelBuilder &builder_;
  const ptx::Function &function_;
  FunctionCode &code_;
  FunctionNames names_;
  std::vector<Fixup> fixups_;
  const ptx::Instruction *in_ = nullptr; // null: before the first, behind the last
  uint32_t index_ = 0;                   // of in_
  uint32_t predicate_ = kNoOperand;
  bool predicateNegated_ = false;
  std::vector<Widening> after_; // emitted behind the instruction
};

} // namespace tenon::emulator
