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

TEST(EmulatorVideo, RefusesWhatHasNoMeaning) {
  Session session;
  struct Refusal {
    const char *instruction, *text;
  };
  for (const Refusal &refusal : {Refusal{"vadd4.u32.u32.u32 %r, %r, %r;", "has 3 operands, it takes 4"},
                                 Refusal{"vadd4.u32.u32.b32 %r, %r, %r, %r;", "does not support 'vadd4.u32.u32.b32'"},
                                 Refusal{"vmin2.u32.u32.u32.add.sat %r, %r, %r, %r;", "modifier '.sat'"}}) {
    Loaded loaded =
        load(header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  " + refusal.instruction + "\n  ret;\n}\n");
    EXPECT_EQ(loaded.result, CUDA_ERROR_INVALID_PTX) << refusal.instruction;
    EXPECT_NE(loaded.log.find(refusal.text), std::string::npos) << refusal.instruction << "\n" << loaded.log;
  }
}

} // namespace
} // namespace tenon::emulator::test
