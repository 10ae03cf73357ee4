// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/program_builder.h"

#include "abi/format/aligned_bytes.h"
#include "abi/format/layout_table.h"
#include "abi/format/verify/verify.h"
#include "abi/parameter_layout.h"

#include <algorithm>
#include <cstring>

namespace tenon::test {

namespace fb = abi::fb;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

AlignedBytes::AlignedBytes(std::span<const uint8_t> bytes) : blocks_(bytes.size() / 64 + 1), size_(bytes.size()) {
  std::memcpy(blocks_.data(), bytes.data(), bytes.size());
}

abi::Export makeExport(std::string name, size_t bindings, size_t words, uint32_t threads) {
  abi::Export out;
  out.name = out.symbol = std::move(name);
  out.layout.bindings.resize(bindings);
  for (size_t i = 0; i + 1 < bindings; ++i)
    out.layout.bindings[i].readOnly = true;
  out.layout.constants.resize(words);
  out.launch.workgroupSize = {threads, 1, 1};
  return out;
}

std::vector<uint8_t> buildExecutable(const std::string &name, std::vector<abi::Export> exports,
                                     const std::vector<VariantSpec> &variants) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::Export>> exportTables;
  for (uint32_t i = 0; i < exports.size(); ++i) {
    exports[i].ordinal = i;
    exportTables.push_back(abi::exportToTable(builder, exports[i]));
  }
  std::vector<Offset<fb::Image>> images;
  std::vector<Offset<fb::Variant>> variantTables;
  for (uint32_t v = 0; v < variants.size(); ++v) {
    const VariantSpec &spec = variants[v];
    auto data =
        abi::createAlignedBytes(builder, reinterpret_cast<const uint8_t *>(spec.image.data()), spec.image.size(), 16);
    auto source = builder.CreateString(spec.name + ".ptx");
    images.push_back(fb::CreateImage(builder, spec.kind, fb::Compression::None, spec.image.size(),
                                     spec.kind == fb::ImageKind::Ptx ? spec.isa : 0, data, source));
    std::vector<Offset<fb::Kernel>> kernels;
    for (uint32_t i = 0; i < exports.size(); ++i) {
      flatbuffers::Offset<flatbuffers::Vector<uint32_t>> threads;
      if (!spec.requiredThreads.empty())
        threads = builder.CreateVector(spec.requiredThreads);
      fb::KernelFactsBuilder facts(builder);
      if (!spec.requiredThreads.empty())
        facts.add_required_threads(threads);
      facts.add_any_grid(spec.takesAnyGrid);
      facts.add_parameter_bytes(abi::computeParameterLayout(exports[i].layout)->bytes);
      auto factsTable = facts.Finish();
      kernels.push_back(fb::CreateKernelDirect(builder, i, exports[i].symbol.c_str(), factsTable));
    }
    const fb::Arch arch(spec.arch, fb::ArchSuffix::None);
    const std::vector<uint32_t> indices = {v};
    variantTables.push_back(
        fb::CreateVariantDirect(builder, spec.name.c_str(), &arch, spec.origin, 0, &indices, &kernels));
  }
  const bool isOrdered =
      std::ranges::any_of(exports, [](const abi::Export &e) { return !e.layout.parameters.empty(); });
  const uint32_t version = isOrdered ? abi::kOrderedFormatVersion : abi::kFormatVersion;
  auto root =
      fb::CreateExecutableDirect(builder, version, "test", name.c_str(), &exportTables, &images, &variantTables);
  fb::FinishExecutableBuffer(builder, root);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

namespace {

Offset<fb::ValueType> typeTable(FlatBufferBuilder &builder, const TypeSpec &type) {
  return fb::CreateValueTypeDirect(builder, type.isScalar ? fb::ValueKind::Scalar : fb::ValueKind::Tensor,
                                   static_cast<fb::ElementType>(type.element), type.isScalar ? nullptr : &type.shape);
}

Offset<fb::Command> commandTable(FlatBufferBuilder &builder, const CommandSpec &spec) {
  fb::CommandBody kind = fb::CommandBody::NONE;
  Offset<void> body;
  switch (spec.kind) {
  case CommandSpec::Dispatch:
    kind = fb::CommandBody::Dispatch;
    body = fb::CreateDispatchDirect(builder, spec.executable, spec.ordinal, &spec.grid, &spec.ranges, &spec.constants)
               .Union();
    break;
  case CommandSpec::Copy:
    kind = fb::CommandBody::Copy;
    body = fb::CreateCopy(builder, &spec.ranges[0], &spec.ranges[1]).Union();
    break;
  case CommandSpec::Fill:
    kind = fb::CommandBody::Fill;
    body = fb::CreateFill(builder, &spec.ranges[0], spec.constants[0], spec.patternBytes).Union();
    break;
  }
  return fb::CreateCommandDirect(builder, kind, body, spec.location.empty() ? nullptr : spec.location.c_str());
}

Offset<fb::ResultValue> resultTable(FlatBufferBuilder &builder, const ResultSpec &spec) {
  auto type = typeTable(builder, spec.type);
  return fb::CreateResultValueDirect(builder, type, spec.buffer, &spec.shape, spec.scalar, spec.element);
}

Offset<fb::Expectation> expectationTable(FlatBufferBuilder &builder, const ExpectationSpec &spec) {
  Offset<fb::ResultValue> found = resultTable(builder, spec.found), wanted;
  if (spec.wanted)
    wanted = resultTable(builder, *spec.wanted);
  return fb::CreateExpectationDirect(builder, spec.kind, "check.expect", found, wanted, spec.atol, spec.rtol,
                                     spec.location.empty() ? nullptr : spec.location.c_str());
}

Offset<fb::Function> functionTable(FlatBufferBuilder &builder, const FunctionSpec &spec) {
  std::vector<Offset<fb::ValueType>> inputs;
  for (const TypeSpec &type : spec.inputs)
    inputs.push_back(typeTable(builder, type));
  std::vector<Offset<fb::Buffer>> buffers;
  for (const BufferSpec &buffer : spec.buffers)
    buffers.push_back(fb::CreateBuffer(builder, buffer.source, buffer.index, buffer.size, buffer.offset));
  std::vector<Offset<fb::Check>> checks;
  for (const CheckSpec &check : spec.checks)
    checks.push_back(fb::CreateCheckDirect(builder, check.condition, check.message.c_str(),
                                           check.location.empty() ? nullptr : check.location.c_str()));
  std::vector<Offset<fb::Command>> commands;
  for (const CommandSpec &command : spec.commands)
    commands.push_back(commandTable(builder, command));
  std::vector<Offset<fb::ResultValue>> results;
  for (const ResultSpec &result : spec.results)
    results.push_back(resultTable(builder, result));
  std::vector<Offset<fb::Expectation>> expectations;
  for (const ExpectationSpec &expectation : spec.expectations)
    expectations.push_back(expectationTable(builder, expectation));
  std::vector<Offset<fb::Function>> blocks;
  for (const FunctionSpec &block : spec.blocks)
    blocks.push_back(functionTable(builder, block));
  std::vector<Offset<fb::Target>> targets;
  for (const TargetSpec &target : spec.targets)
    targets.push_back(fb::CreateTargetDirect(builder, target.condition, target.block, &target.arguments));
  return fb::CreateFunctionDirect(builder, spec.name.c_str(), &inputs, &spec.registers, &buffers, &checks, &commands,
                                  &results, &expectations, spec.arena, &blocks, &spec.loads, &spec.stores, &targets,
                                  nullptr, nullptr, nullptr, &spec.donated, &spec.updated);
}

Offset<flatbuffers::Vector<uint8_t>> alignedData(FlatBufferBuilder &builder, const std::vector<uint8_t> &bytes) {
  return abi::createAlignedBytes(builder, bytes.data(), bytes.size(), 64);
}

} // namespace

static AlignedBytes buildProgram(const std::vector<FunctionSpec> &functions,
                                 const std::vector<std::vector<uint8_t>> &executables,
                                 const std::vector<std::vector<uint8_t>> &constants, uint64_t trailingBytes,
                                 uint64_t trailingOffset, const StateSpec &state) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::NestedExecutable>> nested;
  for (const auto &bytes : executables)
    nested.push_back(fb::CreateNestedExecutable(builder, alignedData(builder, bytes)));
  std::vector<Offset<fb::ConstantData>> data;
  for (const auto &bytes : constants)
    data.push_back(fb::CreateConstantData(builder, alignedData(builder, bytes), 0, bytes.size()));
  if (trailingBytes != 0)
    data.push_back(fb::CreateConstantData(builder, 0, trailingOffset, trailingBytes));
  std::vector<Offset<fb::Function>> tables;
  for (const FunctionSpec &function : functions)
    tables.push_back(functionTable(builder, function));
  std::vector<Offset<fb::Global>> globals;
  for (const GlobalSpec &global : state.globals)
    globals.push_back(fb::CreateGlobalDirect(builder, global.name.c_str(), typeTable(builder, global.type),
                                             global.constant, global.scalar));
  Offset<fb::Function> initializer;
  if (state.initializer)
    initializer = functionTable(builder, *state.initializer);
  std::vector<Offset<fb::Edition>> editions;
  for (const EditionSpec &edition : state.editions) {
    const std::vector<fb::Arch> targets = {{edition.target.number, fb::ArchSuffix(edition.target.suffix)}};
    std::vector<Offset<fb::Function>> own;
    for (const FunctionSpec &function : edition.functions)
      own.push_back(functionTable(builder, function));
    editions.push_back(fb::CreateEditionDirect(builder, &targets, &own));
  }
  const bool hasBlocks = !globals.empty() || state.initializer ||
                         std::ranges::any_of(functions, [](const FunctionSpec &f) { return !f.blocks.empty(); });
  auto root = fb::CreateProgramDirect(builder, hasBlocks ? abi::kBlocksFormatVersion : abi::kFormatVersion, "test",
                                      "test", &nested, &tables, &data, globals.empty() ? nullptr : &globals,
                                      initializer, editions.empty() ? nullptr : &editions);
  fb::FinishProgramBuffer(builder, root);
  return AlignedBytes({builder.GetBufferPointer(), builder.GetSize()});
}

AlignedBytes buildProgram(const std::vector<FunctionSpec> &functions,
                          const std::vector<std::vector<uint8_t>> &executables,
                          const std::vector<std::vector<uint8_t>> &constants, uint64_t trailingBytes,
                          const StateSpec &state) {
  // The size does not depend on the offset, once it is not the default.
  const size_t bytes = buildProgram(functions, executables, constants, trailingBytes, 64, state).span().size();
  return buildProgram(functions, executables, constants, trailingBytes, (bytes + 63) / 64 * 64, state);
}

} // namespace tenon::test
