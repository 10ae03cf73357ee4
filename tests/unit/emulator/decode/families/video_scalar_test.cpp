// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar video instructions with every combination of signs, parts and modifiers, against the formulas of the PTX ISA.
#include "tests/unit/emulator/instruction_testing.h"

#include <algorithm>
#include <cstdlib>

namespace tenon::emulator::test {
namespace {

const Inputs kVideoInputs = {{0, 0, 0},
                             {0xffffffff, 0xffffffff, 0xffffffff},
                             {0xffffffff, 1, 0x80000000},
                             {0x80000000, 0x7fffffff, 1},
                             {0x7fffffff, 0x80000000, 0x7fffffff},
                             {0x80000000, 0x80000000, 5},
                             {0x12345678, 0xfedcba98, 0x0f1e2d3c},
                             {0x00ff80a5, 0x7f8001ff, 0xdeadbeef},
                             {0x8000ffff, 33, 0xfffffff0},
                             {0xdeadbeef, 31, 0x00000100}};

/// The part of a word that a selector names, as its type says.
int64_t part(uint64_t word, const std::string &selector, char type) {
  const auto value = static_cast<uint32_t>(word);
  if (selector.empty())
    return type == 's' ? int64_t(static_cast<int32_t>(value)) : int64_t(value);
  const unsigned bits = selector[0] == 'b' ? 8 : 16;
  const auto piece =
      static_cast<int64_t>(value >> (static_cast<unsigned>(selector[1] - '0') * bits)) & ((1ll << bits) - 1);
  return type == 's' && piece >> (bits - 1) ? piece - (1ll << bits) : piece;
}

/// `op` with types of d, a and b, a letter each; the selectors of a and b; every second operation and part of the
/// destination.
using Compute = int64_t (*)(int64_t, int64_t);
void checkForm(const std::string &op, const std::string &mode, const std::string &types, const std::string &asel,
               const std::string &bsel, Compute compute) {
  auto named = [](const char *name, const std::string &selector) {
    return selector.empty() ? std::string(name) : std::string(name) + "." + selector;
  };
  std::string form = op;
  for (char type : types)
    form += std::string(".") + type + "32";
  const std::string sources = named("%w0", asel) + ", " + named("%w1", bsel);
  for (const std::string tail : {"", ".add", "b0", "b2", "b3", "h0"}) {
    const bool merges = !tail.empty() && tail[0] != '.';
    const std::string body = "  " + form + mode + (merges ? "" : tail) + " " + named("%r", merges ? tail : "") + ", " +
                             sources + (tail.empty() ? ";" : ", %w2;");
    std::vector<uint64_t> got = evaluate(body, kVideoInputs, false);
    for (size_t k = 0; k < kVideoInputs.size(); ++k) {
      const auto &in = kVideoInputs[k];
      const auto c = static_cast<uint32_t>(in[2]);
      const unsigned bits = !merges ? 32 : tail[0] == 'b' ? 8 : 16;
      const int64_t value = compute(part(in[0], asel, types[1]), part(in[1], bsel, types[2]));
      auto want = static_cast<uint32_t>(value);
      if (merges) {
        const unsigned shift = static_cast<unsigned>(tail[1] - '0') * bits;
        const uint32_t place = ((1u << bits) - 1) << shift;
        want = (want << shift & place) | (c & ~place);
      } else if (!tail.empty()) {
        want += c;
      }
      ASSERT_EQ(got[k], want) << body << " of input " << k;
    }
  }
}

TEST(EmulatorScalarVideo, Computes) {
  Session session;
  struct Operation {
    const char *name;
    Compute compute;
  };
  const Operation operations[] = {{"vadd", [](int64_t a, int64_t b) { return a + b; }},
                                  {"vsub", [](int64_t a, int64_t b) { return a - b; }},
                                  {"vabsdiff", [](int64_t a, int64_t b) { return std::abs(a - b); }},
                                  {"vmin", [](int64_t a, int64_t b) { return std::min(a, b); }},
                                  {"vmax", [](int64_t a, int64_t b) { return std::max(a, b); }}};
  for (const Operation &operation : operations)
    for (const char *types : {"uuu", "sss", "sus", "usu"})
      for (const char *selectors : {"", "b0h1", "h0b2"}) {
        const std::string both = selectors;
        checkForm(operation.name, "", types, both.substr(0, both.size() / 2), both.substr(both.size() / 2),
                  operation.compute);
      }
}

TEST(EmulatorScalarVideo, Shifts) {
  Session session;
  for (const char *types : {"uuu", "ssu", "suu", "usu"})
    for (const char *bsel : {"", "b0"}) {
      checkForm("vshl", ".clamp", types, "", bsel, [](int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) << std::min<int64_t>(b, 32));
      });
      checkForm("vshl", ".wrap", types, "h1", bsel,
                [](int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) << (b & 31)); });
      checkForm("vshr", ".clamp", types, "b3", bsel,
                [](int64_t a, int64_t b) { return a >> std::min<int64_t>(b, 32); });
      checkForm("vshr", ".wrap", types, "", bsel, [](int64_t a, int64_t b) { return a >> (b & 31); });
    }
}

