// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold in a function, so that the runtime can interpret it without a check of its own: registers read only
// earlier registers, commands name buffers and registers that exist, dispatches match their export, and nothing writes
// to a constant, or to an input that is not donated. Rules F-15 to F-22, F-24, F-25 and F-30; how blocks hang together
// is verify_blocks.cpp's.
#include "abi/element_type.h"
#include "abi/format/arithmetic.h"
#include "abi/format/verify/verify.h"
#include "abi/format/verify/verify_support.h"

#include <algorithm>
#include <limits>

namespace tenon::abi::verify {

static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max(); // no register

/// F-15: what checkType takes, or a value that is not read.
Status checkInputType(VerifiedBytes &file, const fb::ValueType &type) {
  if (type.kind() != fb::ValueKind::Unread)
    return checkType(file, type);
  return sizeOf(type.shape()) == 0 ? okStatus() : broken("F-15", "a value that is not read, with a shape");
}

/// F-15: a tensor whose static extents multiply to a size that exists, or a scalar.
Status checkType(VerifiedBytes &file, const fb::ValueType &type) {
  TENON_RETURN_IF_ERROR(checkEnum("kind", type.kind()));
  if (type.kind() == fb::ValueKind::Unread)
    return broken("F-15", "only an input may be a value that is not read");
  TENON_RETURN_IF_ERROR(checkEnum("element", type.element()));
  TENON_RETURN_IF_ERROR(checkAlignment(file, type.shape(), alignof(int64_t), "shape"));
  uint32_t rank = sizeOf(type.shape());
  if (type.kind() == fb::ValueKind::Scalar && rank != 0)
    return broken("F-15", "a scalar with a shape of rank ", rank);
  if (rank > kMaxRank)
    return broken("F-15", "rank ", rank, ", at most ", kMaxRank, " are read");
  int64_t bytes = byteSize(static_cast<ElementType>(type.element()));
  return forEach(file, type.shape(), "shape", [&](uint32_t, int64_t extent) {
    if (extent < -1)
      return broken("F-15", "extent ", extent);
    if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes))
      return broken("F-15", "the static extents have more than 2^63 bytes");
    return okStatus();
  });
}

/// F-16: Arg names a scalar input, Dim a dimension of a tensor input.
static Status checkInputOperation(const fb::Function &function, const fb::RegisterOp &operation) {
  bool isDim = operation.opcode() == fb::RegisterOpcode::Dim;
  TENON_RETURN_IF_ERROR(
      checkIndex("F-16", isDim ? "input of Dim" : "input of Arg", operation.a(), sizeOf(function.inputs()), "inputs"));
  const fb::ValueType &type = *function.inputs()->Get(operation.a());
  if (type.kind() == fb::ValueKind::Unread)
    return broken("F-16", isDim ? "Dim" : "Arg", " of input ", operation.a(), ", which is not read");
  bool isTensor = type.kind() == fb::ValueKind::Tensor;
  if (isDim != isTensor)
    return broken("F-16", isDim ? "Dim" : "Arg", " of input ", operation.a(), ", which is a ",
                  isTensor ? "tensor" : "scalar");
  return isDim ? checkIndex("F-16", "dimension of Dim", operation.b(), sizeOf(type.shape()), "dimensions") : okStatus();
}

static Status checkRegister(const fb::Function &function, uint32_t position, const fb::RegisterOp &operation) {
  fb::RegisterOpcode opcode = operation.opcode();
  TENON_RETURN_IF_ERROR(checkEnum("opcode", opcode));
  if (opcode == fb::RegisterOpcode::Arg || opcode == fb::RegisterOpcode::Dim)
    return checkInputOperation(function, operation);
  const uint32_t operands[] = {operation.a(), operation.b(), operation.c()};
  for (uint32_t i = 0; i < operandCount(opcode); ++i)
    if (operands[i] >= position)
      return broken("F-16", fb::EnumNameRegisterOpcode(opcode), " reads register ", operands[i], ", only those before ",
                    position, " have a value");
  if (isWidthValid(opcode, operation.imm()))
    return okStatus();
  if (opcode == fb::RegisterOpcode::FConvert)
    return broken("F-16", "FConvert of ", operation.imm(), ", which is no pair of float types");
  const bool extends = opcode == fb::RegisterOpcode::SignExtend || opcode == fb::RegisterOpcode::ZeroExtend;
  return broken("F-16", fb::EnumNameRegisterOpcode(opcode), extends ? " from " : " of ", operation.imm(),
                extends ? " bits, not 1 to 64" : " bits, not 32 or 64");
}

bool isDonated(const fb::Function &function, uint32_t input) {
  return function.donated() && std::binary_search(function.donated()->begin(), function.donated()->end(), input);
}

