// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/program.h"

#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::runtime {

using namespace tenon::test;

class ProgramTest : public FakeDeviceTest {
protected:
  Result<std::unique_ptr<Program>> load(const AlignedBytes &bytes) { return Program::load(open(), bytes.span(), "p"); }
};

TEST_F(ProgramTest, FindsFunctions) {
  const AlignedBytes one = buildProgram({{.name = "f"}}, {});
  {
    auto program = load(one);
    ASSERT_OK(program.status());
    EXPECT_EQ(*(*program)->findFunction(""), 0u);
    EXPECT_EQ(*(*program)->findFunction("f"), 0u);
    EXPECT_EQ(*(*program)->findFunction("@f"), 0u);
    EXPECT_STATUS((*program)->findFunction("g").status(), NotFound, "'f'");
    EXPECT_EQ((*program)->explain(), "the program has no executables\n");
  }
  const AlignedBytes two = buildProgram({{.name = "f"}, {.name = "g"}}, {});
  auto program = load(two);
  ASSERT_OK(program.status());
  EXPECT_STATUS((*program)->findFunction("").status(), InvalidArgument,
                "name one of the program's functions: 'f', 'g'");
  EXPECT_STATUS((*program)->call(2, {}).status(), OutOfRange, "no function 2: the program has 2");
}

TEST_F(ProgramTest, RefusesBytesThatDoNotVerify) {
  const std::vector<uint8_t> zeros(64);
  EXPECT_STATUS(load(AlignedBytes(zeros)).status(), DataLoss, "p");
}

TEST_F(ProgramTest, UploadsConstants) {
  FunctionSpec function{.name = "f"};
  function.registers = {abi::fb::RegisterOp(abi::fb::RegisterOpcode::Const, 0, 0, 0, 4)};
  function.buffers = {{abi::fb::BufferSource::Constant, 0}};
  function.results = {{.type = {abi::ElementType::I8, {-1}}, .buffer = 0, .shape = {0}}};
  const AlignedBytes bytes = buildProgram({function}, {}, {{1, 2, 3, 4}});
  auto program = load(bytes);
  ASSERT_OK(program.status());
  auto results = (*program)->call(0, {});
  ASSERT_OK(results.status());
  auto host = downloadTensor(*device, std::get<Tensor>((*results)[0]));
  ASSERT_OK(host.status());
  EXPECT_EQ(host->bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST_F(ProgramTest, ExplainsExecutables) {
  const auto executable = buildExecutable("exe", {makeExport("k", 1, 0)}, {{.name = "sm_80", .image = "ptx"}});
  const AlignedBytes bytes = buildProgram({{.name = "f"}}, {executable});
  auto program = load(bytes);
  ASSERT_OK(program.status());
  EXPECT_NE((*program)->explain().find("loaded: variant 'sm_80', kernel 'k'"), std::string::npos);
}

TEST_F(ProgramTest, AVariantHoldsWhereThereIsOneOfThatName) {
  const auto one = buildExecutable("one", {makeExport("k", 1, 0)},
                                   {{.name = "sm_80", .image = "ptx"}, {.name = "old", .arch = 75, .image = "ptx"}});
  const auto two = buildExecutable("two", {makeExport("k", 1, 0)}, {{.name = "sm_80", .image = "ptx"}});
  const AlignedBytes bytes = buildProgram({{.name = "f"}}, {one, two});
  auto program = Program::load(open(), bytes.span(), "p", {.variant = "old"});
  ASSERT_OK(program.status());
  const std::string text = (*program)->explain();
  EXPECT_NE(text.find("loaded: variant 'old'"), std::string::npos) << text;
  EXPECT_NE(text.find("loaded: variant 'sm_80'"), std::string::npos) << text;
  EXPECT_STATUS(Program::load(open(), bytes.span(), "p", {.variant = "new"}).status(), NotFound,
                "no executable of 'p' has a variant 'new'");
}

} // namespace tenon::runtime
