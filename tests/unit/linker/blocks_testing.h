// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with blocks, a global and an initializer, for tests of what reads programs.
#pragma once

#include "abi/format/aligned_bytes.h"
#include "abi/format/verify/verify.h"
#include "abi/format/views/program_view.h"

namespace tenon::linker::testing {

/// f(tensor<4xf32>) -> (f32): block 0 reads an element, block 1 stores it to the global 'last' and adds what was there.
/// @param executable a TNX1 buffer; first: what the initializer stores
inline std::vector<uint8_t> makeBlockProgram(const std::vector<uint8_t> &executable, float first = 1) {
  namespace fb = abi::fb;
  using Op = fb::RegisterOp;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<int64_t> shape = {4};
  auto tensor = fb::CreateValueTypeDirect(builder, fb::ValueKind::Tensor, fb::ElementType::F32, &shape);
  auto scalar = fb::CreateValueTypeDirect(builder, fb::ValueKind::Scalar, fb::ElementType::F32);
  constexpr uint32_t none = 0xffffffff;

  std::vector<flatbuffers::Offset<fb::ValueType>> inputs = {tensor}, scalars = {scalar, scalar};
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(builder, fb::BufferSource::Input, 0)};
  std::vector<Op> atEight = {Op(fb::RegisterOpcode::Const, 0, 0, 0, 8)};
  std::vector<flatbuffers::Offset<fb::ResultValue>> read = {
      fb::CreateResultValueDirect(builder, scalar, 0, nullptr, 0, 0)};
  std::vector<uint32_t> handed = {0}, loads = {0};
  std::vector<flatbuffers::Offset<fb::Target>> next = {fb::CreateTargetDirect(builder, none, 1, &handed)};
  auto begin = fb::CreateFunctionDirect(builder, "f", &inputs, &atEight, &buffers, nullptr, nullptr, &read, nullptr,
                                        none, nullptr, nullptr, nullptr, &next);

  std::vector<Op> sum = {Op(fb::RegisterOpcode::Arg, 0, 0, 0, 0), Op(fb::RegisterOpcode::Arg, 1, 0, 0, 0),
                         Op(fb::RegisterOpcode::FAdd, 0, 1, 0, 32)};
  std::vector<flatbuffers::Offset<fb::ResultValue>> both = {
      fb::CreateResultValueDirect(builder, scalar, 0, nullptr, 2),
      fb::CreateResultValueDirect(builder, scalar, 0, nullptr, 0)};
  std::vector<fb::Store> stores = {fb::Store(0, 1)};
  auto end = fb::CreateFunctionDirect(builder, "f", &scalars, &sum, nullptr, nullptr, nullptr, &both, nullptr, none,
                                      nullptr, &loads, &stores);

  std::vector<flatbuffers::Offset<fb::Function>> blocks = {begin, end};
  std::vector<flatbuffers::Offset<fb::ResultValue>> results = {fb::CreateResultValueDirect(builder, scalar)};
  std::vector<flatbuffers::Offset<fb::Function>> functions = {fb::CreateFunctionDirect(
      builder, "f", &inputs, nullptr, nullptr, nullptr, nullptr, &results, nullptr, none, &blocks)};

  std::vector<Op> one = {Op(fb::RegisterOpcode::Const, 0, 0, 0, std::bit_cast<int32_t>(first))};
  std::vector<flatbuffers::Offset<fb::ResultValue>> stored = {fb::CreateResultValueDirect(builder, scalar)};
  std::vector<fb::Store> storeOne = {fb::Store(0, 0)};
  std::vector<flatbuffers::Offset<fb::Function>> startBlocks = {fb::CreateFunctionDirect(
      builder, "start", nullptr, &one, nullptr, nullptr, nullptr, &stored, nullptr, none, nullptr, nullptr, &storeOne)};
  auto initializer = fb::CreateFunctionDirect(builder, "start", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                              nullptr, none, &startBlocks);

  std::vector<flatbuffers::Offset<fb::Global>> globals = {fb::CreateGlobalDirect(builder, "last", scalar)};
  std::vector<flatbuffers::Offset<fb::NestedExecutable>> executables = {
      fb::CreateNestedExecutable(builder, abi::createAlignedBytes(builder, executable.data(), executable.size(), 64))};
  fb::FinishProgramBuffer(builder, fb::CreateProgramDirect(builder, abi::kBlocksFormatVersion, "test", "prog",
                                                           &executables, &functions, nullptr, &globals, initializer));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace tenon::linker::testing