Status checkDonated(VerifiedBytes &file, const fb::Function &function) {
  int64_t last = -1;
  auto isAscending = [&](std::string_view field, uint32_t input) {
    if (int64_t(input) <= last)
      return broken("F-30", field, " has ", input, " behind ", last, ", ascending numbers are wanted");
    last = input;
    return okStatus();
  };
  TENON_RETURN_IF_ERROR(forEach(file, function.donated(), "donated", [&](uint32_t, uint32_t input) {
    TENON_RETURN_IF_ERROR(checkIndex("F-30", "donated", input, sizeOf(function.inputs()), "inputs"));
    if (function.inputs()->Get(input)->kind() != fb::ValueKind::Tensor)
      return broken("F-30", "input ", input, " is donated, and is no tensor");
    return isAscending("donated", input);
  }));
  last = -1;
  return forEach(file, function.updated(), "updated", [&](uint32_t, uint32_t input) {
    if (!isDonated(function, input))
      return broken("F-30", "input ", input, " is updated, and not donated");
    return isAscending("updated", input);
  });
}

/// One function's registers and buffers, for what refers to them.
class FunctionChecker {
public:
  FunctionChecker(VerifiedBytes &file, const fb::Function &function, const ProgramScope &scope, bool isBlock)
      : file_(file), function_(function), scope_(scope), isBlock_(isBlock), registers_(sizeOf(function.registers())) {}

  Status checkBuffer(const fb::Buffer &value);
  Status checkCommand(const fb::Command &command);
  Status checkResult(const fb::ResultValue &result);
  Status checkExpectation(const fb::Expectation &expectation);
  /// `index` is a register.
  Status checkOperand(std::string_view rule, std::string_view field, uint32_t index) {
    return checkIndex(rule, field, index, registers_, "registers");
  }

private:
  Status checkRange(const fb::BufferRange &range);
  Status checkWritable(uint32_t bufferIndex);
  Status checkDispatch(const fb::Dispatch &dispatch);
  Status checkCopy(const fb::Copy &copy);
  Status checkFill(const fb::Fill &fill);

  VerifiedBytes &file_;
  const fb::Function &function_;
  const ProgramScope &scope_;
  const bool isBlock_;
  uint32_t registers_;
};

/// F-17.
Status FunctionChecker::checkBuffer(const fb::Buffer &value) {
  TENON_RETURN_IF_ERROR(checkEnum("source", value.source()));
  switch (value.source()) {
  case fb::BufferSource::Input:
    TENON_RETURN_IF_ERROR(checkIndex("F-17", "index", value.index(), sizeOf(function_.inputs()), "inputs"));
    if (function_.inputs()->Get(value.index())->kind() != fb::ValueKind::Tensor)
      return broken("F-17", "input ", value.index(), " is ",
                    function_.inputs()->Get(value.index())->kind() == fb::ValueKind::Scalar ? "a scalar" : "not read",
                    " and has no buffer");
    return okStatus();
  case fb::BufferSource::Transient:
    if (value.offset() != kNone) {
      TENON_RETURN_IF_ERROR(checkOperand("F-25", "offset", value.offset()));
      if (function_.arena() == kNone)
        return broken("F-25", "an offset in the arena of a function that has none");
    }
    return checkOperand("F-17", "size", value.size());
  case fb::BufferSource::Constant:
    return checkIndex("F-17", "index", value.index(), scope_.constantCount, "constants");
  }
  return okStatus();
}

/// F-18.
Status FunctionChecker::checkRange(const fb::BufferRange &range) {
  TENON_RETURN_IF_ERROR(checkIndex("F-18", "buffer", range.buffer(), sizeOf(function_.buffers()), "buffers"));
  if (range.offset() != kNone)
    TENON_RETURN_IF_ERROR(checkOperand("F-18", "offset", range.offset()));
  if (range.length() != kNone)
    TENON_RETURN_IF_ERROR(checkOperand("F-18", "length", range.length()));
  return okStatus();
}

/// F-21; the buffer's index is verified.
Status FunctionChecker::checkWritable(uint32_t bufferIndex) {
  const fb::Buffer &buffer = *function_.buffers()->Get(bufferIndex);
  const fb::BufferSource source = buffer.source();
  if (source == fb::BufferSource::Input && isDonated(function_, buffer.index()))
    return okStatus();
  if (source != fb::BufferSource::Transient)
    return broken("F-21", "writes to buffer ", bufferIndex, ", which is ",
                  source == fb::BufferSource::Input ? "an Input" : "a Constant", " buffer and read only");
  return okStatus();
}

