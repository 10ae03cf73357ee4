// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every rule of blocks, globals and initializers: the sample of blocks with one thing broken, and what verification
// says.
#include "abi/format/verify/verify.h"

#include "tests/unit/abi/sample_files.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

static constexpr uint32_t kNone = 0xffffffff;
static const TypeParts kI32 = {fb::ValueKind::Scalar, fb::ElementType::I32, {}};

static std::string verdict(const std::function<void(ProgramParts &)> &change) {
  ProgramParts parts = sampleOfBlocks();
  change(parts);
  return verdictOf(parts);
}

static std::string inMain(const std::function<void(FunctionParts &)> &change) {
  return within("'x': functions[0]: main: ", verdict([&](ProgramParts &p) { change(p.functions[0]); }));
}

static std::string inBlock(size_t block, const std::function<void(FunctionParts &)> &change) {
  return within("blocks[" + std::to_string(block) + "]: ", inMain([&](FunctionParts &f) { change(f.blocks[block]); }));
}

TEST(VerifyBlocks, AcceptsTheSample) {
  EXPECT_EQ(verdict([](ProgramParts &) {}), "");
}

TEST(VerifyBlocks, NeedAReaderThatKnowsThem) {
  const std::string wanted = "'x': [F-3] blocks or globals in format version 2, they are there from 3";
  EXPECT_EQ(verdict([](ProgramParts &p) { p.version = 2; }), wanted);
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p = ProgramParts();
              p.globals = {GlobalParts()};
            }),
            wanted);
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p = ProgramParts();
              p.initializer = FunctionParts();
            }),
            wanted);
  EXPECT_TRUE(verdict([](ProgramParts &p) { p.version = 4; }).starts_with("'x': [F-3] "));
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p = ProgramParts();
              p.version = 3;
            }),
            "")
      << "none is needed";
}

TEST(VerifyBlocks, HoldEverythingThatAFunctionDoes) {
  const std::string wanted = "[F-26] a function with blocks has commands, or what belongs to them, beside its blocks";
  EXPECT_EQ(inMain([](FunctionParts &f) { f.registers = {{fb::RegisterOpcode::Const, 0, 0, 0, 0}}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.buffers = {BufferParts()}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.checks = {0}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands = {CommandParts()}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.expectations = {ExpectationParts()}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.arena = 0; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.loads = {0}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.stores = {{0, 0}}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.targets = {TargetParts()}; }), wanted);
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].type.shape = {-2}; }),
            "results[0]: type: shape[0]: [F-15] extent -2");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[0].shape = {-2}; }), "inputs[0]: shape[0]: [F-15] extent -2");
}

TEST(VerifyBlocks, AreNotNested) {
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.blocks = {FunctionParts()}; }), "[F-26] a block has blocks");
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p.functions = {p.functions[0].blocks[2]};
              p.functions[0].targets = {TargetParts()};
            }),
            "'x': functions[0]: main: [F-26] loads, stores or targets, which only a block has");
}

TEST(VerifyBlocks, HoldTheRulesOfFunctions) {
  EXPECT_EQ(inBlock(0, [](FunctionParts &f) { f.name = ""; }), "[F-4] name is empty");
  EXPECT_EQ(inBlock(2, [](FunctionParts &f) { f.registers[2] = {fb::RegisterOpcode::Mul, 2, 1, 0, 0}; }),
            "registers[2]: [F-16] Mul reads register 2, only those before 2 have a value");
  EXPECT_EQ(inBlock(2, [](FunctionParts &f) { f.commands[0].target = {0, kNone, kNone}; }),
            "commands[0]: copy: target: [F-21] writes to buffer 0, which is an Input buffer and read only");
}

/// The last block writes over what it is handed.
static void overwrite(FunctionParts &f) {
  f.blocks[2].donated = {0};
  f.blocks[2].commands[0].source = {1, kNone, kNone};
  f.blocks[2].commands[0].target = {0, kNone, kNone};
  f.donated = {0};
}

