// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

using Kind = Operand::Kind;

/// An operand in one line, by its parsed structure: v{..} vector, l(..) list, a[..] address, p<..> pair.
std::string print(const Operand &operand) {
  std::string out = operand.negated ? "!" : operand.minus ? "-" : "";
  auto group = [&](std::string_view open, std::string_view close) {
    out += open;
    for (size_t i = 0; i < operand.elements.size(); ++i)
      out += (i ? "," : "") + print(operand.elements[i]);
    out += close;
  };
  switch (operand.kind) {
  case Kind::Name:
    out += operand.name;
    break;
  case Kind::Integer:
    out += std::to_string(static_cast<int64_t>(operand.bits));
    break;
  case Kind::Float32:
    out += "f" + std::to_string(operand.bits);
    break;
  case Kind::Float64:
    out += "d" + std::to_string(operand.bits);
    break;
  case Kind::Vector:
    group("v{", "}");
    break;
  case Kind::List:
    group("l(", ")");
    break;
  case Kind::Address:
    group("a[", "]");
    break;
  case Kind::Pair:
    group("p<", ">");
    break;
  case Kind::Sink:
    out += "_";
    break;
  }
  if (operand.offset != 0)
    out += (operand.offset > 0 ? "+" : "") + std::to_string(operand.offset);
  return out;
}

/// The first instruction of a body: "@!p form op; op; op".
std::string print(std::string_view text) {
  Parsed parsed = parseBody(text);
  if (!parsed.errors.empty())
    return parsed.errors;
  const Instruction &instruction = parsed.module.functions[0].instructions[0];
  std::string out;
  if (!instruction.predicate.empty())
    out = (instruction.predicateNegated ? "@!" : "@") + std::string(instruction.predicate) + " ";
  out += instruction.form();
  for (const Operand &operand : instruction.operands)
    out += (&operand == &instruction.operands.front() ? " " : "; ") + print(operand);
  return out;
}

struct Case {
  std::string_view text, printed;
};

