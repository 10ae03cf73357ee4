// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/program_writer.h"

#include "abi/format/aligned_bytes.h"
#include "abi/format/verify/verify.h"
#include "support/align.h"
#include "support/memory.h"

#include <algorithm>

namespace tenon::compiler::host {
namespace {

namespace fb = abi::fb;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

/// FlatBuffers addresses 2 GiB; what is not data (tables, strings) is given the last 64 MiB.
constexpr uint64_t kMaxInlineTotal = (uint64_t(1) << 31) - (uint64_t(64) << 20);
constexpr size_t kDataAlignment = 64;                   // force_align of the schema
constexpr uint64_t kMaxInlineBytes = uint64_t(1) << 20; // larger constants lie behind the tables

Offset<flatbuffers::Vector<uint8_t>> writeBytes(FlatBufferBuilder &builder, std::span<const uint8_t> bytes) {
  return abi::createAlignedBytes(builder, bytes.data(), bytes.size(), kDataAlignment);
}

Offset<fb::ValueType> writeType(FlatBufferBuilder &builder, const ValueType &type) {
  Offset<flatbuffers::Vector<int64_t>> shape;
  if (type.isTensor)
    shape = builder.CreateVector(type.shape);
  return fb::CreateValueType(builder,
                             type.isTensor   ? fb::ValueKind::Tensor
                             : type.isUnread ? fb::ValueKind::Unread
                                             : fb::ValueKind::Scalar,
                             fb::ElementType(type.element), shape);
}

fb::BufferRange wholeBuffer(BufferIndex buffer) {
  return fb::BufferRange(buffer, kNoRegister, kNoRegister);
}

Offset<fb::Command> writeCommand(FlatBufferBuilder &builder, const Command &command) {
  Offset<flatbuffers::String> location = builder.CreateString(command.location);
  if (const auto *copy = std::get_if<Copy>(&command.body)) {
    fb::BufferRange source = wholeBuffer(copy->source), target = wholeBuffer(copy->target);
    Offset<fb::Copy> body = fb::CreateCopy(builder, &source, &target);
    return fb::CreateCommand(builder, fb::CommandBody::Copy, body.Union(), location);
  }
  const Dispatch &dispatch = std::get<Dispatch>(command.body);
  std::vector<fb::BufferRange> bindings;
  for (BufferIndex binding : dispatch.bindings)
    bindings.push_back(wholeBuffer(binding));
  auto grid = builder.CreateVector(dispatch.grid.data(), dispatch.grid.size());
  auto ranges = builder.CreateVectorOfStructs(bindings);
  auto constants = builder.CreateVector(dispatch.constants);
  Offset<fb::Dispatch> body =
      fb::CreateDispatch(builder, dispatch.executable, dispatch.exportOrdinal, grid, ranges, constants);
  return fb::CreateCommand(builder, fb::CommandBody::Dispatch, body.Union(), location);
}

Offset<fb::ResultValue> writeResult(FlatBufferBuilder &builder, const ResultValue &result) {
  Offset<fb::ValueType> type = writeType(builder, result.type);
  if (result.element != kNoRegister)
    return fb::CreateResultValue(builder, type, result.buffer, 0, 0, result.element);
  if (!result.type.isTensor)
    return fb::CreateResultValue(builder, type, 0, 0, result.scalar);
  return fb::CreateResultValue(builder, type, result.buffer, builder.CreateVector(result.shape));
}

fb::ExpectationKind toFile(ExpectationKind kind) {
  switch (kind) {
  case ExpectationKind::NonZero:
    return fb::ExpectationKind::NonZero;
  case ExpectationKind::Zero:
    return fb::ExpectationKind::Zero;
  case ExpectationKind::Equal:
    return fb::ExpectationKind::Equal;
  case ExpectationKind::AlmostEqual:
    return fb::ExpectationKind::AlmostEqual;
  }
  return fb::ExpectationKind::NonZero;
}

Offset<fb::Expectation> writeExpectation(FlatBufferBuilder &builder, const Expectation &expectation) {
  Offset<fb::ResultValue> found = writeResult(builder, expectation.found), wanted;
  if (expectation.wanted)
    wanted = writeResult(builder, *expectation.wanted);
  auto operation = builder.CreateString(expectation.operation);
  return fb::CreateExpectation(builder, toFile(expectation.kind), operation, found, wanted,
                               expectation.absoluteTolerance, expectation.relativeTolerance,
                               builder.CreateString(expectation.location));
}

fb::BufferSource toFile(BufferSource source) {
  switch (source) {
  case BufferSource::Input:
    return fb::BufferSource::Input;
  case BufferSource::Transient:
    return fb::BufferSource::Transient;
  case BufferSource::Constant:
    return fb::BufferSource::Constant;
  }
  return fb::BufferSource::Input;
}

template <typename T, typename Write> auto writeAll(const std::vector<T> &items, Write write) {
  std::vector<decltype(write(items.front()))> offsets;
  for (const T &item : items)
    offsets.push_back(write(item));
  return offsets;
}

/// The type and nothing else: what a function with blocks says of its results.
Offset<fb::ResultValue> writeResultType(FlatBufferBuilder &builder, const ResultValue &result) {
  return fb::CreateResultValue(builder, writeType(builder, result.type));
}

Offset<fb::Function> writeFunction(FlatBufferBuilder &builder, const Function &function);

/// Absent where there are none.
Offset<flatbuffers::Vector<Offset<flatbuffers::String>>> writeNames(FlatBufferBuilder &builder,
                                                                    const std::vector<std::string> &names) {
  return names.empty() ? Offset<flatbuffers::Vector<Offset<flatbuffers::String>>>()
                       : builder.CreateVectorOfStrings(names);
}
Offset<flatbuffers::String> writeDocumentation(FlatBufferBuilder &builder, const Function &function) {
  return function.documentation.empty() ? Offset<flatbuffers::String>() : builder.CreateString(function.documentation);
}

Offset<flatbuffers::Vector<uint32_t>> writeNumbers(FlatBufferBuilder &builder, const std::vector<uint32_t> &numbers) {
  return numbers.empty() ? Offset<flatbuffers::Vector<uint32_t>>() : builder.CreateVector(numbers);
}

Offset<fb::Function> writeBlocks(FlatBufferBuilder &builder, const Function &function) {
  auto blocks = writeAll(function.blocks, [&](const Function &block) { return writeFunction(builder, block); });
  auto inputs = writeAll(function.inputs, [&](const ValueType &type) { return writeType(builder, type); });
  auto results =
      writeAll(function.results, [&](const ResultValue &result) { return writeResultType(builder, result); });
  auto name = builder.CreateSharedString(function.name);
  auto inputTable = builder.CreateVector(inputs);
  auto resultTable = builder.CreateVector(results);
  auto blockTable = builder.CreateVector(blocks);
  auto inputNames = writeNames(builder, function.inputNames), resultNames = writeNames(builder, function.resultNames);
  auto donated = writeNumbers(builder, function.donated), updated = writeNumbers(builder, function.updated);
  return fb::CreateFunction(builder, name, inputTable, 0, 0, 0, 0, resultTable, 0, kNoRegister, blockTable, 0, 0, 0,
                            inputNames, resultNames, writeDocumentation(builder, function), donated, updated);
}

Offset<fb::Target> writeTarget(FlatBufferBuilder &builder, const Target &target) {
  return fb::CreateTarget(builder, target.condition, target.block, builder.CreateVector(target.arguments));
}

Offset<fb::Function> writeFunction(FlatBufferBuilder &builder, const Function &function) {
  if (!function.blocks.empty())
    return writeBlocks(builder, function);
  std::vector<fb::RegisterOp> operations;
  for (const RegisterOperation &op : function.registers.operations())
    operations.emplace_back(op.opcode, op.a, op.b, op.c, op.imm);
  auto inputs = writeAll(function.inputs, [&](const ValueType &type) { return writeType(builder, type); });
  auto buffers = writeAll(function.buffers, [&](const Buffer &buffer) {
    return fb::CreateBuffer(builder, toFile(buffer.source), buffer.index, buffer.size, buffer.offset);
  });
  auto checks = writeAll(function.checks, [&](const Check &check) {
    auto message = builder.CreateString(check.message);
    return fb::CreateCheck(builder, check.condition, message, builder.CreateString(check.location));
  });
  auto commands = writeAll(function.commands, [&](const Command &command) { return writeCommand(builder, command); });
  auto results = writeAll(function.results, [&](const ResultValue &result) { return writeResult(builder, result); });
  auto expectations = writeAll(function.expectations,
                               [&](const Expectation &expectation) { return writeExpectation(builder, expectation); });
  auto name = builder.CreateSharedString(function.name); // blocks have the function's
  auto inputTable = builder.CreateVector(inputs);
  auto registerTable = builder.CreateVectorOfStructs(operations);
  auto bufferTable = builder.CreateVector(buffers);
  auto checkTable = builder.CreateVector(checks);
  auto commandTable = builder.CreateVector(commands);
  auto resultTable = builder.CreateVector(results);
  Offset<flatbuffers::Vector<Offset<fb::Expectation>>> expectationTable; // absent in most functions
  if (!expectations.empty())
    expectationTable = builder.CreateVector(expectations);
  auto loads = writeNumbers(builder, function.loads);
  std::vector<fb::Store> stores;
  for (const Store &store : function.stores)
    stores.emplace_back(store.global, store.result);
  Offset<flatbuffers::Vector<const fb::Store *>> storeTable;
  if (!stores.empty())
    storeTable = builder.CreateVectorOfStructs(stores);
  Offset<flatbuffers::Vector<Offset<fb::Target>>> targetTable;
  if (!function.targets.empty())
    targetTable = builder.CreateVector(
        writeAll(function.targets, [&](const Target &target) { return writeTarget(builder, target); }));
  auto inputNames = writeNames(builder, function.inputNames), resultNames = writeNames(builder, function.resultNames);
  auto donated = writeNumbers(builder, function.donated), updated = writeNumbers(builder, function.updated);
  return fb::CreateFunction(builder, name, inputTable, registerTable, bufferTable, checkTable, commandTable,
                            resultTable, expectationTable, function.arena, 0, loads, storeTable, targetTable,
                            inputNames, resultNames, writeDocumentation(builder, function), donated, updated);
}

} // namespace

/// Whether the bytes lie behind the tables, which may be more than 2 GiB from the start of the file. What repeats does
/// not (F-14).
static bool isBehindTables(const Constant &constant) {
  return constant.bytes.size() > kMaxInlineBytes && constant.bytes.size() == constant.size;
}

/// The file up to the constants behind the tables, the first of which begins at `dataBegin`.
static std::vector<uint8_t> writeTables(const Program &program, uint64_t dataBytes, uint64_t dataBegin) {
  FlatBufferBuilder builder(4096 + size_t(dataBytes));
  auto executables = writeAll(program.executables, [&](const std::vector<uint8_t> &bytes) {
    return fb::CreateNestedExecutable(builder, writeBytes(builder, bytes));
  });
  auto constants = writeAll(program.constants, [&](const Constant &constant) {
    if (!isBehindTables(constant))
      return fb::CreateConstantData(builder, writeBytes(builder, constant.bytes), 0, constant.size);
    const uint64_t at = dataBegin;
    dataBegin = alignUp(dataBegin + constant.size, kDataAlignment);
    return fb::CreateConstantData(builder, 0, at, constant.size);
  });
  auto functions =
      writeAll(program.functions, [&](const Function &function) { return writeFunction(builder, function); });
  auto globals = writeAll(program.globals, [&](const Global &global) {
    return fb::CreateGlobal(builder, builder.CreateString(global.name), writeType(builder, global.type),
                            global.constant.value_or(kNoRegister), global.scalar);
  });
  auto writeInitializer = [&](const std::optional<Function> &function) {
    return function ? writeFunction(builder, *function) : Offset<fb::Function>();
  };
  const Offset<fb::Function> initializer = writeInitializer(program.initializer);
  Offset<flatbuffers::Vector<Offset<fb::Edition>>> editionTable; // absent in most programs
  if (!program.editions.empty())
    editionTable = builder.CreateVector(writeAll(program.editions, [&](const Edition &edition) {
      std::vector<fb::Arch> targets;
      for (const abi::TargetArch &arch : edition.targets)
        targets.emplace_back(arch.number, fb::ArchSuffix(arch.suffix));
      auto targetTable = builder.CreateVectorOfStructs(targets);
      auto own = builder.CreateVector(
          writeAll(edition.functions, [&](const Function &function) { return writeFunction(builder, function); }));
      return fb::CreateEdition(builder, targetTable, own, writeInitializer(edition.initializer));
    }));
  Offset<flatbuffers::Vector<Offset<fb::Global>>> globalTable;
  if (!globals.empty())
    globalTable = builder.CreateVector(globals);
  auto haveBlocks = [](const std::vector<Function> &each) {
    return std::any_of(each.begin(), each.end(), [](const Function &function) { return !function.blocks.empty(); });
  };
  const bool hasBlocks = program.initializer || !globals.empty() || haveBlocks(program.functions) ||
                         std::any_of(program.editions.begin(), program.editions.end(),
                                     [&](const Edition &edition) { return haveBlocks(edition.functions); });
  const uint32_t version = hasBlocks ? abi::kBlocksFormatVersion : abi::kFormatVersion;
  auto producer = builder.CreateString("tenon-compile " TENON_VERSION);
  auto name = builder.CreateString(program.name);
  auto executableTable = builder.CreateVector(executables);
  auto functionTable = builder.CreateVector(functions);
  auto constantTable = builder.CreateVector(constants);
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, version, producer, name, executableTable, functionTable,
                                                     constantTable, globalTable, initializer, editionTable));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Result<std::vector<uint8_t>> writeProgram(const Program &program) {
  uint64_t inlineBytes = 0, bytesBehind = 0;
  for (const auto &executable : program.executables)
    inlineBytes += executable.size() + kDataAlignment;
  for (const Constant &constant : program.constants) {
    if (isBehindTables(constant))
      bytesBehind += alignUp(constant.size, kDataAlignment);
    else
      inlineBytes += constant.bytes.size() + kDataAlignment;
  }
  if (inlineBytes > kMaxInlineTotal)
    return makeError(StatusCode::Unimplemented, "executables and constants of up to ", kMaxInlineBytes, " bytes take ",
                     inlineBytes, " bytes together, a program file holds at most ", kMaxInlineTotal, " of them");

  // Offsets are numbers of one size, but for 0, which is left out: once to learn where the tables end, once to write.
  std::vector<uint8_t> bytes = writeTables(program, inlineBytes, kDataAlignment);
  if (bytesBehind != 0) {
    const uint64_t dataBegin = alignUp(bytes.size(), kDataAlignment);
    bytes = writeTables(program, inlineBytes, dataBegin);
    TENON_RETURN_IF_ERROR(checkMemory(dataBegin + bytesBehind, "the program"));
    bytes.reserve(dataBegin + bytesBehind);
    for (const Constant &constant : program.constants)
      if (isBehindTables(constant)) {
        bytes.resize(alignUp(bytes.size(), kDataAlignment));
        bytes.insert(bytes.end(), constant.bytes.begin(), constant.bytes.end());
      }
  }
  if (Status verified = abi::verifyProgram(bytes, "the program just written"); !verified.ok())
    return makeError(StatusCode::Internal, "a bug in the compiler: ", verified.message());
  return bytes;
}

} // namespace tenon::compiler::host