TEST(VerifyBlocks, AreDonatedWhatNobodyElseHolds) {
  EXPECT_EQ(inMain(overwrite), "");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              overwrite(f);
              f.donated = {};
            }),
            "[F-30] a block writes input 0 of the function, which is not donated");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              overwrite(f);
              f.blocks[1].buffers[0] = {fb::BufferSource::Constant, 0};
            }),
            "blocks[1]: targets[1]: [F-30] block 2 writes parameter 0, which is a constant");
  EXPECT_EQ(inMain([](FunctionParts &f) {
              overwrite(f);
              f.blocks[2].inputs.push_back(f.blocks[2].inputs[0]);
              f.blocks[1].targets[1].arguments = {0, 0};
            }),
            "blocks[1]: targets[1]: [F-30] block 2 writes parameter 0, and has the same memory as 1");
  EXPECT_EQ(inBlock(2, [](FunctionParts &f) { f.updated = {0}; }),
            "updated[0]: [F-30] input 0 is updated, and not donated");
  EXPECT_EQ(inBlock(2,
                    [](FunctionParts &f) {
                      f.donated = {0};
                      f.updated = {0};
                    }),
            "[F-30] a block updates inputs, which its function does");
}

TEST(VerifyBlocks, AreNotDonatedGlobals) {
  EXPECT_EQ(inMain([](FunctionParts &f) {
              overwrite(f);
              f.blocks[2].inputs = {{fb::ValueKind::Tensor, fb::ElementType::F32, {4}}};
              f.blocks[2].results[0].type = f.blocks[2].inputs[0];
              f.results[0].type = f.blocks[2].inputs[0];
              f.blocks[2].loads = {0};
              f.blocks[1].targets[1].arguments = {};
            }),
            "[F-30] block 2 writes input 0, which is a global");
}

TEST(VerifyBlocks, ReadElementsBack) {
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.results[2].element = 4; }),
            "results[2]: [F-22] element is 4, there are 4 registers");
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.results[2].buffer = 1; }),
            "results[2]: [F-22] buffer is 1, there are 1 buffers");
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.results[0].element = 0; }),
            "results[0]: [F-22] an element is read back, which only a scalar of a block is");
  EXPECT_EQ(verdict([](ProgramParts &p) {
              p.functions = {p.functions[0].blocks[2]};
              p.functions[0].results = {{kI32, 0, {}, 0, 0}};
            }),
            "'x': functions[0]: main: results[0]: [F-22] an element is read back, which only a scalar of a block is");
  EXPECT_EQ(inBlock(2,
                    [](FunctionParts &f) {
                      f.expectations.push_back({fb::ExpectationKind::NonZero, {kI32, 0, {}, 0, 0}, std::nullopt});
                    }),
            "expectations[0]: [F-24] compares an element that is read back, which is for a block behind this one to "
            "do");
}

TEST(VerifyBlocks, TheFirstTakesWhatTheFunctionTakes) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs.pop_back(); }),
            "blocks[0]: [F-26] 2 parameters, the function has 1 inputs");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[1].element = fb::ElementType::I64; }),
            "blocks[0]: [F-26] parameter 1 is i32, i64 is wanted");
}

TEST(VerifyBlocks, TheLastReturnsWhatTheFunctionReturns) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results.push_back({kI32, 0, {}}); }),
            "blocks[2]: [F-26] it returns 1 values, the function 2");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].type.shape = {4}; }),
            "blocks[2]: results[0]: [F-26] what is returned is tensor<?xf32>, tensor<4xf32> is wanted");
}

TEST(VerifyBlocks, Loads) {
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.loads = {2}; }), "loads[0]: [F-27] global is 2, there are 2 globals");
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.loads = {0}; }),
            "loads[0]: [F-27] the input that it becomes is i32, tensor<4xf32> is wanted");
  EXPECT_EQ(inBlock(2, [](FunctionParts &f) { f.loads = {1, 1}; }), "[F-27] 2 loads, there are 1 inputs");
}

TEST(VerifyBlocks, Stores) {
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.stores = {{2, 1}}; }),
            "stores[0]: [F-27] global is 2, there are 2 globals");
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.stores = {{1, 3}}; }),
            "stores[0]: [F-27] result is 3, there are 3 results");
  EXPECT_EQ(inBlock(1, [](FunctionParts &f) { f.stores = {{0, 0}}; }),
            "stores[0]: [F-27] the value is tensor<?xf32>, tensor<4xf32> is wanted");
}