/// F-20: the arguments are those of the export's layout.
Status FunctionChecker::checkDispatch(const fb::Dispatch &dispatch) {
  TENON_RETURN_IF_ERROR(
      checkIndex("F-20", "executable", dispatch.executable(), scope_.executables.size(), "executables"));
  const std::vector<ExportShape> &exports = scope_.executables[dispatch.executable()];
  TENON_RETURN_IF_ERROR(checkIndex("F-20", "export_ordinal", dispatch.export_ordinal(), exports.size(), "exports"));
  const ExportShape &shape = exports[dispatch.export_ordinal()];
  if (dispatch.grid()->size() != 3)
    return broken("F-20", "grid has ", dispatch.grid()->size(), " registers, not 3");
  TENON_RETURN_IF_ERROR(forEach(file_, dispatch.grid(), "grid",
                                [&](uint32_t, uint32_t index) { return checkOperand("F-20", "register", index); }));
  if (sizeOf(dispatch.bindings()) != shape.readOnly.size())
    return broken("F-20", sizeOf(dispatch.bindings()), " bindings, the export's layout has ", shape.readOnly.size());
  if (sizeOf(dispatch.constants()) != shape.constantWords)
    return broken("F-20", sizeOf(dispatch.constants()), " constants, the export's layout has ", shape.constantWords);
  TENON_RETURN_IF_ERROR(forEach(file_, dispatch.bindings(), "bindings", [&](uint32_t i, const fb::BufferRange *range) {
    TENON_RETURN_IF_ERROR(checkRange(*range));
    return shape.readOnly[i] ? okStatus() : checkWritable(range->buffer());
  }));
  return forEach(file_, dispatch.constants(), "constants",
                 [&](uint32_t, uint32_t index) { return checkOperand("F-20", "register", index); });
}

Status FunctionChecker::checkCopy(const fb::Copy &copy) {
  TENON_RETURN_IF_ERROR(within("source", checkRange(*copy.source())));
  TENON_RETURN_IF_ERROR(within("target", checkRange(*copy.target())));
  return within("target", checkWritable(copy.target()->buffer()));
}

Status FunctionChecker::checkFill(const fb::Fill &fill) {
  TENON_RETURN_IF_ERROR(within("target", checkRange(*fill.target())));
  TENON_RETURN_IF_ERROR(within("target", checkWritable(fill.target()->buffer())));
  TENON_RETURN_IF_ERROR(checkOperand("F-19", "pattern", fill.pattern()));
  uint8_t size = fill.pattern_size();
  if (size != 1 && size != 2 && size != 4)
    return broken("F-19", "pattern_size is ", size, ", not 1, 2 or 4");
  return okStatus();
}

/// F-19.
Status FunctionChecker::checkCommand(const fb::Command &command) {
  switch (command.body_type()) {
  case fb::CommandBody::NONE:
    break;
  case fb::CommandBody::Dispatch:
    return within("dispatch", checkDispatch(*command.body_as_Dispatch()));
  case fb::CommandBody::Copy:
    return within("copy", checkCopy(*command.body_as_Copy()));
  case fb::CommandBody::Fill:
    return within("fill", checkFill(*command.body_as_Fill()));
  }
  return broken("F-19", "a command of the unknown kind ", static_cast<unsigned>(command.body_type()));
}

/// F-22.
Status FunctionChecker::checkResult(const fb::ResultValue &result) {
  TENON_RETURN_IF_ERROR(within("type", checkType(file_, *result.type())));
  if (result.type()->kind() == fb::ValueKind::Scalar && result.element() == kNone)
    return checkOperand("F-22", "scalar", result.scalar());
  if (result.element() != kNone) {
    if (!isBlock_ || result.type()->kind() != fb::ValueKind::Scalar)
      return broken("F-22", "an element is read back, which only a scalar of a block is");
    TENON_RETURN_IF_ERROR(checkOperand("F-22", "element", result.element()));
    return checkIndex("F-22", "buffer", result.buffer(), sizeOf(function_.buffers()), "buffers");
  }
  TENON_RETURN_IF_ERROR(checkIndex("F-22", "buffer", result.buffer(), sizeOf(function_.buffers()), "buffers"));
  if (sizeOf(result.shape()) != sizeOf(result.type()->shape()))
    return broken("F-22", "shape has ", sizeOf(result.shape()), " registers, the type has rank ",
                  sizeOf(result.type()->shape()));
  return forEach(file_, result.shape(), "shape",
                 [&](uint32_t, uint32_t index) { return checkOperand("F-22", "register", index); });
}

