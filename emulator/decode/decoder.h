// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inside of decode: the builder of a DecodedKernel (kernel_builder.cpp) and the decoder of one function (decoder.cpp,
// decode_operands.cpp). The instruction families are spread over the other decode_*.cpp, as the class below says; which
// opcode is of which is in opcode_table.cpp.
//
// Width rule: a handler works on registers of exactly its type's width. ld, st and cvt may name wider registers; then a
// conversion to or from a scratch register is emitted around the instruction, under the same predicate.
#pragma once

#include "emulator/decode/decode.h"
#include "emulator/handlers/data.h"
#include "emulator/handlers/warp_ops.h"
#include "emulator/machine/handlers.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::emulator {

struct Fragment;
enum class MbarrierOp : uint8_t;

/// Constants, shared memory and the list of functions: what the functions of one kernel have in common.
class KernelBuilder {
public:
  KernelBuilder(const ptx::Module &module, const VariableAddress &variableAddress, Diagnostics &diagnostics)
      : module(module), variableAddress(variableAddress), diagnostics(diagnostics),
        kernel(std::make_unique<DecodedKernel>()) {}

  /// Operand of a constant of `bytes`, spread over the lanes.
  uint32_t constant(uint64_t value, uint32_t bytes);
  uint32_t special(Special special);
  /// What an operand of `constant` holds; nothing for other operands.
  std::optional<uint64_t> constantValue(uint32_t operand) const;
  /// Operand of `bytes` of the kernel's parameters.
  uint32_t parameter(uint32_t offset, uint32_t bytes);
  /// The functions that `entry` can reach, itself first.
  void collectFunctions(const ptx::Function &entry);
  void layoutShared();
  void layoutParameters(const ptx::Function &entry);
  FunctionCode *codeOf(const ptx::Function *function);
  void computeLocalBytes(uint32_t stackLimit);

  const ptx::Module &module;
  const VariableAddress &variableAddress;
  Diagnostics &diagnostics;
  std::unique_ptr<DecodedKernel> kernel;
  CheckOptions checks;
  std::vector<const ptx::Function *> functions;
  std::map<std::string_view, uint32_t> sharedOffsets; // module variables
  std::map<std::pair<const ptx::Function *, const ptx::Variable *>, uint32_t> sharedInFunctions;
  std::map<std::string_view, ParameterSlot> kernelParameters;

private:
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants_, parameterConstants_;
  std::map<uint32_t, uint64_t> constantValues_; // by operand
  std::map<const ptx::Function *, FunctionCode *> codes_;
};

/// The modifiers of one instruction, taken one by one. What is left at the end is not supported.
class Form {
public:
  explicit Form(const ptx::Instruction &instruction) : instruction_(instruction) {}
  bool take(std::string_view modifier);
  /// Index of the first of `choices` that is there, taken; -1: none.
  int takeOneOf(std::initializer_list<std::string_view> choices);
  /// The next type in order; None: no more.
  ptx::ScalarType takeType();
  Rounding takeRounding();
  /// The first modifier that was not taken, or empty.
  std::string_view left() const;

private:
  const ptx::Instruction &instruction_;
  uint64_t taken_ = 0;
};

class FunctionDecoder {
public:
  FunctionDecoder(KernelBuilder &builder, const ptx::Function &function, FunctionCode &code);
  void decode();

private:
  using ScalarType = ptx::ScalarType;
  using Operand = ptx::Operand;
  struct Register {
    uint32_t offset = kNoOperand;
    uint32_t bytes = 0; // 0: a predicate
  };
  struct Declared {
    ptx::ScalarType type;
    uint32_t count = 0; // of a numbered family; 0: one plain name
    std::vector<uint32_t> offsets;
  };
  struct Symbol { // a .local or .param variable of the frame, or a .shared one
    FrameSlot slot;
    bool isShared = false;
  };
  struct Scope {
    uint32_t parent = 0;
    std::unordered_map<std::string_view, Declared> registers;
    std::unordered_map<std::string_view, Symbol> symbols;
    std::unordered_map<std::string_view, uint32_t> labels;
  };
  struct Fixup {
    size_t at;
    bool isTable; // an entry of `operands`, else `target` of an instruction
    uint32_t scope;
    std::string_view label;
    uint32_t line, column;
  };

