// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

#include <bit>

namespace tenon::ptx {
namespace {
using namespace test;

std::vector<uint64_t> values(const Variable &variable) {
  std::vector<uint64_t> bits;
  for (const Variable::Initializer &initializer : variable.initializers)
    bits.push_back(initializer.value.bits);
  return bits;
}

Variable variable(std::string_view text) {
  static Parsed parsed; // keeps the text that the answer points into
  parsed = parseModule(text);
  EXPECT_EQ(parsed.errors, "") << text;
  return parsed.module.variables.empty() ? Variable() : parsed.module.variables[0];
}

TEST(PtxInitializer, ReadsScalars) {
  EXPECT_EQ(values(variable(".global .u32 x = 1 << 4;")), (std::vector<uint64_t>{16}));
  EXPECT_EQ(variable(".global .f32 x = 0f40200000;").initializers[0].value.kind, Operand::Kind::Float32);
  EXPECT_EQ(std::bit_cast<double>(variable(".global .f64 x = -2.5;").initializers[0].value.bits), -2.5);
  EXPECT_FALSE(variable(".global .u32 x;").hasInitializer);
  Parsed two = parseModule(".global .u32 a = 1, b, c = WARP_SZ;");
  EXPECT_EQ(two.errors, "");
  ASSERT_EQ(two.module.variables.size(), 3u);
  EXPECT_EQ(values(two.module.variables[2]), (std::vector<uint64_t>{32}));
}

TEST(PtxInitializer, FlattensArraysAndPadsShortGroups) {
  EXPECT_EQ(values(variable(".const .b8 x[4] = {1, -1, 0x2};")), (std::vector<uint64_t>{1, UINT64_MAX, 2}));
  EXPECT_EQ(values(variable(".global .u32 x[3][2] = {{1}, {}, {3, 4}};")), (std::vector<uint64_t>{1, 0, 0, 0, 3, 4}));
  EXPECT_EQ(values(variable(".global .u32 x[2][2][2] = {{{1}, {2}}, {{3}}};")), (std::vector<uint64_t>{1, 0, 2, 0, 3}));
  EXPECT_EQ(values(variable(".global .v4 .u32 x = {1, 2, 3, 4};")), (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(values(variable(".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};")), (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(variable(".global .u32 x[2] = {};").hasInitializer);
}

TEST(PtxInitializer, InfersAnOpenDimension) {
  Variable x = variable(".global .u32 x[][2] = {{1, 2}, {3}};");
  EXPECT_EQ(x.dimensions, (std::vector<std::optional<uint64_t>>{2, 2}));
  EXPECT_EQ(x.bytes(), 16u);
  EXPECT_EQ(variable(".global .b8 x[] = {1, 2, 3};").bytes(), 3u);
}

TEST(PtxInitializer, ReadsSymbols) {
  Variable x = variable(".global .u64 x[4] = {f, y+4*2, generic(y)+8, generic(y-1)};");
  ASSERT_EQ(x.initializers.size(), 4u);
  EXPECT_EQ(x.initializers[0].value.kind, Operand::Kind::Name);
  EXPECT_EQ(x.initializers[0].value.name, "f");
  EXPECT_FALSE(x.initializers[0].isGeneric);
  EXPECT_EQ(x.initializers[1].value.offset, 8);
  EXPECT_TRUE(x.initializers[2].isGeneric);
  EXPECT_EQ(x.initializers[2].value.name, "y");
  EXPECT_EQ(x.initializers[2].value.offset, 8);
  EXPECT_EQ(x.initializers[3].value.offset, -1);
}

TEST(PtxInitializer, ReadsBytesOfSymbols) {
  Variable x = variable(".global .u8 x[4] = {3, 0xFF(y), 0xFF00(generic(y)+8), 0xFF00000000000000(y+4)};");
  ASSERT_EQ(x.initializers.size(), 4u);
  EXPECT_EQ(x.initializers[0].mask, 0u);
  EXPECT_EQ(x.initializers[1].mask, 0xffu);
  EXPECT_EQ(x.initializers[2].mask, 0xff00u);
  EXPECT_TRUE(x.initializers[2].isGeneric);
  EXPECT_EQ(x.initializers[2].value.offset, 8);
  EXPECT_EQ(x.initializers[3].mask, 0xff00000000000000u);
}

TEST(PtxInitializer, KeepsTheFieldsOfSamplers) {
  Variable x = variable(".global .samplerref x = {addr_mode_0 = clamp_to_edge, force_unnormalized_coords = 1};");
  ASSERT_EQ(x.initializers.size(), 2u);
  EXPECT_EQ(x.initializers[0].value.name, "addr_mode_0");
  EXPECT_EQ(x.initializers[0].value.elements[0].name, "clamp_to_edge");
  EXPECT_EQ(x.initializers[1].value.elements[0].bits, 1u);
}

TEST(PtxInitializer, ReportsEveryErrorOfAModule) {
  const ErrorCase cases[] = {
      {R"(.extern .global .b8 x[4] = {1};)",
       "k.ptx:4:26: error: [P-10] found an initialiser of 'x', which is external\n"
       "fix: remove it; store the value in a kernel\n"},
      {R"(.global .b8 x[4] = 1;)", "k.ptx:4:20: error: [P-10] found '1', expected '{' around the values of 'x'\n"},
      {R"(.global .b8 x[2] = {1, 2, 3};)", "k.ptx:4:27: error: [P-10] found one value too many for 'x'\n"
                                           "fix: there is room for 2 in these braces\n"},
      {R"(.global .b8 x[2][2] = {{1,2},{3,4},{5,6}};)", "k.ptx:4:36: error: [P-10] found one value too many for 'x'\n"
                                                        "fix: there is room for 2 in these braces\n"},
      {R"(.global .b8 x[2] = {{1}, 2};)", "k.ptx:4:21: error: [P-4] found '{', expected a name or a constant\n"},
      {R"(.global .b8 x[2][99999999] = {{1}, {2}};)",
       "k.ptx:4:36: error: [P-10] groups of values of 'x' lack more than 2^20 of them\n"
       "fix: write the values, or fill the array in a kernel\n"},
      {R"(.global .u64 x[2] = {3(y), 1};)",
       "k.ptx:4:22: error: [P-10] found '3', expected a mask of one byte, like 0xff00\n"},
      {R"(.global .u64 x[2] = {generic(5), 1};)",
       "k.ptx:4:30: error: [P-4] found '5', expected the name of a variable\n"},
      {R"(.global .u64 x[2] = {generic(y, 1};)", "k.ptx:4:31: error: [P-4] found ',', expected ')'\n"},
      {R"(.global .u64 x[2] = {1 2};)", "k.ptx:4:24: error: [P-4] found '2', expected ',' or '}'\n"},
      {R"(.global .samplerref s = {5};)", "k.ptx:4:26: error: [P-4] found '5', expected the name of a field\n"},
      {R"(.global .samplerref s = {a};)", "k.ptx:4:27: error: [P-4] found '}', expected '='\n"},
      {R"(.global .u64 x[2] = {y = 3};)", "k.ptx:4:24: error: [P-4] found '=', expected ',' or '}'\n"},
      {R"(.global .u64 x[2] = {0xff(5)};)",
       "k.ptx:4:27: error: [P-4] found '5', expected the name of a variable or a function\n"},
      {R"(.global .u64 x = ;)", "k.ptx:4:18: error: [P-4] found ';', expected a name or a constant\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(moduleErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
