// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Through device functions: values and aggregates as parameters and results, results behind a pointer, calls by
// address.
#include "tests/proof/launder.h"

namespace tenon::proof {
namespace {

/// What a callee does with the value before it gives it back.
std::string worked(Body &callee, const std::string &x) {
  if (callee.depth > 2 || callee.random.chance(40))
    return x;
  const std::span<const ValueWay> ways = callee.random.chance(60)   ? arithmeticWays()
                                         : callee.random.chance(50) ? halfWays()
                                                                    : callWays();
  return ways[callee.random.below(uint32_t(ways.size()))].go(callee, x);
}

void define(Body &b, const std::string &head, const Body &callee) {
  b.module.text += concat(".func ", head, "\n", callee.text());
}

std::string identity(Body &b, const std::string &x) {
  std::string name = b.module.name("same"), d = b.r64();
  Body f(b.random, b.module, b.depth + 1);
  std::string v = f.r64();
  f.line("ld.param.b64 ", v, ", [a];");
  f.line("st.param.b64 [r], ", worked(f, v), ";");
  f.line("ret;");
  define(b, concat("(.param .b64 r) ", name, "(.param .b64 a)"), f);
  b.line("{ .param .b64 in; .param .b64 out; st.param.b64 [in], ", x, "; call.uni (out), ", name,
         ", (in); ld.param.b64 ", d, ", [out]; }");
  return d;
}

std::string byAddress(Body &b, const std::string &x) {
  std::string name = b.module.name("same"), prototype = b.module.name("prototype"), d = b.r64(), callee = b.r64();
  Body f(b.random, b.module, b.depth + 1);
  std::string v = f.r64();
  f.line("ld.param.b64 ", v, ", [a];");
  f.line("st.param.b64 [r], ", worked(f, v), ";");
  f.line("ret;");
  define(b, concat("(.param .b64 r) ", name, "(.param .b64 a)"), f);
  b.line("mov.u64 ", callee, ", ", name, ";");
  b.line(prototype, ": .callprototype (.param .b64 _) _ (.param .b64 _);");
  b.line("{ .param .b64 in; .param .b64 out; st.param.b64 [in], ", x, "; call (out), ", callee, ", (in), ", prototype,
         "; ld.param.b64 ", d, ", [out]; }");
  return d;
}

/// A structure goes in, another one comes out; pieces are moved between them.
std::string aggregate(Body &b, const std::string &x) {
  std::string name = b.module.name("pack"), d = b.r64();
  Body f(b.random, b.module, b.depth + 1);
  const bool inHalves = b.random.chance(50), outHalves = b.random.chance(50);
  std::string low = f.r32(), high = f.r32(), v = f.r64();
  if (inHalves) {
    f.line("ld.param.b32 ", low, ", [a+8];");
    f.line("ld.param.b32 ", high, ", [a+12];");
    f.line("mov.b64 ", v, ", {", low, ", ", high, "};");
  } else {
    f.line("ld.param.v2.b32 {", low, ", ", high, "}, [a+8];");
    f.line("mov.b64 ", v, ", {", low, ", ", high, "};");
  }
  v = worked(f, v);
  if (outHalves) {
    std::string l = f.r32(), h = f.r32();
    f.line("mov.b64 {", l, ", ", h, "}, ", v, ";");
    f.line("st.param.b32 [r+0], ", l, ";");
    f.line("st.param.b32 [r+4], ", h, ";");
  } else {
    f.line("st.param.b64 [r], ", v, ";");
  }
  f.line("ret;");
  define(b, concat("(.param .align 8 .b8 r[8]) ", name, "(.param .align 8 .b8 a[16])"), f);
  std::string l = b.r32(), h = b.r32();
  b.line("{ .param .align 8 .b8 in[16]; .param .align 8 .b8 out[8]; st.param.b64 [in], 0; st.param.b64 [in+8], ", x,
         "; call.uni (out), ", name, ", (in); ld.param.b32 ", l, ", [out]; ld.param.b32 ", h, ", [out+4]; }");
  b.line("mov.b64 ", d, ", {", l, ", ", h, "};");
  return d;
}

/// Two halves as parameters of their own; the callee takes the second one by running past the first, or by its name.
std::string twoHalves(Body &b, const std::string &x) {
  std::string name = b.module.name("join"), d = b.r64(), low = b.r32(), high = b.r32();
  Body f(b.random, b.module, b.depth + 1);
  std::string l = f.r32(), h = f.r32(), v = f.r64();
  f.line("ld.param.b32 ", l, ", [a];");
  f.line("ld.param.b32 ", h, ", [b];");
  f.line("mov.b64 ", v, ", {", l, ", ", h, "};");
  f.line("st.param.b64 [r], ", v, ";");
  f.line("ret;");
  define(b, concat("(.param .b64 r) ", name, "(.param .b32 a, .param .b32 b)"), f);
  b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
  b.line("{ .param .b32 i; .param .b32 j; .param .b64 out; st.param.b32 [i], ", low, "; st.param.b32 [j], ", high,
         "; call.uni (out), ", name, ", (i, j); ld.param.b64 ", d, ", [out]; }");
  return d;
}

/// The callee writes the value where a pointer says.
std::string behindPointer(Body &b, const std::string &x) {
  const char *space = b.random.one({"local", "shared"});
  std::string name = b.module.name("put"), where = b.variable(space, 16), a = b.r64(), g = b.r64(), d = b.r64();
  Body f(b.random, b.module, b.depth + 1);
  std::string v = f.r64(), to = f.r64();
  f.line("ld.param.b64 ", to, ", [a];");
  f.line("ld.param.b64 ", v, ", [b];");
  if (b.random.chance(50)) {
    f.line("st.b64 [", to, "], ", worked(f, v), ";");
  } else {
    std::string l = f.r32(), h = f.r32();
    f.line("mov.b64 {", l, ", ", h, "}, ", worked(f, v), ";");
    f.line("st.b32 [", to, "+4], ", h, ";");
    f.line("st.b32 [", to, "], ", l, ";");
  }
  f.line("ret;");
  define(b, concat(name, "(.param .b64 a, .param .b64 b)"), f);
  b.line("mov.u64 ", a, ", ", where, ";");
  b.line("cvta.", space, ".u64 ", g, ", ", a, ";");
  b.line("{ .param .b64 i; .param .b64 j; st.param.b64 [i], ", g, "; st.param.b64 [j], ", x, "; call.uni ", name,
         ", (i, j); }");
  b.line(b.random.chance(50) ? concat("ld.", space, ".b64 ", d, ", [", where, "];")
                             : concat("ld.b64 ", d, ", [", g, "];"));
  return d;
}

/// The callee reads the value behind a pointer, which is what a compiler without optimisation does with structures.
std::string fromPointer(Body &b, const std::string &x) {
  std::string name = b.module.name("get"), where = b.variable("local", 32), a = b.r64(), g = b.r64(), d = b.r64();
  const uint32_t offset = 8 * b.random.below(3);
  Body f(b.random, b.module, b.depth + 1);
  std::string v = f.r64(), from = f.r64();
  f.line("ld.param.b64 ", from, ", [a];");
  f.line("ld.b64 ", v, ", [", from, "+", offset, "];");
  f.line("st.param.b64 [r], ", worked(f, v), ";");
  f.line("ret;");
  define(b, concat("(.param .b64 r) ", name, "(.param .b64 a)"), f);
  b.line("mov.u64 ", a, ", ", where, ";");
  b.line("cvta.local.u64 ", g, ", ", a, ";");
  b.line("st.local.b64 [", where, "+", offset, "], ", x, ";");
  b.line("{ .param .b64 in; .param .b64 out; st.param.b64 [in], ", g, "; call.uni (out), ", name,
         ", (in); ld.param.b64 ", d, ", [out]; }");
  return d;
}

/// One function for each number, by a table of their addresses.
/// A member of a struct becomes another one, in a function that gets the struct by its address; offsets are written
/// there or computed, the value goes in one piece or in two.
std::string structMember(Body &b, const std::string &x) {
  std::string name = b.module.name("member"), variable = b.variable("local", 64, 8), window = b.r64(), a = b.r64(),
              low = b.r32(), high = b.r32(), number = b.r64(), d = b.r64();
  const uint32_t first = 8 * b.random.below(3), from = 8 * b.random.below(3), to = 24 + 8 * b.random.below(2);
  b.line("mov.u64 ", window, ", ", variable, ";");
  if (b.random.chance(50)) {
    std::string moved = b.r64();
    b.line("add.s64 ", moved, ", ", window, ", ", first, ";");
    b.line("cvta.local.u64 ", a, ", ", moved, ";");
  } else {
    std::string generic = b.r64();
    b.line("cvta.local.u64 ", generic, ", ", window, ";");
    b.line("add.s64 ", a, ", ", generic, ", ", first, ";");
  }
  b.line("mov.u64 ", number, ", 7;");
  for (uint32_t at = 0; at <= 32; at += 8)
    if (at != from && b.random.chance(70))
      b.line("st.u64 [", a, "+", at, "], ", number, ";");
  if (b.random.chance(60)) {
    b.line("st.u64 [", a, "+", from, "], ", x, ";");
  } else {
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("st.u32 [", a, "+", from, "], ", low, ";");
    b.line("st.u32 [", a, "+", from + 4, "], ", high, ";");
  }
  Body f(b.random, b.module, b.depth + 1);
  std::string p = f.r64(), q = f.r64(), v = f.r64();
  f.line("ld.param.b64 ", p, ", [a];");
  switch (f.random.below(3)) {
  case 0:
    f.line("ld.u64 ", v, ", [", p, "+", from, "];");
    break;
  case 1:
    f.line("add.s64 ", q, ", ", p, ", ", from, ";");
    f.line("ld.u64 ", v, ", [", q, "];");
    break;
  default: {
    std::string l = f.r32(), h = f.r32();
    f.line("ld.v2.u32 {", l, ", ", h, "}, [", p, "+", from, "];");
    f.line("mov.b64 ", v, ", {", l, ", ", h, "};");
  }
  }
  std::string w = worked(f, v), r = f.r64(), n = f.r32(), i = f.r64();
  if (f.random.chance(60)) {
    f.line("st.u64 [", p, "+", to, "], ", w, ";");
  } else {
    f.line("mov.u32 ", n, ", %nctaid.y;"); // 1
    f.line("mul.wide.u32 ", i, ", ", n, ", ", to, ";");
    f.line("add.s64 ", r, ", ", p, ", ", i, ";");
    f.line("st.u64 [", r, "], ", w, ";");
  }
  f.line("ret;");
  define(b, concat(name, "(.param .b64 a)"), f);
  b.line("{ .param .b64 in; st.param.b64 [in], ", a, "; call.uni ", name, ", (in); }");
  b.line(b.random.chance(50) ? "ld.u64 " : "ld.volatile.u64 ", d, ", [", a, "+", to, "];");
  return d;
}

std::string dispatched(Body &b, const std::string &field, uint32_t bits) {
  std::string list, prototype = b.module.name("prototype"), table = b.module.name("functions"), d = b.r32();
  for (uint32_t i = 0; i < 1u << bits; ++i) {
    std::string name = b.module.name("number");
    b.module.text += concat(".func (.param .b32 r) ", name, "()\n{\nst.param.b32 [r], ", i, ";\nret;\n}\n");
    list += concat(i ? ", " : "", name);
  }
  b.module.text += concat(".global .align 8 .u64 ", table, "[", 1u << bits, "] = {", list, "};\n");
  std::string base = b.r64(), offset = b.r64(), at = b.r64(), callee = b.r64();
  b.line("mov.u64 ", base, ", ", table, ";");
  b.line("mul.wide.u32 ", offset, ", ", field, ", 8;");
  b.line("add.s64 ", at, ", ", base, ", ", offset, ";");
  b.line("ld.global.u64 ", callee, ", [", at, "];");
  b.line(prototype, ": .callprototype (.param .b32 _) _ ();");
  b.line("{ .param .b32 out; call (out), ", callee, ", (), ", prototype, "; ld.param.b32 ", d, ", [out]; }");
  return d;
}

/// A function that returns early, once for each number that is above the field.
std::string returned(Body &b, const std::string &field, uint32_t bits) {
  std::string name = b.module.name("below"), d = b.r32();
  b.module.text += concat(".func (.param .b32 r) ", name,
                          "(.param .b32 a)\n{\n.reg .b32 %r<1>;\n.reg .pred %p<1>;\n"
                          "ld.param.b32 %r0, [a];\n");
  for (uint32_t i = 0; i < 1u << bits; ++i)
    b.module.text += concat("st.param.b32 [r], ", i, ";\nsetp.eq.u32 %p0, %r0, ", i, ";\n@%p0 ret;\n");
  b.module.text += "ret;\n}\n";
  b.line("{ .param .b32 in; .param .b32 out; st.param.b32 [in], ", field, "; call.uni (out), ", name,
         ", (in); ld.param.b32 ", d, ", [out]; }");
  return d;
}

/// A function of the field, as a value of its own or as a predicate that comes back as a number.
std::string called(Body &b, const std::string &field, uint32_t bits) {
  std::string name = b.module.name("field"), d = b.r32();
  Body f(b.random, b.module, b.depth + 1);
  std::string v = f.r32();
  f.line("ld.param.b32 ", v, ", [a];");
  const std::span<const Channel> channels = b.random.chance(50) ? plainChannels() : controlChannels();
  const Channel &channel = channels[b.random.below(uint32_t(channels.size()))];
  f.line("st.param.b32 [r], ", bits <= channel.mostBits && bits < 5 ? channel.go(f, v, bits) : v, ";");
  f.line("ret;");
  define(b, concat("(.param .b32 r) ", name, "(.param .b32 a)"), f);
  b.line("{ .param .b32 in; .param .b32 out; st.param.b32 [in], ", field, "; call.uni (out), ", name,
         ", (in); ld.param.b32 ", d, ", [out]; }");
  return d;
}

constexpr ValueWay kWays[] = {
    {"identity", Class::Calls, identity},
    {"by-address", Class::Calls, byAddress},
    {"aggregate", Class::Calls, aggregate},
    {"two-halves", Class::Calls, twoHalves},
    {"behind-pointer", Class::Calls, behindPointer},
    {"from-pointer", Class::Calls, fromPointer},
    {"struct-member", Class::Calls, structMember},
};
constexpr Channel kChannels[] = {
    {"dispatched", Class::Calls, 2, dispatched},
    {"called", Class::Calls, 12, called},
    {"returned-early", Class::Calls, 3, returned},
};

} // namespace

std::span<const ValueWay> callWays() {
  return kWays;
}
std::span<const Channel> callChannels() {
  return kChannels;
}

} // namespace tenon::proof
