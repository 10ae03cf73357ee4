// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// F-31: the sample with an edition, one thing of it broken, and what verification says.
#include "abi/format/verify/verify.h"

#include "tests/unit/abi/sample_files.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

static std::string verdict(const std::function<void(ProgramParts &)> &change) {
  ProgramParts parts;
  parts.editions = {EditionParts{.functions = parts.functions}};
  change(parts);
  return verdictOf(parts);
}

static std::string inEdition(const std::function<void(EditionParts &)> &change) {
  return within("'x': editions[0]: ", verdict([&](ProgramParts &p) { change(p.editions[0]); }));
}

static std::string inMain(const std::function<void(FunctionParts &)> &change) {
  return within("functions[0]: main: ", inEdition([&](EditionParts &e) { change(e.functions[0]); }));
}

TEST(VerifyEditions, TakesWhatDiffersInside) {
  EXPECT_EQ(verdict([](ProgramParts &) {}), "");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands.resize(1); }), "");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.donated = {0}; }), "");
  EXPECT_EQ(verdict([](ProgramParts &p) { p.editions.push_back(p.editions[0]); }), "");
}

TEST(VerifyEditions, AreForTargets) {
  EXPECT_EQ(inEdition([](EditionParts &e) { e.targets.clear(); }), "[F-31] it is for no target");
  EXPECT_EQ(inEdition([](EditionParts &e) { e.targets = {fb::Arch(0, fb::ArchSuffix::A)}; }),
            "targets[0]: [F-31] the architecture has no number");
  EXPECT_EQ(inEdition([](EditionParts &e) { e.targets = {fb::Arch(90, fb::ArchSuffix(9))}; }),
            "targets[0]: [F-5] suffix has the unknown value 9");
}

TEST(VerifyEditions, HaveTheProgramsFunctions) {
  EXPECT_EQ(inEdition([](EditionParts &e) { e.functions.clear(); }), "[F-31] it has 0 functions, the program 1");
  EXPECT_EQ(inEdition([](EditionParts &e) { e.functions[0].name = "other"; }),
            "functions[0]: other: [F-31] it is called 'other', the program's function 'main'");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results.clear(); }),
            "[F-31] it takes 3 inputs and returns 0 results, the program's function 3 and 1");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.inputs[1].shape = {4}; }),
            "inputs[1]: [F-31] the input is tensor<4xf32>, tensor<?xf32> is wanted");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.results[0].type.element = fb::ElementType::I32; }),
            "results[0]: [F-31] the result is tensor<?xi32>, tensor<?xf32> is wanted");
  EXPECT_EQ(inMain([](FunctionParts &f) { f.donated = f.updated = {0}; }),
            "[F-31] updated inputs are not those of the program's function");
}

TEST(VerifyEditions, HoldTheRulesOfFunctions) {
  EXPECT_EQ(inMain([](FunctionParts &f) { f.commands[0].executable = 7; }),
            "commands[0]: dispatch: [F-20] executable is 7, there are 1 executables");
}

TEST(VerifyEditions, HaveAnInitializerWhereTheProgramHas) {
  const auto blocks = [](ProgramParts &p) {
    p = sampleOfBlocks();
    p.editions = {EditionParts{.functions = p.functions}};
  };
  EXPECT_EQ(verdict(blocks), "");
  EXPECT_EQ(verdict([&](ProgramParts &p) {
              blocks(p);
              p.initializer = FunctionParts();
            }),
            "'x': editions[0]: [F-31] it has no initializer, the program has one");
  EXPECT_EQ(verdict([&](ProgramParts &p) {
              blocks(p);
              p.editions[0].initializer = FunctionParts();
            }),
            "'x': editions[0]: [F-31] it has an initializer, the program has none");
  EXPECT_EQ(verdict([&](ProgramParts &p) {
              blocks(p);
              p.initializer = p.editions[0].initializer = FunctionParts();
              p.editions[0].initializer->inputs = {TypeParts()};
            }),
            "'x': editions[0]: initializer: [F-28] it takes 1 inputs and returns 0 results, none are wanted");
}

TEST(VerifyEditions, NeedTheFormatOfTheirBlocks) {
  EXPECT_EQ(verdict([](ProgramParts &p) {
              FunctionParts block = p.functions[0];
              FunctionParts outer;
              outer.inputs = block.inputs;
              outer.results = block.results;
              outer.blocks = {block};
              p.editions[0].functions = {outer};
            }),
            "'x': [F-3] blocks or globals in format version 2, they are there from 3");
}
