// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule of programs and their functions: the sample program with one thing broken, and what verification says.
#include "abi/format/verify/verify.h"

#include "tests/unit/abi/sample_files.h"

#include <gtest/gtest.h>
#include <limits>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

static std::string verdict(const std::function<void(ProgramParts &)> &change) {
  ProgramParts parts;
  change(parts);
  return verdictOf(parts);
}

/// The same for a change of the program's function, whose place the messages begin with.
static std::string inMain(const std::function<void(FunctionParts &)> &change) {
  return within("'x': functions[0]: main: ", verdict([&](ProgramParts &p) { change(p.functions[0]); }));
}

TEST(VerifyProgram, AcceptsAnEmptyProgram) {
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p.executables.clear();
              p.functions.clear();
              p.constants.clear();
            }),
            "");
}

TEST(VerifyProgram, WantsFunctionNamesOnce) {
  EXPECT_EQ(verdict([](ProgramParts &p) { p.functions.push_back(p.functions[0]); }),
            "'x': functions[1]: [F-4] name 'main' is there twice");
}

TEST(VerifyProgram, HasANameForEachInputAndResultOrNone) {
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.inputNames = {"a", "", "rows of b"};
              f.resultNames = {"out"};
            }),
            "");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputNames = {"a"}; }), "[F-29] input_names has 1 names, 3 are wanted");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.resultNames = {"a", "b"}; }),
            "[F-29] result_names has 2 names, 1 are wanted");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputNames = {"a", "b\x1b[2J", "c"}; }),
            "[F-29] a name in input_names has a control character");
}

TEST(VerifyProgram, VerifiesNestedExecutables) {
  EXPECT_EQ(verdict([](ProgramParts &p) { p.executables[0].variants[0].images = {5}; }),
            "'x': executables[0]: variants[0]: images[0]: [F-10] index is 5, there are 1 images");
  EXPECT_EQ(verdict([](ProgramParts &p) { p.rawExecutable = write(ProgramParts()); }),
            "'x': executables[0]: [F-1] found a Tenon program (TNP1), a Tenon executable (TNX1) is wanted: give "
            "the executable (.tnx) that tenon-link writes");
  EXPECT_EQ(verdict([](ProgramParts &p) { p.rawExecutable = std::vector<uint8_t>(); }),
            "'x': executables[0]: [F-1] found an empty file, a Tenon executable (TNX1) is wanted: did the tool "
            "that wrote it fail? (0 bytes)");
  EXPECT_EQ(verdict([](ProgramParts &p) { p.executables.push_back(p.executables[0]); }),
            "'x': executables[1]: [F-4] name 'kernels' is there twice");
}

TEST(VerifyProgram, ChecksConstants) {
  auto constant = [](ConstantDataParts value) { return verdict([=](ProgramParts &p) { p.constants[0] = value; }); };
  EXPECT_EQ(constant({std::string(), 0, {}}), "");
  EXPECT_EQ(constant({std::string("abcd"), 0, 5}),
            "'x': constants[0]: [F-14] size is 5, file_offset 0; the data has 4 bytes and stands here");
  EXPECT_EQ(constant({std::string("abcd"), 0, uint64_t(1) << 50}), "");
  EXPECT_EQ(constant({std::string("abcd"), 0, 0}),
            "'x': constants[0]: [F-14] size is 0, file_offset 0; the data has 4 bytes and stands here");
  EXPECT_EQ(constant({std::string(), 0, 4}),
            "'x': constants[0]: [F-14] size is 4, file_offset 0; the data has 0 bytes and stands here");
  EXPECT_EQ(constant({std::string("abcd"), 64, {}}),
            "'x': constants[0]: [F-14] size is 4, file_offset 64; the data has 4 bytes and stands here");
  EXPECT_EQ(constant({std::nullopt, 64, 16}), "");
  EXPECT_EQ(constant({std::nullopt, 32, 16}), "'x': constants[0]: [F-14] file_offset 32 is no multiple of 64");
  EXPECT_TRUE(constant({std::nullopt, 64, 1u << 20})
                  .starts_with("'x': constants[0]: [F-14] bytes 64 + 1048576 end behind the file of "));
  EXPECT_TRUE(constant({std::nullopt, ~uint64_t(63), ~uint64_t(0)})
                  .starts_with("'x': constants[0]: [F-14] bytes 18446744073709551552 + "));
}