TEST(PtxInstruction, ReadsOperandsByTheirLook) {
  const Case cases[] = {
      {"ret;", "ret"},
      {"mad.lo.s32 %r1, %r3, -4, %tid.x;", "mad.lo.s32 %r1; %r3; -4; %tid.x"},
      {"@!%p1 bra.uni $L;", "@!%p1 bra.uni $L"},
      {"@ p bra L;", "@p bra L"},
      {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+16];",
       "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 v{%f1,_,%f3,%f4}; a[%rd1]+16"},
      {"st.shared.v2.b32 [sym+4-8], {1, 0f3F800000};", "st.shared.v2.b32 a[sym]-4; v{1,f1065353216}"},
      {"ld.u32 %r1, [%rd1+-8];", "ld.u32 %r1; a[%rd1]-8"},
      {"ld.u32 %r1, [16+4];", "ld.u32 %r1; a[20]"},
      {"ld.param.b32 %r1, [p + WARP_SZ * 2];", "ld.param.b32 %r1; a[p]+64"},
      {"ld.u32 %r1, [%rd1].unified;", "ld.u32.unified %r1; a[%rd1]"},
      {"mov.u64 %rd1, table+8;", "mov.u64 %rd1; table+8"},
      {"mov.b64 {%r1, %r2}, %rd1;", "mov.b64 v{%r1,%r2}; %rd1"},
      {"fma.rn.f32 %f1, -%f2, %f3, 0fBF800000;", "fma.rn.f32 %f1; -%f2; %f3; f3212836864"},
      {"setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;", "setp.lt.and.s32 p<%p1,%p2>; %r1; 5; !%p3"},
      {"shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;", "shfl.sync.down.b32 p<%r1,%p1>; %r2; 16; 31; -1"},
      {"elect.sync _|%p1, -1;", "elect.sync p<_,%p1>; -1"},
      {"vadd.u32.u32.u32 %r1, %r2.b0, -%r3.h1;", "vadd.u32.u32.u32 %r1; %r2.b0; -%r3.h1"},
      {"mbarrier.arrive.shared::cta.b64 _, [%r1];", "mbarrier.arrive.shared::cta.b64 _; a[%r1]"},
      {"mov.b32 %r1, -WARP_SZ;", "mov.b32 %r1; -32"},
      {"mov.b32 %r1, !0;", "mov.b32 %r1; 1"},
      {"mov.b32 %r1, (4 + 4) * 2;", "mov.b32 %r1; 16"},
      {"bar.sync 0, WARP_SZ*4;", "bar.sync 0; 128"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a,b,c,d}, {e,f,g,h}, {i,j}, {a,b,c,d};",
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 v{a,b,c,d}; v{e,f,g,h}; v{i,j}; v{a,b,c,d}"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
       "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes a[%r1]; a[%rd1,v{%r2,%r3}]; "
       "a[%r4]"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, %rd1, %rd2, p, 1, -1, 0, 1;",
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 v{a,b,c,d}; %rd1; %rd2; p; 1; -1; 0; 1"},
      {"tex.2d.v4.f32.s32 {a,b,c,d}, [t, s, {%r1, %r2}];", "tex.2d.v4.f32.s32 v{a,b,c,d}; a[t,s,v{%r1,%r2}]"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(print(c.text), c.printed) << c.text;
}

TEST(PtxInstruction, ReadsCalls) {
  const Case cases[] = {
      {"call.uni (retval0),\n vprintf,\n (\n param0,\n param1\n );", "call.uni l(retval0); vprintf; l(param0,param1)"},
      {"call f;", "call f"},
      {"call (_), %rd1, (a, 4, {b, c}), prototype_0;", "call l(_); %rd1; l(a,4,v{b,c}); prototype_0"},
      {"call f, ();", "call f; l()"},
      {"brx.idx %r1, $L_brx_0;", "brx.idx %r1; $L_brx_0"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(print(c.text), c.printed) << c.text;
}

TEST(PtxInstruction, KnowsItsPlace) {
  Parsed parsed = parseBody("\t@%p1 add.s32\t%r1, %r2,\n 5 ;");
  ASSERT_EQ(parsed.errors, "");
  const Instruction &instruction = parsed.module.functions[0].instructions[0];
  std::string_view text = parsed.module.source->text();
  EXPECT_EQ(instruction.line, 5u);
  EXPECT_EQ(instruction.column, 2u);
  EXPECT_EQ(text.substr(instruction.range.begin, instruction.range.end - instruction.range.begin),
            "@%p1 add.s32\t%r1, %r2,\n 5 ;");
}

TEST(PtxInstruction, KnowsItsPlaceWithoutAPredicate) {
  Parsed parsed = parseBody("label: ret.uni ;");
  ASSERT_EQ(parsed.errors, "");
  const Instruction &instruction = parsed.module.functions[0].instructions[0];
  std::string_view text = parsed.module.source->text();
  EXPECT_EQ(instruction.column, 8u);
  EXPECT_EQ(text.substr(instruction.range.begin, instruction.range.end - instruction.range.begin), "ret.uni ;");
}

TEST(PtxInstruction, GoesOnBehindAMissingSemicolon) {
  Parsed parsed = parseBody("add.s32 %r1, %r2, 5\nsub.s32 %r1, %r2, 6;");
  EXPECT_EQ(parsed.errors, "k.ptx:5:20: error: [P-4] found 'sub' on a later line, expected ';'\n"
                           "fix: end the statement with ';'\n");
  EXPECT_EQ(parsed.module.functions[0].instructions.size(), 3u);
}

TEST(PtxInstruction, LimitsItsDepth) {
  constexpr std::string_view kError = "error: [P-9] operands stand inside each other more than 64 deep\n";
  for (std::string_view open : {"{", "[", "a|"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i)
      deep += open;
    std::string errors = bodyErrors("mov.u32 %r1, " + deep + "1;");
    EXPECT_NE(errors.find(kError), std::string::npos) << open << ": " << errors.substr(0, 300);
  }
}

TEST(PtxInstruction, ReportsEveryErrorInABody) {
  const ErrorCase cases[] = {
      {R"(@5 bra L;)", "k.ptx:5:2: error: [P-4] found '5', expected a predicate register\n"},
      {R"(@!%p1;)", "k.ptx:5:6: error: [P-4] found ';', expected an instruction\n"},
      {R"(add.s32 %r1, %r2 %r3;)", "k.ptx:5:18: error: [P-4] found '%r3', expected ',' or ';'\n"},
      {R"(add.s32 %r1,, %r3;)", "k.ptx:5:13: error: [P-4] found ',', expected a name or a constant\n"},
      {R"(ld.u32 %r1, [%rd1 + %r2];)", "k.ptx:5:21: error: [P-8] found '%r2', expected a constant offset\n"
                                       "fix: add registers with an instruction before: add.s64 %rd3, %rd1, %rd2\n"},
      {R"(ld.u32 %r1, [%rd1 + 1.5];)", "k.ptx:5:21: error: [P-8] an offset is a whole number of bytes\n"},
      {R"(ld.u32 %r1, [%rd1;)", "k.ptx:5:18: error: [P-4] found ';', expected ',' or ']'\n"},
      {R"(ld.u32 %r1, [];)", "k.ptx:5:14: error: [P-4] found ']', expected a name or a constant\n"},
      {R"(mov.b64 %rd1, {%r1, %r2;)", "k.ptx:5:24: error: [P-4] found ';', expected ',' or '}'\n"},
      {R"(call (r, foo, (a);)", "k.ptx:5:16: error: [P-8] found 'a', expected a constant\n"
                                "fix: constant expressions hold numbers and WARP_SZ, no names\n"},
      {R"(@WARP_SZ ret;)", "k.ptx:5:2: error: [P-4] found 'WARP_SZ', expected a predicate register\n"
                           "fix: 'WARP_SZ' is the number 32, nothing can be called so\n"},
      {R"(@_ ret;)", "k.ptx:5:2: error: [P-4] found '_', expected a predicate register\n"
                     "fix: '_' stands for a result that nobody wants, nothing can be called so\n"},
      {R"(neg.s32 %r1, -_;)", "k.ptx:5:15: error: [P-4] found '_', expected the name of a register\n"
                              "fix: '_' stands for a result that nobody wants, it has no value\n"},
      {R"(ld.u32 %r1, [_];)", "k.ptx:5:14: error: [P-4] found '_', expected an address\n"
                              "fix: '_' stands for a result that nobody wants, it has no value\n"},
      {"_:\nret;", "k.ptx:5:1: error: [P-4] found '_', expected a label\n"
                   "fix: '_' stands for a result that nobody wants, nothing can be called so\n"},
      {"WARP_SZ: ret;", "k.ptx:5:1: error: [P-4] found 'WARP_SZ', expected a label\n"
                        "fix: 'WARP_SZ' is the number 32, nothing can be called so\n"},
      {".reg .b32 WARP_SZ;", "k.ptx:5:11: error: [P-4] found 'WARP_SZ', expected the name of a variable\n"
                             "fix: 'WARP_SZ' is the number 32, nothing can be called so\n"},
      {".reg .b32 a, _;", "k.ptx:5:14: error: [P-4] found '_', expected the name of a variable\n"
                          "fix: '_' stands for a result that nobody wants, nothing can be called so\n"},
      {R"(mov.u32 %r1, %tid .x;)", "k.ptx:5:19: error: [P-4] found '.x', expected ',' or ';'\n"
                                   "fix: join the parts of a name: %tid.x\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(bodyErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
