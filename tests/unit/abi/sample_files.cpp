// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/abi/sample_files.h"

#include "abi/format/aligned_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::abi::test {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

static Offset<flatbuffers::Vector<uint32_t>> optionalVector(FlatBufferBuilder &builder,
                                                            const std::optional<Uints> &values) {
  return values ? builder.CreateVector(*values) : Offset<flatbuffers::Vector<uint32_t>>();
}

static const uint8_t *bytesOf(const std::string &text) {
  return reinterpret_cast<const uint8_t *>(text.data());
}

static Offset<fb::Export> writeExport(FlatBufferBuilder &builder, const ExportParts &parts) {
  std::vector<Offset<fb::Binding>> bindings;
  for (const BindingParts &binding : parts.bindings)
    bindings.push_back(fb::CreateBinding(builder, binding.kind, binding.readOnly, false, binding.alignment));
  std::vector<Offset<fb::Constant>> constants;
  for (const ConstantParts &constant : parts.constants) {
    Offset<fb::TensorMap> map;
    if (constant.map)
      map = fb::CreateTensorMap(builder, 0, builder.CreateVector(Uints{4}), 0, constant.map->interleave,
                                constant.map->swizzle, constant.map->promotion, constant.map->fill, constant.map->mode);
    constants.push_back(
        fb::CreateConstant(builder, constant.kind, constant.element, constant.size, constant.alignment, 0, map));
  }
  auto name = builder.CreateString(parts.name);
  auto symbol = parts.symbol.empty() ? Offset<flatbuffers::String>() : builder.CreateString(parts.symbol);
  auto bindingVector = builder.CreateVector(bindings);
  auto constantVector = builder.CreateVector(constants);
  std::vector<Offset<fb::Parameter>> parameters;
  for (const ParameterParts &parameter : parts.parameters) {
    std::vector<Offset<fb::ParameterMember>> members;
    for (const ParameterParts::Member &member : parameter.members)
      members.push_back(
          fb::CreateParameterMember(builder, member.offset, member.binding, member.constant, member.hidden));
    auto memberVector = builder.CreateVector(members);
    parameters.push_back(fb::CreateParameter(builder, parameter.binding, parameter.constant, parameter.hidden,
                                             parameter.size, parameter.alignment, memberVector));
  }
  auto parameterVector = parameters.empty() ? 0 : builder.CreateVector(parameters);
  auto layout = fb::CreateLayout(builder, bindingVector, constantVector, parts.hiddenPointers, parameterVector);
  auto workgroupSize = optionalVector(builder, parts.workgroupSize);
  auto cluster = optionalVector(builder, parts.cluster);
  auto launch = fb::CreateLaunch(builder, workgroupSize, 0, parts.dynamicShared, cluster);
  return fb::CreateExport(builder, name, symbol, parts.ordinal, layout, launch,
                          builder.CreateString("example.mlir:31:5"));
}

static Offset<fb::Kernel> writeKernel(FlatBufferBuilder &builder, const KernelParts &parts) {
  auto offsets = optionalVector(builder, parts.offsets);
  auto required = optionalVector(builder, parts.requiredThreads);
  auto max = optionalVector(builder, parts.maxThreads);
  auto cluster = optionalVector(builder, parts.requiredCluster);
  Offset<flatbuffers::Vector<fb::AccessVerdict>> access;
  if (parts.access)
    access = builder.CreateVectorScalarCast<fb::AccessVerdict>(parts.access->data(), parts.access->size());
  auto facts = fb::CreateKernelFacts(builder, parts.parameterBytes, offsets, required, max, parts.staticShared, false,
                                     cluster, 0, 0, access);
  auto symbol = parts.symbol == "-" ? Offset<flatbuffers::String>() : builder.CreateSharedString(parts.symbol);
  return fb::CreateKernel(builder, parts.ordinal, symbol, facts);
}

static Offset<fb::Variant> writeVariant(FlatBufferBuilder &builder, const VariantParts &parts) {
  std::vector<Offset<fb::Kernel>> kernels;
  for (const KernelParts &kernel : parts.kernels)
    kernels.push_back(writeKernel(builder, kernel));
  auto name = builder.CreateString(parts.name);
  auto images = builder.CreateVector(parts.images);
  auto kernelVector = builder.CreateVector(kernels);
  fb::Arch arch(parts.number, parts.suffix);
  return fb::CreateVariant(builder, name, &arch, parts.origin, parts.priority, images, kernelVector);
}