TEST(VerifyProgram, ChecksTypes) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[0].shape = {-2}; }), "inputs[0]: shape[0]: [F-15] extent -2");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[1].kind = fb::ValueKind(3); }),
            "inputs[1]: [F-5] kind has the unknown value 3");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.inputs[2].kind = fb::ValueKind::Unread;
              f.inputs[2].shape = {1};
            }),
            "inputs[2]: [F-15] a value that is not read, with a shape");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].type = {fb::ValueKind::Unread, fb::ElementType::F32, {}}; }),
            "results[0]: type: [F-15] only an input may be a value that is not read");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs.push_back({fb::ValueKind::Unread, fb::ElementType::I32, {}}); }),
            "");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[1].element = fb::ElementType(99); }),
            "inputs[1]: [F-5] element has the unknown value 99");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[2].shape = {1}; }),
            "inputs[2]: [F-15] a scalar with a shape of rank 1");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[1].shape.assign(65, 1); }),
            "inputs[1]: [F-15] rank 65, at most 64 are read");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[1].shape = {1 << 30, -1, 1 << 30, 2}; }),
            "inputs[1]: shape[3]: [F-15] the static extents have more than 2^63 bytes");
}

TEST(VerifyProgram, ChecksRegisters) {
  using enum fb::RegisterOpcode;
  auto last = [](fb::RegisterOp operation) { return inMain([=](FunctionParts &f) { f.registers[8] = operation; }); };
  EXPECT_EQ(last({fb::RegisterOpcode(46), 0, 0, 0, 0}), "registers[8]: [F-5] opcode has the unknown value 46");
  EXPECT_EQ(last({Arg, 3, 0, 0, 0}), "registers[8]: [F-16] input of Arg is 3, there are 3 inputs");
  EXPECT_EQ(last({Arg, 1, 0, 0, 0}), "registers[8]: [F-16] Arg of input 1, which is a tensor");
  EXPECT_EQ(last({Dim, 3, 0, 0, 0}), "registers[8]: [F-16] input of Dim is 3, there are 3 inputs");
  EXPECT_EQ(last({Dim, 2, 0, 0, 0}), "registers[8]: [F-16] Dim of input 2, which is a scalar");
  EXPECT_EQ(last({Dim, 0, 1, 0, 0}), "registers[8]: [F-16] dimension of Dim is 1, there are 1 dimensions");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.inputs.push_back({fb::ValueKind::Unread, fb::ElementType::I32, {}});
              f.registers[8] = {Arg, 3, 0, 0, 0};
            }),
            "registers[8]: [F-16] Arg of input 3, which is not read");
  EXPECT_EQ(last({SignExtend, 0, 0, 0, 0}), "registers[8]: [F-16] SignExtend from 0 bits, not 1 to 64");
  EXPECT_EQ(last({ZeroExtend, 0, 0, 0, 65}), "registers[8]: [F-16] ZeroExtend from 65 bits, not 1 to 64");
  EXPECT_EQ(last({ZeroExtend, 8, 0, 0, 1}),
            "registers[8]: [F-16] ZeroExtend reads register 8, only those before 8 have a value");
  EXPECT_EQ(last({Select, 0, 0, 9, 0}),
            "registers[8]: [F-16] Select reads register 9, only those before 8 have a value");
  EXPECT_EQ(last({FAdd, 0, 0, 0, 16}), "registers[8]: [F-16] FAdd of 16 bits, not 32 or 64");
  EXPECT_EQ(last({FAdd, 0, 8, 0, 32}), "registers[8]: [F-16] FAdd reads register 8, only those before 8 have a value");
  EXPECT_EQ(last({FConvert, 0, 0, 0, 0}), "registers[8]: [F-16] FConvert of 0, which is no pair of float types");
  EXPECT_EQ(last({Const, 99, 99, 99, 0}), "");
}

// Every opcode with two operands reads both.
TEST(VerifyProgram, ChecksBothOperands) {
  for (uint8_t opcode = uint8_t(fb::RegisterOpcode::Add); opcode <= uint8_t(fb::RegisterOpcode::Align); ++opcode) {
    if (opcode == uint8_t(fb::RegisterOpcode::Select))
      continue;
    for (int operand = 0; operand < 2; ++operand) {
      fb::RegisterOp operation(fb::RegisterOpcode(opcode), operand == 0 ? 8 : 0, operand == 1 ? 8 : 0, 77, 0);
      EXPECT_EQ(inMain([&](FunctionParts &f) { f.registers[8] = operation; }),
                std::string("registers[8]: [F-16] ") + fb::EnumNameRegisterOpcode(fb::RegisterOpcode(opcode)) +
                    " reads register 8, only those before 8 have a value");
    }
  }
}