  // decoder.cpp: names, emission; decode_operands.cpp: operands.
  void declare(const ptx::Variable &variable);
  FrameSlot allocateLocal(const ptx::Variable &variable);
  void resolveLabels();
  std::optional<Register> findRegister(std::string_view name);
  /// Where the offset of a register is kept; null: no such register.
  uint32_t *findPlace(std::string_view name, Declared *&declared);
  void countDefinitions();
  /// A register that is written once, here and by all lanes, with a value that is the same during the whole launch
  /// (a constant, a parameter, a special register) is a name for it, and the instruction goes away. False: it does not.
  bool bindConstant(const Form &form, const Operand &destination, uint32_t bytes, uint32_t constant);
  const Symbol *findSymbol(std::string_view name) const;
  uint32_t allocateRegister(uint32_t bytes);
  bool fail(const std::string &message);
  bool unsupported(const std::string &why = {});
  bool expectOperands(size_t least, size_t most);
  bool needsTarget(uint16_t number, bool specific = false); // sm_NN or higher; `specific`: sm_NNa
  bool finish(Form &form, Decoded &decoded);                // checks what is left and emits
  void emit(Decoded decoded);
  void emitConversion(uint32_t to, uint32_t toBytes, uint32_t from, uint32_t fromBytes, bool isSigned);
  bool source(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed = false);
  bool destination(const Operand &operand, ScalarType type, uint32_t &out, bool relaxed = false);
  bool predicateSource(const Operand &operand, uint32_t &out, bool &negated);
  bool predicateDestination(const Operand &operand, uint32_t &out);
  bool specialSource(std::string_view name, uint32_t bytes, uint32_t &out);
  bool symbolAddress(const Operand &operand, uint32_t bytes, uint32_t &out, bool generic = false);
  bool address(const Operand &operand, MemorySpace &space, Decoded &decoded);
  bool simpleAddress(const Operand &operand, MemorySpace &space, Decoded &decoded);
  uint32_t cacheSlot() { return builder_.kernel->checkedInstructions++; }
  uint32_t addOperands(const std::vector<uint32_t> &operands);

  // decode_arithmetic.cpp
  bool decodeAdd();
  bool decodeMul();
  bool decodeMul24();
  bool decodeFma();
  bool decodeCarry();
  bool decodeIntegerOnly();
  bool decodeMinMax();
  bool decodeSign();
  bool decodeDivide();
  bool decodeApproximate();
  bool decodeLogic();
  bool decodeShift();
  bool decodeBits();
  bool decodeBitField();
  bool decodePrmt();
  bool decodeLop3();
  bool decodeShf();
  bool decodeDot();
  bool decodeCopysign();
  bool decodeTestp();
  bool decodeSetp();
  bool decodeSet();
  bool decodeSelp();
  bool decodeSlct();
  bool decodeCvt();
  bool emitFloat(Form &form, FloatForm floatForm, uint32_t sources);
  bool emitInteger(Form &form, IntOp op, ScalarType type, uint32_t sources);
  bool comparison(Form &form, Comparison &comparison, Decoded &decoded);

  // decode_memory.cpp
  bool decodeMov();
  bool decodePack(ScalarType type);
  bool decodeUnpack(ScalarType type);
  bool decodeLoad();
  bool decodeLoadParameter(Form &form, ScalarType type, uint32_t count, const ParameterSlot &slot);
  bool decodeStore();
  bool decodeAtom();
  bool decodeCvta();
  bool decodeIsspacep();
  bool decodeCp();
  bool decodeNothing();
  /// What ld and st have in common.
  struct MemoryForm {
    MemorySpace space = MemorySpace::Generic;
    uint32_t count = 1; // elements
    ScalarType type = ScalarType::None;
    bool isStrong = false, cachePolicy = false;
  };
  bool takeMemoryForm(Form &form, MemoryForm &out);
  bool loadDestinations(const Operand &operand, ScalarType type, uint32_t count, Decoded &decoded);
  bool vectorElements(const Operand &operand, ScalarType type, uint32_t count, bool isSource,
                      std::vector<uint32_t> &out);