std::vector<uint8_t> write(const ExecutableParts &parts) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::Export>> exports;
  for (const ExportParts &value : parts.exports)
    exports.push_back(writeExport(builder, value));
  std::vector<Offset<fb::Image>> images;
  for (const ImageParts &image : parts.images) {
    auto data = createAlignedBytes(builder, bytesOf(image.data), image.data.size(), image.alignment);
    images.push_back(fb::CreateImage(builder, image.kind, image.compression, image.size.value_or(image.data.size()),
                                     image.isa, data, 0, image.base));
  }
  std::vector<Offset<fb::Variant>> variants;
  for (const VariantParts &variant : parts.variants)
    variants.push_back(writeVariant(builder, variant));
  auto name = builder.CreateString(parts.name);
  auto exportVector = builder.CreateVector(exports);
  auto imageVector = builder.CreateVector(images);
  auto variantVector = builder.CreateVector(variants);
  auto places = parts.places.empty() ? Offset<flatbuffers::Vector<uint8_t>>()
                                     : builder.CreateVector(bytesOf(parts.places), parts.places.size());
  fb::FinishExecutableBuffer(
      builder, fb::CreateExecutable(builder, parts.version, 0, name, exportVector, imageVector, variantVector, places));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

static Offset<fb::ValueType> writeType(FlatBufferBuilder &builder, const TypeParts &parts) {
  return fb::CreateValueType(builder, parts.kind, parts.element, builder.CreateVector(parts.shape));
}

static Offset<fb::Command> writeCommand(FlatBufferBuilder &builder, const CommandParts &parts) {
  Offset<void> body;
  if (parts.kind == fb::CommandBody::Copy) {
    body = fb::CreateCopy(builder, &parts.source, &parts.target).Union();
  } else if (parts.kind == fb::CommandBody::Fill) {
    body = fb::CreateFill(builder, &parts.target, parts.pattern, parts.patternSize).Union();
  } else {
    auto grid = builder.CreateVector(parts.grid);
    auto bindings = builder.CreateVectorOfStructs(parts.bindings);
    auto constants = builder.CreateVector(parts.constants);
    body = fb::CreateDispatch(builder, parts.executable, parts.ordinal, grid, bindings, constants).Union();
  }
  return fb::CreateCommand(builder, parts.kind, body);
}

static Offset<fb::ResultValue> writeResult(FlatBufferBuilder &builder, const ResultParts &result) {
  auto type = writeType(builder, result.type);
  return fb::CreateResultValue(builder, type, result.buffer, builder.CreateVector(result.shape), result.scalar,
                               result.element);
}

static Offset<fb::Expectation> writeExpectation(FlatBufferBuilder &builder, const ExpectationParts &parts) {
  Offset<fb::ResultValue> found = writeResult(builder, parts.found), wanted;
  if (parts.wanted)
    wanted = writeResult(builder, *parts.wanted);
  auto operation = builder.CreateString("check.expect");
  return fb::CreateExpectation(builder, parts.kind, operation, found, wanted, parts.absolute, parts.relative);
}