TEST(EmulatorScalarVideo, MultipliesAndAdds) {
  Session session;
  struct Signs {
    const char *a, *b, *c, *po;
  };
  for (const char *types : {"uuu", "sss", "ssu", "sus"})
    for (const Signs &signs : {Signs{"", "", "", ""}, Signs{"-", "", "", ""}, Signs{"", "", "-", ""},
                               Signs{"-", "-", "", ""}, Signs{"", "", "", ".po"}})
      for (const std::string selectors : {"", "h1b2"}) {
        const std::string asel = selectors.substr(0, selectors.size() / 2),
                          bsel = selectors.substr(selectors.size() / 2);
        std::string body = "  vmad";
        for (char type : std::string(types))
          body += std::string(".") + type + "32";
        body += std::string(signs.po) + " %r, " + signs.a + "%w0" + (asel.empty() ? "" : "." + asel) + ", " + signs.b +
                "%w1" + (bsel.empty() ? "" : "." + bsel) + ", " + signs.c + "%w2;";
        std::vector<uint64_t> got = evaluate(body, kVideoInputs, false);
        for (size_t k = 0; k < kVideoInputs.size(); ++k) {
          const auto &in = kVideoInputs[k];
          __int128 value = static_cast<__int128>(part(in[0], asel, types[1])) * part(in[1], bsel, types[2]);
          if (*signs.a != *signs.b)
            value = -value;
          const auto c = static_cast<int32_t>(in[2]);
          value += *signs.c ? -static_cast<__int128>(c) : c;
          value += *signs.po ? 1 : 0;
          ASSERT_EQ(got[k], static_cast<uint32_t>(value)) << body << " of input " << k;
        }
      }
}

TEST(EmulatorScalarVideo, RefusesWhatHasNoMeaning) {
  Session session;
  struct Refusal {
    const char *instruction, *text;
  };
  for (const Refusal &wrong :
       {Refusal{"vadd.u32.u32.u32 %r.b0, %r, %r;", "writes a part of its destination: it needs a third source"},
        Refusal{"vadd.u32.u32.u32.add %r, %r, %r;", "has a secondary operation and needs a third source"},
        Refusal{"vadd.u32.u32.u32.add %r.h0, %r, %r, %r;", "and no secondary operation"},
        Refusal{"vadd.u32.u32.u32 %r, %r.b4, %r;", "'.b4' is no part of a register"},
        Refusal{"vadd.u32.u32.u32 %r, %r.h10, %r;", "'.h10' is no part of a register"},
        Refusal{"vshl.u32.u32.u32 %r, %r, %r;", "needs .clamp or .wrap"},
        Refusal{"vmad.u32.u32.u32.po %r, -%r, %r, %r;", "adds one: its operands have no minus"},
        Refusal{"vmad.u32.u32.u32 %r, -%r, %r, -%r;", "negates the product or the addend, not both"},
        Refusal{"vmad.u32.u32.u32 %r, %r, %r;", "has 3 operands, it takes 4"}}) {
    Loaded loaded =
        load(header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  " + wrong.instruction + "\n  ret;\n}\n");
    EXPECT_EQ(loaded.result, CUDA_ERROR_INVALID_PTX) << wrong.instruction;
    EXPECT_NE(loaded.log.find(wrong.text), std::string::npos) << wrong.instruction << "\n" << loaded.log;
  }
  // Where an H200 does not do what the ISA says.
  const std::string disputed = ": devices answer otherwise than the PTX ISA says (kernel 'k')";
  for (const Refusal &other :
       {Refusal{"vadd.u16.u32.u32 %r, %r, %r;", "does not support 'vadd.u16.u32.u32'"},
        Refusal{"vadd.u32.u32.u32.sat %r, %r, %r;", "does not support 'vadd.u32.u32.u32.sat': devices"},
        Refusal{"vmad.s32.s32.s32.sat %r, %r, %r, %r;", disputed.c_str()},
        Refusal{"vmad.s32.s32.s32.shr7 %r, %r, %r, %r;", disputed.c_str()},
        Refusal{"vadd.u32.u32.u32 %r, %r, %r.b3;", disputed.c_str()},
        Refusal{"vadd.u32.u32.u32.min %r, %r, %r, %r;", disputed.c_str()},
        Refusal{"vset.u32.u32.eq.max %r, %r, %r, %r;", disputed.c_str()},
        Refusal{"vset.u32.u32.eq %r.h1, %r, %r, %r;", disputed.c_str()}}) {
    const std::string why =
        refusal(header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  " + other.instruction + "\n  ret;\n}\n");
    EXPECT_NE(why.find(other.text), std::string::npos) << other.instruction << "\n" << why;
  }
}

} // namespace
} // namespace tenon::emulator::test