/// F-24.
Status FunctionChecker::checkExpectation(const fb::Expectation &expectation) {
  TENON_RETURN_IF_ERROR(checkEnum("kind", expectation.kind()));
  for (const fb::ResultValue *value : {expectation.found(), expectation.wanted()})
    if (value && value->element() != kNone)
      return broken("F-24", "compares an element that is read back, which is for a block behind this one to do");
  TENON_RETURN_IF_ERROR(within("found", checkResult(*expectation.found())));
  const bool compares =
      expectation.kind() == fb::ExpectationKind::Equal || expectation.kind() == fb::ExpectationKind::AlmostEqual;
  if (compares != (expectation.wanted() != nullptr))
    return broken("F-24", compares ? "nothing to compare with" : "a wanted value that nothing is compared with");
  for (double tolerance : {expectation.absolute_tolerance(), expectation.relative_tolerance()})
    if (!(tolerance >= 0) || tolerance == std::numeric_limits<double>::infinity())
      return broken("F-24", "a tolerance of ", tolerance, ", not a finite number of at least 0");
  if (!compares)
    return okStatus();
  TENON_RETURN_IF_ERROR(within("wanted", checkResult(*expectation.wanted())));
  const fb::ValueType &found = *expectation.found()->type(), &wanted = *expectation.wanted()->type();
  if (found.kind() != wanted.kind() || found.element() != wanted.element())
    return broken("F-24", "found and wanted differ in kind or element type");
  return okStatus();
}

/// The commands of a function without blocks, or of a block.
static Status checkBody(VerifiedBytes &file, const fb::Function &function, const ProgramScope &scope, bool isBlock) {
  TENON_RETURN_IF_ERROR(forEach(file, function.inputs(), "inputs",
                                [&](uint32_t, const fb::ValueType *type) { return checkInputType(file, *type); }));
  TENON_RETURN_IF_ERROR(checkDonated(file, function));
  if (isBlock && sizeOf(function.updated()) != 0)
    return broken("F-30", "a block updates inputs, which its function does");
  TENON_RETURN_IF_ERROR(checkAlignment(file, function.registers(), alignof(fb::RegisterOp), "registers"));
  TENON_RETURN_IF_ERROR(
      forEach(file, function.registers(), "registers",
              [&](uint32_t i, const fb::RegisterOp *operation) { return checkRegister(function, i, *operation); }));
  FunctionChecker checker(file, function, scope, isBlock);
  TENON_RETURN_IF_ERROR(forEach(file, function.buffers(), "buffers",
                                [&](uint32_t, const fb::Buffer *value) { return checker.checkBuffer(*value); }));
  if (function.arena() != kNone)
    TENON_RETURN_IF_ERROR(checker.checkOperand("F-25", "arena", function.arena()));
  TENON_RETURN_IF_ERROR(forEach(file, function.checks(), "checks", [&](uint32_t, const fb::Check *check) {
    return checker.checkOperand("F-19", "condition", check->condition());
  }));
  TENON_RETURN_IF_ERROR(forEach(file, function.commands(), "commands",
                                [&](uint32_t, const fb::Command *command) { return checker.checkCommand(*command); }));
  TENON_RETURN_IF_ERROR(forEach(file, function.results(), "results",
                                [&](uint32_t, const fb::ResultValue *result) { return checker.checkResult(*result); }));
  return forEach(file, function.expectations(), "expectations",
                 [&](uint32_t, const fb::Expectation *expectation) { return checker.checkExpectation(*expectation); });
}

Status checkBlockBody(VerifiedBytes &file, const fb::Function &block, const ProgramScope &scope) {
  return checkBody(file, block, scope, /*isBlock=*/true);
}

/// F-29.
static Status checkNames(const char *field, const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *names,
                         uint32_t wanted) {
  if (!names)
    return okStatus();
  if (names->size() != wanted)
    return broken("F-29", field, " has ", names->size(), " names, ", wanted, " are wanted");
  for (const flatbuffers::String *name : *names)
    for (char c : name->string_view())
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        return broken("F-29", "a name in ", field, " has a control character");
  return okStatus();
}

Status checkFunction(VerifiedBytes &file, const fb::Function &function, const ProgramScope &scope) {
  TENON_RETURN_IF_ERROR(checkNames("input_names", function.input_names(), sizeOf(function.inputs())));
  TENON_RETURN_IF_ERROR(checkNames("result_names", function.result_names(), sizeOf(function.results())));
  if (sizeOf(function.blocks()) != 0)
    return checkBlocks(file, function, scope);
  if (sizeOf(function.loads()) != 0 || sizeOf(function.stores()) != 0 || sizeOf(function.targets()) != 0)
    return broken("F-26", "loads, stores or targets, which only a block has");
  return checkBody(file, function, scope, /*isBlock=*/false);
}

} // namespace tenon::abi::verify