static Offset<fb::Function> writeFunction(FlatBufferBuilder &builder, const FunctionParts &parts) {
  std::vector<Offset<fb::ValueType>> inputs;
  for (const TypeParts &type : parts.inputs)
    inputs.push_back(writeType(builder, type));
  std::vector<Offset<fb::Buffer>> buffers;
  for (const BufferParts &buffer : parts.buffers)
    buffers.push_back(fb::CreateBuffer(builder, buffer.source, buffer.index, buffer.size, buffer.offset));
  std::vector<Offset<fb::Check>> checks;
  for (uint32_t condition : parts.checks)
    checks.push_back(fb::CreateCheck(builder, condition, builder.CreateString("shapes differ")));
  std::vector<Offset<fb::Command>> commands;
  for (const CommandParts &command : parts.commands)
    commands.push_back(writeCommand(builder, command));
  std::vector<Offset<fb::ResultValue>> results;
  for (const ResultParts &result : parts.results)
    results.push_back(writeResult(builder, result));
  std::vector<Offset<fb::Expectation>> expectations;
  for (const ExpectationParts &expectation : parts.expectations)
    expectations.push_back(writeExpectation(builder, expectation));
  auto name = builder.CreateString(parts.name);
  auto inputVector = builder.CreateVector(inputs);
  auto registers = builder.CreateVectorOfStructs(parts.registers);
  auto bufferVector = builder.CreateVector(buffers);
  auto checkVector = builder.CreateVector(checks);
  auto commandVector = builder.CreateVector(commands);
  auto resultVector = builder.CreateVector(results);
  auto expectationVector = builder.CreateVector(expectations);
  Offset<flatbuffers::Vector<Offset<fb::Function>>> blockVector;
  if (!parts.blocks.empty()) {
    std::vector<Offset<fb::Function>> blocks;
    for (const FunctionParts &block : parts.blocks)
      blocks.push_back(writeFunction(builder, block));
    blockVector = builder.CreateVector(blocks);
  }
  Offset<flatbuffers::Vector<uint32_t>> loads;
  if (!parts.loads.empty())
    loads = builder.CreateVector(parts.loads);
  Offset<flatbuffers::Vector<const fb::Store *>> stores;
  if (!parts.stores.empty())
    stores = builder.CreateVectorOfStructs(parts.stores);
  Offset<flatbuffers::Vector<Offset<fb::Target>>> targetVector;
  if (!parts.targets.empty()) {
    std::vector<Offset<fb::Target>> targets;
    for (const TargetParts &target : parts.targets)
      targets.push_back(
          fb::CreateTarget(builder, target.condition, target.block, builder.CreateVector(target.arguments)));
    targetVector = builder.CreateVector(targets);
  }
  Offset<flatbuffers::Vector<Offset<flatbuffers::String>>> inputNames, resultNames;
  if (!parts.inputNames.empty())
    inputNames = builder.CreateVectorOfStrings(parts.inputNames);
  if (!parts.resultNames.empty())
    resultNames = builder.CreateVectorOfStrings(parts.resultNames);
  Offset<flatbuffers::Vector<uint32_t>> donated, updated;
  if (!parts.donated.empty())
    donated = builder.CreateVector(parts.donated);
  if (!parts.updated.empty())
    updated = builder.CreateVector(parts.updated);
  return fb::CreateFunction(builder, name, inputVector, registers, bufferVector, checkVector, commandVector,
                            resultVector, expectationVector, parts.arena, blockVector, loads, stores, targetVector,
                            inputNames, resultNames, 0, donated, updated);
}

static Offset<fb::NestedExecutable> writeNested(FlatBufferBuilder &builder, const std::vector<uint8_t> &bytes,
                                                size_t alignment) {
  return fb::CreateNestedExecutable(builder, createAlignedBytes(builder, bytes.data(), bytes.size(), alignment));
}

ProgramParts::ProgramParts() {
  using enum fb::RegisterOpcode;
  FunctionParts main;
  main.inputs = {TypeParts(), TypeParts(), {fb::ValueKind::Scalar, fb::ElementType::I32, {}}};
  main.registers = {{Dim, 0, 0, 0, 0},   {Arg, 2, 0, 0, 0},     {Const, 0, 0, 0, 1},
                    {Const, 0, 0, 0, 4}, {CeilDiv, 0, 3, 0, 0}, {Mul, 0, 3, 0, 0},
                    {Eq, 0, 0, 0, 0},    {Select, 6, 0, 2, 0},  {SignExtend, 1, 0, 0, 32}};
  main.buffers = {{fb::BufferSource::Input, 0},
                  {fb::BufferSource::Input, 1},
                  {fb::BufferSource::Transient, 0, 5},
                  {fb::BufferSource::Constant, 0}};
  main.checks = {6};
  const uint32_t none = 0xffffffff;
  CommandParts dispatch, copy, fill;
  dispatch.bindings = {{0, none, none}, {1, none, none}, {2, none, none}};
  copy.kind = fb::CommandBody::Copy;
  copy.source = {3, none, 3};
  copy.target = {2, 2, 3};
  fill.kind = fb::CommandBody::Fill;
  fill.target = {2, none, none};
  main.commands = {dispatch, copy, fill};
  main.results = {ResultParts()};
  functions = {main};
}

