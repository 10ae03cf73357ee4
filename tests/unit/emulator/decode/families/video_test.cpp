// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SIMD video instructions, every operation with every combination of signs, against the formulas of the PTX ISA; an
// H200 gave the same answers.
#include "tests/unit/emulator/instruction_testing.h"

#include <algorithm>
#include <cstdlib>

namespace tenon::emulator::test {
namespace {

/// Part `k` of `parts` of a word, as the type's letter says.
int64_t part(uint64_t word, unsigned k, unsigned parts, char type) {
  int64_t values = 1ll << (32 / parts), value = static_cast<int64_t>(word >> (k * 32 / parts)) % values;
  return type == 's' && value >= values / 2 ? value - values : value;
}

int64_t compute(const std::string &op, int64_t a, int64_t b) {
  if (op == "vadd")
    return a + b;
  if (op == "vsub")
    return a - b;
  if (op == "vavrg")
    return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  if (op == "vabsdiff")
    return std::abs(a - b);
  return op == "vmin" ? std::min(a, b) : std::max(a, b);
}

/// types: of the result, a and b, a letter each. mode: "", ".sat" or ".add".
uint32_t expected(const std::string &op, unsigned parts, const std::string &types, const std::string &mode,
                  const std::array<uint64_t, 3> &in) {
  int64_t values = 1ll << (32 / parts), low = types[0] == 's' ? -values / 2 : 0;
  uint64_t sum = in[2], merged = 0;
  for (unsigned k = 0; k < parts; ++k) {
    int64_t value = compute(op, part(in[0], k, parts, types[1]), part(in[1], k, parts, types[2]));
    if (mode == ".sat")
      value = std::clamp(value, low, low + values - 1);
    sum += static_cast<uint64_t>(value);
    merged |= (static_cast<uint64_t>(value) & static_cast<uint64_t>(values - 1)) << (k * 32 / parts);
  }
  return static_cast<uint32_t>(mode == ".add" ? sum : merged);
}

TEST(EmulatorVideo, ComputesHalvesAndBytes) {
  Session session;
  const Inputs inputs = {{0, 0, 0},
                         {0xffffffff, 0, 1},
                         {0, 0xffffffff, 0xffffffff},
                         {0x80808080, 0x7f7f7f7f, 5},
                         {0x7f7f7f7f, 0x80808080, 0x80000000},
                         {0x80007fff, 0x7fff8000, 7},
                         {0xff01ff01, 0x00ff8001, 0x12345678},
                         {0x01020304, 0x04030201, 9},
                         {0xdeadbeef, 0x8badf00d, 0xfffffff0}};
  for (const char *op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (unsigned parts : {2u, 4u})
      for (const char *types : {"uuu", "uus", "usu", "uss", "suu", "sus", "ssu", "sss"})
        for (const char *mode : {"", ".sat", ".add"}) {
          std::string form = op + std::to_string(parts);
          for (char type : std::string(types))
            form += std::string(".") + type + "32";
          form += mode;
          std::vector<uint64_t> got = evaluate("  " + form + " %r, %w0, %w1, %w2;", inputs, false);
          for (size_t k = 0; k < inputs.size(); ++k)
            EXPECT_EQ(got[k], expected(op, parts, types, mode, inputs[k])) << form << " of input " << k;
        }
}

/// The parts that a selector takes, the highest first; `h32` of two.
std::array<unsigned, 4> digits(const std::string &selector, unsigned parts) {
  std::array<unsigned, 4> out = {};
  for (unsigned k = 0; k < parts; ++k)
    out[k] = static_cast<unsigned>(selector[parts - k] - '0');
  return out;
}

TEST(EmulatorVideo, SelectsAndMasksParts) {
  Session session;
  const Inputs inputs = {{0x04030201, 0x08070605, 0xd4d3d2d1},
                         {0xff80017f, 0x7f01ff80, 0x12345678},
                         {0x80007fff, 0x7fff8000, 7},
                         {0xdeadbeef, 0x8badf00d, 0xfffffff0}};
  struct Selectors {
    const char *d, *a, *b;
  };
  for (unsigned parts : {2u, 4u})
    for (const Selectors &selectors :
         parts == 2
             ? std::vector<Selectors>{{"h1", "h10", "h32"}, {"h0", "h23", "h01"}, {"h10", "h33", "h00"}}
             : std::vector<Selectors>{{"b3", "b3210", "b7654"}, {"b20", "b0246", "b7531"}, {"b3210", "b7700", "b4444"}})
      for (const char *mode : {"", ".add"}) {
        const std::string form = "vsub" + std::to_string(parts) + ".s32.u32.s32" + mode;
        const std::string body =
            "  " + form + " %r." + selectors.d + ", %w0." + selectors.a + ", %w1." + selectors.b + ", %w2;";
        std::vector<uint64_t> got = evaluate(body, inputs, false);
        for (size_t n = 0; n < inputs.size(); ++n) {
          const auto &in = inputs[n];
          const unsigned bits = 32 / parts;
          uint32_t sum = static_cast<uint32_t>(in[2]), merged = sum;
          for (unsigned k = 0; k < parts; ++k) {
            if (std::string(selectors.d).find(static_cast<char>('0' + k)) == std::string::npos)
              continue;
            unsigned fromA = digits(selectors.a, parts)[k], fromB = digits(selectors.b, parts)[k];
            auto value = static_cast<uint32_t>(part(in[fromA / parts], fromA % parts, parts, 'u') -
                                               part(in[fromB / parts], fromB % parts, parts, 's'));
            sum += value;
            uint32_t place = static_cast<uint32_t>((1ull << bits) - 1) << (k * bits);
            merged = (merged & ~place) | (value << (k * bits) & place);
          }
          EXPECT_EQ(got[n], *mode ? sum : merged) << body << " of input " << n;
        }
      }
}

TEST(EmulatorVideo, ComparesParts) {
  Session session;
  struct Relation {
    const char *name;
    bool (*holds)(int64_t, int64_t);
  };
  const Relation relations[] = {
      {"eq", [](int64_t a, int64_t b) { return a == b; }}, {"ne", [](int64_t a, int64_t b) { return a != b; }},
      {"lt", [](int64_t a, int64_t b) { return a < b; }},  {"le", [](int64_t a, int64_t b) { return a <= b; }},
      {"gt", [](int64_t a, int64_t b) { return a > b; }},  {"ge", [](int64_t a, int64_t b) { return a >= b; }}};
  const Inputs inputs = {
      {0x04030201, 0x04070105, 0xd4d3d2d1}, {0xff80017f, 0x7f80ff80, 3}, {0x80007fff, 0x7fff8000, 7}};
  for (const Relation &relation : relations)
    for (unsigned parts : {1u, 2u, 4u})
      for (const char *types : {"uu", "us", "su", "ss"})
        for (const char *mode : {"", ".add"}) {
          std::string form = parts == 1 ? "vset" : "vset" + std::to_string(parts);
          for (char type : std::string(types))
            form += std::string(".") + type + "32";
          form += std::string(".") + relation.name + mode;
          std::vector<uint64_t> got =
              evaluate("  " + form + " %r, %w0, %w1" + (parts == 1 && !*mode ? ";" : ", %w2;"), inputs, false);
          for (size_t n = 0; n < inputs.size(); ++n) {
            uint32_t sum = static_cast<uint32_t>(inputs[n][2]), merged = 0;
            for (unsigned k = 0; k < parts; ++k) {
              const bool holds =
                  relation.holds(part(inputs[n][0], k, parts, types[0]), part(inputs[n][1], k, parts, types[1]));
              sum += holds;
              merged |= uint32_t(holds) << (k * 32 / parts);
            }
            EXPECT_EQ(got[n], *mode ? sum : merged) << form << " of input " << n;
          }
        }
}

TEST(EmulatorVideo, RefusesWhatHasNoMeaning) {
  Session session;
  struct Refusal {
    const char *instruction, *text;
  };
  for (const Refusal &wrong :
       {Refusal{"vadd4.u32.u32.u32 %r, %r, %r;", "has 3 operands, it takes 4"},
        Refusal{"vadd4.u32.u32.u32 %r, %r.b7, %r, %r;", "'.b7' selects nothing of the sources of 'vadd4.u32.u32.u32'"},
        Refusal{"vadd2.u32.u32.u32 %r, %r.h41, %r, %r;", "'.h41' selects nothing"},
        Refusal{"vadd4.u32.u32.u32 %r.b01, %r, %r, %r;", "'.b01' is no mask of the destination"}}) {
    Loaded loaded =
        load(header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  " + wrong.instruction + "\n  ret;\n}\n");
    EXPECT_EQ(loaded.result, CUDA_ERROR_INVALID_PTX) << wrong.instruction;
    EXPECT_NE(loaded.log.find(wrong.text), std::string::npos) << wrong.instruction << "\n" << loaded.log;
  }
  for (const Refusal &other : {Refusal{"vadd4.u32.u32.b32 %r, %r, %r, %r;", "does not support 'vadd4.u32.u32.b32'"},
                               Refusal{"vmin2.u32.u32.u32.add.sat %r, %r, %r, %r;", "modifier '.sat'"}}) {
    const std::string why =
        refusal(header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  " + other.instruction + "\n  ret;\n}\n");
    EXPECT_NE(why.find(other.text), std::string::npos) << other.instruction << "\n" << why;
  }
}

} // namespace
} // namespace tenon::emulator::test
