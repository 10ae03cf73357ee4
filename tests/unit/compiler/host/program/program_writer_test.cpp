// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/program_writer.h"

#include "abi/format/type_spelling.h"
#include "abi/format/verify/verify.h"
#include "abi/format/views/program_view.h"

#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

/// copy(x) of a tensor<?x4xf32>, with a check and a scalar result.
Program copyProgram() {
  Function function;
  function.name = "copy";
  function.inputs = {{true, abi::ElementType::F32, {-1, 4}}, {false, abi::ElementType::I32, {}}};
  RegisterProgram &registers = function.registers;
  Register n = registers.dim(0, 0), four = registers.constant(4), bytes = registers.mul(n, registers.constant(16));
  Register scalar = registers.argument(1, signedRange(32));
  function.buffers = {{.source = BufferSource::Input, .index = 0}, {.source = BufferSource::Transient, .size = bytes}};
  function.checks.push_back(
      {registers.less(registers.constant(0), scalar), "argument 1 is not positive", "a.mlir:2:3"});
  function.commands.push_back({Copy{0, 1}, "a.mlir:3:5"});
  function.results.push_back({ValueType{true, abi::ElementType::F32, {-1, 4}}, 1, {n, four}});
  function.results.push_back({ValueType{false, abi::ElementType::I32, {}}, 0, {}, scalar});
  Program program;
  program.name = "example";
  program.functions.push_back(std::move(function));
  auto data = std::make_shared<std::vector<uint8_t>>(std::vector<uint8_t>{1, 2, 3, 4});
  program.constants.push_back({*data, 4, data});
  return program;
}

TEST(ProgramWriter, WritesWhatTheViewReads) {
  Result<std::vector<uint8_t>> bytes = writeProgram(copyProgram());
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  Result<abi::ProgramView> view = abi::ProgramView::create(*bytes, "copy.tenon");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  ASSERT_EQ(view->functionCount(), 1u);
  const abi::fb::Function &function = view->functionAt(0);
  EXPECT_EQ(function.name()->string_view(), "copy");
  ASSERT_EQ(function.inputs()->size(), 2u);
  EXPECT_EQ(abi::typeSpelling(*function.inputs()->Get(0)), "tensor<?x4xf32>");
  EXPECT_EQ(abi::typeSpelling(*function.inputs()->Get(1)), "i32");
  EXPECT_EQ(function.checks()->Get(0)->message()->string_view(), "argument 1 is not positive");
  ASSERT_EQ(function.commands()->size(), 1u);
  const abi::fb::Copy *copy = function.commands()->Get(0)->body_as_Copy();
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->source()->buffer(), 0u);
  EXPECT_EQ(copy->target()->buffer(), 1u);
  EXPECT_EQ(copy->target()->length(), kNoRegister);
  EXPECT_EQ(function.results()->Get(1)->scalar(), 4u);
  EXPECT_EQ(view->raw().constants()->Get(0)->size(), 4u);
}

TEST(ProgramWriter, PutsLargeConstantsBehindTheTables) {
  Program program = copyProgram();
  auto large = std::make_shared<std::vector<uint8_t>>((size_t(1) << 20) + 1, uint8_t(7));
  auto other = std::make_shared<std::vector<uint8_t>>((size_t(1) << 20) + 2, uint8_t(8));
  program.constants.push_back({*large, large->size(), large});
  program.constants.push_back({*large, 2 * large->size(), large}); // what repeats is inline
  program.constants.push_back({*other, other->size(), other});
  Result<std::vector<uint8_t>> bytes = writeProgram(program);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  Result<abi::ProgramView> view = abi::ProgramView::create(*bytes, "large.tenon");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  const auto &constants = *view->raw().constants();
  EXPECT_EQ(constants[0]->data()->size(), 4u);
  EXPECT_EQ(constants[2]->data()->size(), large->size());
  EXPECT_EQ(constants[2]->size(), 2 * large->size());
  for (auto [index, wanted] : {std::pair(1u, large), std::pair(3u, other)}) {
    EXPECT_EQ(constants[index]->data(), nullptr);
    ASSERT_EQ(constants[index]->size(), wanted->size());
    const uint8_t *begin = bytes->data() + constants[index]->file_offset();
    EXPECT_EQ(std::vector<uint8_t>(begin, begin + wanted->size()), *wanted);
  }
}

