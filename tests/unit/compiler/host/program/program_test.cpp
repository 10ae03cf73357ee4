// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/program.h"

#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

TEST(Program, DropUnusedRenumbersBuffersAndRegisters) {
  Function function;
  RegisterProgram &registers = function.registers;
  Register unused = registers.constant(99), n = registers.dim(1, 0), one = registers.constant(1);
  function.buffers = {{.source = BufferSource::Input, .index = 0},
                      {.source = BufferSource::Input, .index = 1},
                      {.source = BufferSource::Transient, .size = unused},
                      {.source = BufferSource::Transient, .size = n}};
  function.commands.push_back({Copy{1, 3}, "a.mlir:1:1"});
  function.commands.push_back({Dispatch{0, 0, {n, one, one}, {1, 3}, {n}}, "a.mlir:2:1"});
  function.checks.push_back({registers.equal(n, registers.constant(8)), "dimension 0 of argument 1 is not 8", ""});
  function.results.push_back({ValueType{true, abi::ElementType::F32, {-1}}, 3, {n}});
  function.dropUnused();

  ASSERT_EQ(function.buffers.size(), 2u);
  EXPECT_EQ(function.buffers[0].source, BufferSource::Input);
  EXPECT_EQ(function.buffers[0].index, 1u);
  EXPECT_EQ(function.buffers[1].size, 0u);
  const Copy &copy = std::get<Copy>(function.commands[0].body);
  EXPECT_EQ(copy.source, 0u);
  EXPECT_EQ(copy.target, 1u);
  const Dispatch &dispatch = std::get<Dispatch>(function.commands[1].body);
  EXPECT_EQ(dispatch.bindings, (std::vector<BufferIndex>{0, 1}));
  EXPECT_EQ(dispatch.grid, (std::array<Register, 3>{0, 1, 1}));
  EXPECT_EQ(dispatch.constants, std::vector<Register>{0});
  EXPECT_EQ(function.results[0].buffer, 1u);
  EXPECT_EQ(function.results[0].shape, std::vector<Register>{0});
  EXPECT_EQ(function.results[0].scalar, kNoRegister);
  EXPECT_EQ(function.registers.operations().size(), 4u) << "dim, 1, 8 and the comparison";
}

TEST(Program, DropUnusedKeepsWhatIsExpected) {
  Function function;
  RegisterProgram &registers = function.registers;
  Register unused = registers.constant(99), n = registers.dim(1, 0);
  const ValueType type{true, abi::ElementType::F32, {-1}};
  function.buffers = {{.source = BufferSource::Transient, .size = unused},
                      {.source = BufferSource::Input, .index = 1},
                      {.source = BufferSource::Constant, .index = 0}};
  function.expectations.push_back({.kind = ExpectationKind::Equal,
                                   .operation = "check.expect_eq",
                                   .found = {type, 1, {n}},
                                   .wanted = ResultValue{type, 2, {n}},
                                   .location = ""});
  function.dropUnused();
  ASSERT_EQ(function.buffers.size(), 2u);
  EXPECT_EQ(function.expectations[0].found.buffer, 0u);
  EXPECT_EQ(function.expectations[0].wanted->buffer, 1u);
  EXPECT_EQ(function.expectations[0].wanted->shape, std::vector<Register>{0});
}

} // namespace
} // namespace tenon::compiler::host