TEST(VerifyProgram, ChecksBuffers) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.buffers[0].source = fb::BufferSource(3); }),
            "buffers[0]: [F-5] source has the unknown value 3");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.buffers[0].index = 3; }),
            "buffers[0]: [F-17] index is 3, there are 3 inputs");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.buffers[0].index = 2; }),
            "buffers[0]: [F-17] input 2 is a scalar and has no buffer");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.buffers[2].size = 0xffffffff; }),
            "buffers[2]: [F-17] size is 4294967295, there are 9 registers");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.buffers[3].index = 1; }),
            "buffers[3]: [F-17] index is 1, there are 1 constants");
}

TEST(VerifyProgram, ChecksRanges) {
  auto range = [](fb::BufferRange value) { return inMain([=](FunctionParts &f) { f.commands[1].source = value; }); };
  EXPECT_EQ(range({4, 0, 0}), "commands[1]: copy: source: [F-18] buffer is 4, there are 4 buffers");
  EXPECT_EQ(range({3, 9, 0}), "commands[1]: copy: source: [F-18] offset is 9, there are 9 registers");
  EXPECT_EQ(range({3, 0, 10}), "commands[1]: copy: source: [F-18] length is 10, there are 9 registers");
}

TEST(VerifyProgram, ChecksChecksAndCommands) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.checks[0] = 9; }),
            "checks[0]: [F-19] condition is 9, there are 9 registers");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[0].kind = fb::CommandBody::NONE; }),
            "commands[0]: [F-19] a command of the unknown kind 0");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[0].kind = fb::CommandBody(4); }),
            "commands[0]: [F-19] a command of the unknown kind 4");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[2].pattern = 9; }),
            "commands[2]: fill: [F-19] pattern is 9, there are 9 registers");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[2].patternSize = 3; }),
            "commands[2]: fill: [F-19] pattern_size is 3, not 1, 2 or 4");
}

TEST(VerifyProgram, ChecksDispatches) {
  auto dispatch = [](const std::function<void(CommandParts &)> &change) {
    return inMain([&](FunctionParts &f) { change(f.commands[0]); });
  };
  const std::string at = "commands[0]: dispatch: ";
  EXPECT_EQ(dispatch([](CommandParts &c) { c.executable = 1; }),
            at + "[F-20] executable is 1, there are 1 executables");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.ordinal = 1; }), at + "[F-20] export_ordinal is 1, there are 1 exports");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.grid = {0, 0}; }), at + "[F-20] grid has 2 registers, not 3");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.grid = {0, 9, 0}; }),
            at + "grid[1]: [F-20] register is 9, there are 9 registers");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.bindings.pop_back(); }),
            at + "[F-20] 2 bindings, the export's layout has 3");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.constants.push_back(0); }),
            at + "[F-20] 2 constants, the export's layout has 1");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.constants[0] = 9; }),
            at + "constants[0]: [F-20] register is 9, there are 9 registers");
  EXPECT_EQ(dispatch([](CommandParts &c) { c.bindings[1] = {9, 0, 0}; }),
            at + "bindings[1]: [F-18] buffer is 9, there are 4 buffers");
}

TEST(VerifyProgram, WantsARegisterForEachWordOfAConstant) {
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p.executables[0].exports[0].constants[0] = {fb::ConstantKind::TensorMap, fb::ElementType::I32, 128, 64};
              p.executables[0].variants[0].kernels[0].parameterBytes = 192;
              p.executables[0].variants[0].kernels[0].offsets = Uints{0, 8, 16, 64};
            }),
            "'x': functions[0]: main: commands[0]: dispatch: [F-20] 1 constants, the export's layout has 16");
}

TEST(VerifyProgram, WritesOnlyToTransients) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[0].bindings[2] = f.commands[0].bindings[0]; }),
            "commands[0]: dispatch: bindings[2]: [F-21] writes to buffer 0, which is an Input buffer and read only");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[1].target = f.commands[1].source; }),
            "commands[1]: copy: target: [F-21] writes to buffer 3, which is a Constant buffer and read only");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[2].target = f.commands[0].bindings[1]; }),
            "commands[2]: fill: target: [F-21] writes to buffer 1, which is an Input buffer and read only");
}