ProgramParts sampleOfBlocks() {
  using enum fb::RegisterOpcode;
  const TypeParts tensor, i32 = {fb::ValueKind::Scalar, fb::ElementType::I32, {}},
                          f32 = {fb::ValueKind::Scalar, fb::ElementType::F32, {}};
  const uint32_t none = 0xffffffff;
  FunctionParts main, entry, loop, end;
  entry.inputs = {tensor, i32};
  entry.registers = {{Dim, 0, 0, 0, 0}, {Arg, 1, 0, 0, 0}};
  entry.buffers = {{fb::BufferSource::Input, 0}};
  entry.results = {{tensor, 0, {0}}, {i32, 0, {}, 1}};
  entry.targets = {{none, 1, {0, 1}}};
  loop = entry;
  loop.inputs.push_back(i32);
  loop.registers = {{Dim, 0, 0, 0, 0}, {Arg, 1, 0, 0, 0}, {Arg, 2, 0, 0, 0}, {Const, 0, 0, 0, 0}};
  loop.results.push_back({f32, 0, {}, 0, 3});
  loop.loads = {1};
  loop.stores = {{1, 1}};
  loop.targets = {{1, 1, {0, 1}}, {none, 2, {0}}};
  end.inputs = {tensor};
  end.registers = {{Dim, 0, 0, 0, 0}, {Const, 0, 0, 0, 4}, {Mul, 0, 1, 0, 0}};
  end.buffers = {{fb::BufferSource::Input, 0}, {fb::BufferSource::Transient, 0, 2}};
  CommandParts copy;
  copy.kind = fb::CommandBody::Copy;
  copy.source = {0, none, none};
  copy.target = {1, none, none};
  end.commands = {copy};
  end.results = {{tensor, 1, {0}}};
  main.inputs = entry.inputs;
  main.results = {{tensor, 0, {}}};
  main.blocks = {entry, loop, end};
  ProgramParts program;
  program.version = kBlocksFormatVersion;
  program.functions = {main};
  program.globals = {{"weights", {fb::ValueKind::Tensor, fb::ElementType::F32, {4}}, 0}, {"count", i32}};
  return program;
}

std::vector<uint8_t> write(const ProgramParts &parts) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::NestedExecutable>> executables;
  if (parts.rawExecutable)
    executables.push_back(writeNested(builder, *parts.rawExecutable, parts.executableAlignment));
  else
    for (const ExecutableParts &executable : parts.executables)
      executables.push_back(writeNested(builder, write(executable), parts.executableAlignment));
  std::vector<Offset<fb::Function>> functions;
  for (const FunctionParts &function : parts.functions)
    functions.push_back(writeFunction(builder, function));
  std::vector<Offset<fb::ConstantData>> constants;
  for (const ConstantDataParts &constant : parts.constants) {
    Offset<flatbuffers::Vector<uint8_t>> data;
    if (constant.data)
      data = createAlignedBytes(builder, bytesOf(*constant.data), constant.data->size(), constant.alignment);
    uint64_t size = constant.size.value_or(constant.data ? constant.data->size() : 0);
    constants.push_back(fb::CreateConstantData(builder, data, constant.offset, size));
  }
  auto executableVector = builder.CreateVector(executables);
  auto functionVector = builder.CreateVector(functions);
  auto constantVector = builder.CreateVector(constants);
  Offset<flatbuffers::Vector<Offset<fb::Global>>> globalVector;
  if (!parts.globals.empty()) {
    std::vector<Offset<fb::Global>> globals;
    for (const GlobalParts &global : parts.globals)
      globals.push_back(fb::CreateGlobal(builder, builder.CreateString(global.name), writeType(builder, global.type),
                                         global.constant));
    globalVector = builder.CreateVector(globals);
  }
  Offset<fb::Function> initializer;
  if (parts.initializer)
    initializer = writeFunction(builder, *parts.initializer);
  Offset<flatbuffers::Vector<Offset<fb::Edition>>> editionVector;
  if (!parts.editions.empty()) {
    std::vector<Offset<fb::Edition>> editions;
    for (const EditionParts &edition : parts.editions) {
      auto targets = builder.CreateVectorOfStructs(edition.targets);
      std::vector<Offset<fb::Function>> own;
      for (const FunctionParts &function : edition.functions)
        own.push_back(writeFunction(builder, function));
      auto ownVector = builder.CreateVector(own);
      Offset<fb::Function> ownInitializer;
      if (edition.initializer)
        ownInitializer = writeFunction(builder, *edition.initializer);
      editions.push_back(fb::CreateEdition(builder, targets, ownVector, ownInitializer));
    }
    editionVector = builder.CreateVector(editions);
  }
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, parts.version, 0, 0, executableVector, functionVector,
                                                     constantVector, globalVector, initializer, editionVector));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::string verdictOf(const ProgramParts &parts) {
  Status status = verifyProgram(AlignedBytes(write(parts)).span(), "x");
  if (!status.ok())
    EXPECT_EQ(status.code(), StatusCode::DataLoss);
  return std::string(status.message());
}

std::string within(std::string_view place, const std::string &message) {
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

AlignedBytes::AlignedBytes(const std::vector<uint8_t> &bytes) : storage_(bytes.size() + 16), size_(bytes.size()) {
  uintptr_t address = reinterpret_cast<uintptr_t>(storage_.data());
  data_ = storage_.data() + (16 - address % 16) % 16;
  std::copy(bytes.begin(), bytes.end(), data_);
}

} // namespace tenon::abi::test
