// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/dump/dump.h"

#include "abi/format/aligned_bytes.h"
#include "abi/format/verify/verify.h"
#include "tests/unit/linker/blocks_testing.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;
namespace fb = abi::fb;
constexpr uint32_t kAbsent = 0xffffffff;

/// f(tensor<?xf32>, i32): copies, fills and dispatches k over the copy.
std::vector<uint8_t> makeProgram() {
  Linked linked = linkOne(entry("k", "pw"), makeExport("k", 1, {abi::Constant::word()}));
  flatbuffers::FlatBufferBuilder builder;
  using Op = fb::RegisterOp;
  std::vector<Op> registers = {Op(fb::RegisterOpcode::Dim, 0, 0, 0, 0), Op(fb::RegisterOpcode::Const, 0, 0, 0, 4),
                               Op(fb::RegisterOpcode::Mul, 0, 1, 0, 0), Op(fb::RegisterOpcode::Const, 0, 0, 0, 1),
                               Op(fb::RegisterOpcode::Arg, 1, 0, 0, 0)};
  std::vector<int64_t> shape = {-1};
  auto tensor = fb::CreateValueTypeDirect(builder, fb::ValueKind::Tensor, fb::ElementType::F32, &shape);
  auto scalar = fb::CreateValueTypeDirect(builder, fb::ValueKind::Scalar, fb::ElementType::I32);
  std::vector<flatbuffers::Offset<fb::ValueType>> inputs = {tensor, scalar};
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(builder, fb::BufferSource::Input, 0),
                                                          fb::CreateBuffer(builder, fb::BufferSource::Transient, 0, 2)};
  fb::BufferRange input(0, kAbsent, kAbsent), whole(1, kAbsent, kAbsent);
  auto copy = fb::CreateCopy(builder, &input, &whole);
  auto fill = fb::CreateFill(builder, &whole, 3, 4);
  std::vector<uint32_t> grid = {0, 3, 3}, constants = {4}, resultShape = {0};
  std::vector<fb::BufferRange> bindings = {whole};
  auto dispatch = fb::CreateDispatchDirect(builder, 0, 0, &grid, &bindings, &constants);
  std::vector<flatbuffers::Offset<fb::Command>> commands = {
      fb::CreateCommandDirect(builder, fb::CommandBody::Copy, copy.Union()),
      fb::CreateCommandDirect(builder, fb::CommandBody::Fill, fill.Union()),
      fb::CreateCommandDirect(builder, fb::CommandBody::Dispatch, dispatch.Union(), "x.mlir:9:8")};
  std::vector<flatbuffers::Offset<fb::Check>> checks = {fb::CreateCheckDirect(builder, 3, "never")};
  std::vector<flatbuffers::Offset<fb::ResultValue>> results = {
      fb::CreateResultValueDirect(builder, tensor, 1, &resultShape),
      fb::CreateResultValueDirect(builder, scalar, 0, nullptr, 4)};
  std::vector<flatbuffers::Offset<fb::Function>> functions = {
      fb::CreateFunctionDirect(builder, "f", &inputs, &registers, &buffers, &checks, &commands, &results)};
  auto nested = fb::CreateNestedExecutable(
      builder, abi::createAlignedBytes(builder, linked.bytes.data(), linked.bytes.size(), 64));
  std::vector<flatbuffers::Offset<fb::NestedExecutable>> executables = {nested};
  fb::FinishProgramBuffer(
      builder, fb::CreateProgramDirect(builder, abi::kFormatVersion, "test", "prog", &executables, &functions));
  return std::vector<uint8_t>(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

TEST(DumpProgram, PrintsFunctionsInReadableText) {
  std::vector<uint8_t> bytes = makeProgram();
  Result<abi::ProgramView> program = abi::ProgramView::create(bytes, "prog");
  ASSERT_TRUE(program.ok()) << program.status().toString();
  std::string text = dumpProgram(*program, bytes.size());
  for (const char *part : {
           "program 'prog': 1 function, 1 executable, 0 constants, ",
           "function 'f'(tensor<?xf32>, i32) -> (tensor<?xf32>, i32)\n",
           "    r0 = dim 0 of input 0\n",
           "    r2 = mul r0, r1\n",
           "    r4 = input 1\n",
           "    b0 = input 0\n",
           "    b1 = transient, r2 bytes\n",
           "    r3 else 'never'\n",
           "    copy b0 -> b1\n",
           "    fill b1 with r3, 4 bytes\n",
           "    dispatch 'test'::'k' grid (r0, r3, r3) bindings (b1) constants (r4)  // x.mlir:9:8\n",
           "    tensor<?xf32> = b1, shape (r0)\n",
           "    i32 = r4\n",
           "executable 'test': 1 export, 1 variant",
       })
    EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\nfound:\n" << text;
}

TEST(DumpProgram, PrintsJson) {
  std::vector<uint8_t> bytes = makeProgram();
  Result<abi::ProgramView> program = abi::ProgramView::create(bytes, "prog");
  ASSERT_TRUE(program.ok()) << program.status().toString();
  JsonWriter json;
  dumpProgramJson(*program, bytes.size(), json);
  std::string text = json.take();
  for (const char *part :
       {"\"kind\": \"program\"", "\"r1 = const 4\"", "\"tensor<?xf32>\"", "\"kind\": \"executable\""})
    EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\nfound:\n" << text;
}

TEST(DumpProgram, PrintsBlocks) {
  const std::vector<uint8_t> bytes = makeBlockProgram(linkOne(entry("k", "p"), makeExport("k", 1)).bytes);
  Result<abi::ProgramView> program = abi::ProgramView::create(bytes, "prog");
  ASSERT_TRUE(program.ok()) << program.status().toString();
  const std::string text = dumpProgram(*program, bytes.size());
  EXPECT_NE(text.find(R"(function 'f'(tensor<4xf32>) -> (f32)
  block 0 (tensor<4xf32>) -> (f32):
    registers:
      r0 = const 8
    buffers:
      b0 = input 0
    results:
      f32 read from b0 at byte r0
    targets:
      block 1 (0)
  block 1 (f32, f32) -> (f32, f32):
    loads:
      input 1 = global 'last'
    registers:
      r0 = input 0
      r1 = input 1
      r2 = fadd.32 r0, r1
    results:
      f32 = r2
      f32 = r0
    stores:
      global 'last' = result 1
initializer 'start'() -> ()
  block 0 () -> (f32):
    registers:
      r0 = const 1065353216
    results:
      f32 = r0
    stores:
      global 'last' = result 0
global 'last': f32, bits 0
)"),
            std::string::npos)
      << text;
  JsonWriter json;
  dumpProgramJson(*program, bytes.size(), json);
  const std::string members = json.take();
  for (const char *part : {"\"blocks\"", "\"loads\"", "\"stores\"", "\"targets\"", "\"initializer\"", "\"globals\"",
                           "\"'last': f32, bits 0\""})
    EXPECT_NE(members.find(part), std::string::npos) << "wanted: " << part << "\nfound:\n" << members;
}

TEST(DumpProgram, NamesEveryRegisterOperation) {
  for (int opcode = 0; opcode <= int(fb::RegisterOpcode::MAX); ++opcode) {
    std::string text = registerText(3, fb::RegisterOp(fb::RegisterOpcode(opcode), 0, 1, 2, 16));
    EXPECT_TRUE(text.starts_with("r3 = ") && text.back() != '?') << text;
  }
}

} // namespace
} // namespace tenon::linker