TEST(VerifyProgram, WritesToInputsThatAreDonated) {
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.donated = {0};
              f.commands[0].bindings[2] = f.commands[0].bindings[0];
            }),
            "");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.donated = {0, 1};
              f.updated = {1};
              f.commands[2].target = f.commands[0].bindings[1];
            }),
            "");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.donated = {0};
              f.commands[2].target = f.commands[0].bindings[1];
            }),
            "commands[2]: fill: target: [F-21] writes to buffer 1, which is an Input buffer and read only");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.donated = {9}; }), "donated[0]: [F-30] donated is 9, there are 3 inputs");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.donated = {2}; }),
            "donated[0]: [F-30] input 2 is donated, and is no tensor");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.donated = {1, 0}; }),
            "donated[1]: [F-30] donated has 0 behind 1, ascending numbers are wanted");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.donated = {0, 0}; }),
            "donated[1]: [F-30] donated has 0 behind 0, ascending numbers are wanted");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.donated = {0};
              f.updated = {1};
            }),
            "updated[0]: [F-30] input 1 is updated, and not donated");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.donated = {0};
              f.updated = {0, 0};
            }),
            "updated[1]: [F-30] updated has 0 behind 0, ascending numbers are wanted");
}

TEST(VerifyProgram, ChecksResults) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].type.shape = {-9}; }),
            "results[0]: type: shape[0]: [F-15] extent -9");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].buffer = 4; }),
            "results[0]: [F-22] buffer is 4, there are 4 buffers");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].shape = {0, 0}; }),
            "results[0]: [F-22] shape has 2 registers, the type has rank 1");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].shape = {9}; }),
            "results[0]: shape[0]: [F-22] register is 9, there are 9 registers");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              f.results[0].type = {fb::ValueKind::Scalar, fb::ElementType::I32, {}};
              f.results[0].scalar = 9;
            }),
            "results[0]: [F-22] scalar is 9, there are 9 registers");
}

TEST(VerifyProgram, ChecksTheArena) {
  auto with = [](uint32_t arena, uint32_t offset) {
    return inMain([=](FunctionParts &f) {
      f.arena = arena;
      f.buffers[2].offset = offset;
    });
  };
  EXPECT_EQ(with(5, 3), "");
  EXPECT_EQ(with(9, 3), "[F-25] arena is 9, there are 9 registers");
  EXPECT_EQ(with(5, 9), "buffers[2]: [F-25] offset is 9, there are 9 registers");
  EXPECT_EQ(with(0xffffffff, 3), "buffers[2]: [F-25] an offset in the arena of a function that has none");
}

TEST(VerifyProgram, ChecksExpectations) {
  auto with = [](auto change) {
    return inMain([&](FunctionParts &f) {
      f.expectations.emplace_back();
      change(f.expectations[0]);
    });
  };
  EXPECT_EQ(with([](ExpectationParts &) {}), "") << "one that is right";
  EXPECT_EQ(with([](ExpectationParts &e) { e.kind = fb::ExpectationKind(9); }),
            "expectations[0]: [F-5] kind has the unknown value 9");
  EXPECT_EQ(with([](ExpectationParts &e) { e.found.buffer = 4; }),
            "expectations[0]: found: [F-22] buffer is 4, there are 4 buffers");
  EXPECT_EQ(with([](ExpectationParts &e) { e.wanted->buffer = 4; }),
            "expectations[0]: wanted: [F-22] buffer is 4, there are 4 buffers");
  EXPECT_EQ(with([](ExpectationParts &e) { e.wanted.reset(); }), "expectations[0]: [F-24] nothing to compare with");
  EXPECT_EQ(with([](ExpectationParts &e) { e.kind = fb::ExpectationKind::NonZero; }),
            "expectations[0]: [F-24] a wanted value that nothing is compared with");
  EXPECT_EQ(with([](ExpectationParts &e) { e.wanted->type.element = fb::ElementType::I32; }),
            "expectations[0]: [F-24] found and wanted differ in kind or element type");
  for (double tolerance : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_NE(with([&](ExpectationParts &e) { e.relative = tolerance; }).find("[F-24] a tolerance of "),
              std::string::npos);
}