TEST(ProgramWriter, WritesBlocksAndGlobals) {
  const ValueType i32{false, abi::ElementType::I32, {}};
  Function begin, end, function;
  begin.name = end.name = function.name = "next";
  begin.registers.constant(1);
  begin.results = {{.type = i32, .buffer = 0, .shape = {}, .scalar = 0}};
  begin.targets = {{.condition = 0, .block = 1, .arguments = {0}}, {.block = 1, .arguments = {0}}};
  end.inputs = {i32, i32};
  const Register one = end.registers.argument(0), old = end.registers.argument(1);
  end.results = {{.type = i32, .buffer = 0, .shape = {}, .scalar = old},
                 {.type = i32, .buffer = 0, .shape = {}, .scalar = end.registers.add(one, old)}};
  end.loads = {0};
  end.stores = {{.global = 0, .result = 1}};
  function.results = {{.type = i32, .buffer = 0, .shape = {}}};
  function.blocks = {begin, end};
  Program program;
  EXPECT_EQ(abi::ProgramView::create(*writeProgram(program), "x")->raw().format_version(), abi::kFormatVersion)
      << "older readers read what they can";
  program.functions.push_back(function);
  program.globals = {{.name = "count", .type = i32, .constant = {}, .scalar = -3}};
  Result<std::vector<uint8_t>> bytes = writeProgram(program);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  Result<abi::ProgramView> view = abi::ProgramView::create(*bytes, "next.tenon");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  EXPECT_EQ(view->raw().format_version(), abi::kBlocksFormatVersion);
  EXPECT_EQ(view->raw().globals()->Get(0)->scalar(), -3);
  const auto &blocks = *view->functionAt(0).blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks.Get(0)->targets()->size(), 2u);
  EXPECT_EQ(blocks.Get(1)->loads()->Get(0), 0u);
  EXPECT_EQ(blocks.Get(1)->stores()->Get(0)->result(), 1u);
  // What does not hold together is found before it is written.
  program.functions[0].blocks[0].targets[0].arguments = {};
  EXPECT_EQ(writeProgram(program).status().message().substr(0, 22), "a bug in the compiler:");
}

TEST(ProgramWriter, WritesExpectations) {
  Program program = copyProgram();
  Function &function = program.functions[0];
  const ResultValue copied = function.results[0];
  function.expectations.push_back({.kind = ExpectationKind::AlmostEqual,
                                   .operation = "check.expect_almost_eq",
                                   .found = copied,
                                   .wanted = copied,
                                   .absoluteTolerance = 0.5,
                                   .relativeTolerance = 0.25,
                                   .location = "a.mlir:4:5"});
  function.expectations.push_back({.kind = ExpectationKind::Zero,
                                   .operation = "check.expect_false",
                                   .found = function.results[1],
                                   .wanted = {},
                                   .location = ""});
  Result<std::vector<uint8_t>> bytes = writeProgram(program);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  Result<abi::ProgramView> view = abi::ProgramView::create(*bytes, "copy.tenon");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  const auto &expectations = *view->functionAt(0).expectations();
  ASSERT_EQ(expectations.size(), 2u);
  EXPECT_EQ(expectations.Get(0)->kind(), abi::fb::ExpectationKind::AlmostEqual);
  EXPECT_EQ(expectations.Get(0)->wanted()->buffer(), 1u);
  EXPECT_EQ(expectations.Get(0)->absolute_tolerance(), 0.5);
  EXPECT_EQ(expectations.Get(0)->relative_tolerance(), 0.25);
  EXPECT_EQ(expectations.Get(0)->location()->string_view(), "a.mlir:4:5");
  EXPECT_EQ(expectations.Get(1)->kind(), abi::fb::ExpectationKind::Zero);
  EXPECT_EQ(expectations.Get(1)->wanted(), nullptr);
  EXPECT_EQ(expectations.Get(1)->found()->scalar(), 4u);
}

TEST(ProgramWriter, SameProgramSameBytes) {
  Result<std::vector<uint8_t>> first = writeProgram(copyProgram()), second = writeProgram(copyProgram());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
}

TEST(ProgramWriter, ReportsAProgramThatDoesNotVerifyAsABug) {
  Program program = copyProgram();
  program.functions[0].commands.push_back({Copy{0, 17}, ""});
  Result<std::vector<uint8_t>> bytes = writeProgram(program);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), StatusCode::Internal);
  EXPECT_NE(bytes.status().message().find("a bug in the compiler"), std::string_view::npos);
}

TEST(ProgramWriter, WritesAnEmptyProgram) {
  Result<std::vector<uint8_t>> bytes = writeProgram(Program{});
  EXPECT_TRUE(bytes.ok()) << bytes.status().toString();
}

} // namespace
} // namespace tenon::compiler::host