TEST(VerifyBlocks, Targets) {
  auto target = [](size_t index, const std::function<void(TargetParts &)> &change) {
    return inBlock(1, [&](FunctionParts &f) { change(f.targets[index]); });
  };
  EXPECT_EQ(target(0, [](TargetParts &t) { t.condition = 4; }),
            "targets[0]: [F-26] condition is 4, there are 4 registers");
  EXPECT_EQ(target(0, [](TargetParts &t) { t.condition = kNone; }),
            "targets[0]: [F-26] a target before the last has no condition");
  EXPECT_EQ(target(1, [](TargetParts &t) { t.condition = 0; }), "targets[1]: [F-26] the last target has a condition");
  EXPECT_EQ(target(1, [](TargetParts &t) { t.block = 3; }), "targets[1]: [F-26] block is 3, there are 3 blocks");
  EXPECT_EQ(target(0, [](TargetParts &t) { t.arguments = {0}; }),
            "targets[0]: [F-26] 1 arguments, block 1 has 2 parameters");
  EXPECT_EQ(target(0, [](TargetParts &t) { t.arguments = {0, 1, 2}; }),
            "targets[0]: [F-26] 3 arguments, block 1 has 2 parameters")
      << "what is loaded is no parameter";
  EXPECT_EQ(target(0, [](TargetParts &t) { t.arguments = {0, 3}; }),
            "targets[0]: arguments[1]: [F-26] result is 3, there are 3 results");
  EXPECT_EQ(target(0, [](TargetParts &t) { t.arguments = {0, 2}; }),
            "targets[0]: arguments[1]: [F-26] the argument is f32, i32 is wanted");
}

TEST(VerifyBlocks, Globals) {
  auto global = [](size_t index, const std::function<void(GlobalParts &)> &change) {
    return verdict([&](ProgramParts &p) { change(p.globals[index]); });
  };
  EXPECT_EQ(global(0, [](GlobalParts &g) { g.name = "count"; }), "'x': globals[1]: [F-4] name 'count' is there twice");
  EXPECT_EQ(global(0, [](GlobalParts &g) { g.type.shape = {-2}; }),
            "'x': globals[0]: type: shape[0]: [F-15] extent -2");
  EXPECT_EQ(global(1, [](GlobalParts &g) { g.constant = 0; }),
            "'x': globals[1]: [F-28] a scalar with the bytes of a constant");
  EXPECT_EQ(global(0, [](GlobalParts &g) { g.constant = 1; }),
            "'x': globals[0]: [F-28] constant is 1, there are 1 constants");
  EXPECT_EQ(global(0, [](GlobalParts &g) { g.type.shape = {5}; }),
            "'x': globals[0]: [F-28] the initial value has 16 bytes, tensor<5xf32> takes 20");
  EXPECT_EQ(global(0, [](GlobalParts &g) { g.type.shape = {-1}; }),
            "'x': globals[0]: [F-28] an initial value of tensor<?xf32>, whose size is not known");
  EXPECT_EQ(global(0, [](GlobalParts &g) { g.constant = kNone; }), "");
}

TEST(VerifyBlocks, AnInitializerTakesAndReturnsNothing) {
  auto with = [](const std::function<void(FunctionParts &)> &change) {
    return verdict([&](ProgramParts &p) {
      FunctionParts block;
      block.registers = {{fb::RegisterOpcode::Const, 0, 0, 0, 7}};
      block.results = {{kI32, 0, {}, 0}};
      block.stores = {{1, 0}};
      p.initializer = FunctionParts();
      p.initializer->name = "begin";
      p.initializer->blocks = {block};
      change(*p.initializer);
    });
  };
  EXPECT_EQ(with([](FunctionParts &) {}), "");
  EXPECT_EQ(with([](FunctionParts &f) { f.inputs = {kI32}; }),
            "'x': initializer: [F-28] it takes 1 inputs and returns 0 results, none are wanted");
  EXPECT_EQ(with([](FunctionParts &f) { f.results = {{kI32, 0, {}}}; }),
            "'x': initializer: [F-28] it takes 0 inputs and returns 1 results, none are wanted");
  EXPECT_EQ(with([](FunctionParts &f) { f.blocks[0].stores = {{1, 1}}; }),
            "'x': initializer: blocks[0]: stores[0]: [F-27] result is 1, there are 1 results");
}