  // decode_matrix.cpp
  bool decodeLdmatrix();
  bool decodeMovmatrix();
  bool decodeMma();

  // decode_wmma.cpp
  bool decodeWmma();
  bool decodeWmmaMultiply(Form &form);
  bool fragmentRegisters(const Operand &operand, const Fragment &fragment, bool isSource, std::vector<uint32_t> &out);

  // decode_mbarrier.cpp
  bool decodeMbarrier();
  bool decodeMbarrierArrive(Form &form);
  bool decodeMbarrierArrivals(Form &form, MbarrierOp op);
  bool decodeMbarrierWait(Form &form, bool isTry);
  bool mbarrierObject(const Operand &operand, Form &form, Decoded &decoded);
  bool decodeCopyMbarrier(Form &form);

  // decode_bulk.cpp
  bool genericOperand(const Operand &operand, MemorySpace space, uint32_t &out);
  bool takeCompletion(Form &form, bool &byMbarrier);
  bool decodeBulk(Form &form, bool reduces);
  bool decodeTensorCopy(Form &form, bool reduces);
  bool decodeStoreAsync(Form &form, bool reduces);
  bool decodeTensormap();

  // decode_hints.cpp
  bool decodeFence();
  bool decodePrefetch();
  bool decodeLineHint();
  bool decodeCreatePolicy();
  bool decodeSetmaxnreg();

  // decode_narrow.cpp
  bool decodeNarrowConversion(Form &form);
  bool decodePackConversion(Form &form);

  // decode_wide.cpp
  bool decodeVectorAtomic(Form &form, MemorySpace space, AtomicOp op, uint32_t count);
  bool decodeWideAtomic(Form &form, MemorySpace space, AtomicOp op);
  bool decodeWideAccess(Form &form, MemorySpace space, bool isLoad);
  bool decodeWideMov();

  // decode_wgmma.cpp
  bool decodeWgmma();
  bool decodeWgmmaMultiply(Form &form);

  // decode_cluster.cpp
  void toClusterWindow(Decoded &decoded);
  void addSharedBase(uint32_t bytes, uint32_t &out);
  bool decodeMapa();
  bool decodeGetctarank();
  bool decodeClusterBarrier(Form &form);

  // decode_control.cpp
  bool decodeBra();
  bool decodeBrx();
  bool decodeCall();
  bool decodeRet();
  bool decodeTrap();
  bool decodeBar();

  // decode_warp.cpp
  bool decodeShfl();
  bool decodeVote();
  bool decodeMatch();
  bool decodeRedux();
  bool decodeActivemask();
  bool decodeElect();
  bool decodeNanosleep();

  // opcode_table.cpp
  struct Opcode {
    std::string_view name;
    bool (FunctionDecoder::*decode)();
  };
  static const Opcode *findOpcode(std::string_view name);

  KernelBuilder &builder_;
  const ptx::Function &function_;
  FunctionCode &code_;
  std::vector<Scope> scopes_;
  uint32_t scope_ = 0;
  std::vector<Fixup> fixups_;
  std::map<std::string_view, const ptx::LabelTable *> tables_;
  std::unordered_map<std::string_view, uint32_t> definitions_; // of registers, by name: at least as many as there are
  // The instruction that is decoded.
  const ptx::Instruction *in_ = nullptr;
  uint32_t index_ = 0;
  uint32_t predicate_ = kNoOperand;
  bool predicateNegated_ = false;
  struct Widening {
    uint32_t to, toBytes, from, fromBytes;
    bool isSigned;
  };
  std::vector<Widening> after_; // emitted behind the instruction
};

} // namespace tenon::emulator
