// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole values through memory: stored in one shape and loaded in another, beside each other, by generic addresses, and
// through the kernel's parameters.
#include "tests/proof/launder.h"

namespace tenon::proof {
namespace {

struct Slot {
  std::string space;   // of instructions: "shared", "local", or nothing (generic)
  std::string address; // what stands between the brackets
};

/// Sixteen bytes of private memory, named in one of the ways there are.
Slot slot(Body &b, uint32_t bytes = 16) {
  const char *space = b.random.one({"shared", "local"});
  std::string name = b.variable(space, bytes);
  switch (b.random.below(5)) {
  case 0: {
    std::string a = b.r32();
    b.line("mov.u32 ", a, ", ", name, ";");
    return {concat(".", space), a};
  }
  case 1: {
    std::string a = b.r64(), g = b.r64();
    b.line("mov.u64 ", a, ", ", name, ";");
    b.line("cvta.", space, ".u64 ", g, ", ", a, ";");
    return {"", g};
  }
  case 2: {
    std::string a = b.r64(), g = b.r64(), back = b.r64();
    b.line("mov.u64 ", a, ", ", name, ";");
    b.line("cvta.", space, ".u64 ", g, ", ", a, ";");
    b.line("cvta.to.", space, ".u64 ", back, ", ", g, ";");
    return {concat(".", space), back};
  }
  default:
    return {concat(".", space), name};
  }
}

std::string place(const Slot &slot, uint32_t offset) {
  return concat("[", slot.address, "+", offset, "]");
}

std::string same(Body &b, const std::string &x) {
  Slot s = slot(b);
  std::string d = b.r64();
  b.line("st", s.space, ".b64 ", place(s, 8), ", ", x, ";");
  b.line("ld", s.space, ".b64 ", d, ", ", place(s, 8), ";");
  return d;
}

/// Stored in pieces of one width, loaded in pieces of another.
std::string pieces(Body &b, const std::string &x) {
  Slot s = slot(b);
  std::string low = b.r32(), high = b.r32();
  switch (b.random.below(4)) {
  case 0:
    b.line("st", s.space, ".b64 ", place(s, 0), ", ", x, ";");
    break;
  case 1:
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("st", s.space, ".v2.b32 ", place(s, 0), ", {", low, ", ", high, "};");
    break;
  case 2:
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("st", s.space, ".b32 ", place(s, 4), ", ", high, ";");
    b.line("st", s.space, ".b32 ", place(s, 0), ", ", low, ";");
    break;
  default:
    for (uint32_t i = 0; i < 8; ++i) {
      std::string t = b.r64();
      b.line("shr.u64 ", t, ", ", x, ", ", 8 * i, ";");
      b.line("st", s.space, ".u8 ", place(s, i), ", ", t, ";");
    }
  }
  std::string d = b.r64();
  switch (b.random.below(4)) {
  case 0:
    b.line("ld", s.space, ".u64 ", d, ", ", place(s, 0), ";");
    break;
  case 1: {
    std::string l = b.r32(), h = b.r32();
    b.line("ld", s.space, ".v2.u32 {", l, ", ", h, "}, ", place(s, 0), ";");
    b.line("mov.b64 ", d, ", {", l, ", ", h, "};");
    break;
  }
  case 2: {
    std::string parts[4] = {b.r16(), b.r16(), b.r16(), b.r16()};
    b.line("ld", s.space, ".v4.u16 {", parts[0], ", ", parts[1], ", ", parts[2], ", ", parts[3], "}, ", place(s, 0),
           ";");
    b.line("mov.b64 ", d, ", {", parts[0], ", ", parts[1], ", ", parts[2], ", ", parts[3], "};");
    break;
  }
  default:
    b.line("mov.u64 ", d, ", 0;");
    for (uint32_t i = 8; i-- > 0;) {
      std::string byte = b.r64(), t = b.r64(), u = b.r64();
      b.line("ld", s.space, ".u8 ", byte, ", ", place(s, i), ";");
      b.line("shl.b64 ", t, ", ", d, ", 8;");
      b.line("or.b64 ", u, ", ", t, ", ", byte, ";");
      d = u;
    }
  }
  return d;
}

/// Twice in a row: the upper half of the one and the lower half of the other stand together.
std::string straddled(Body &b, const std::string &x) {
  Slot s = slot(b);
  std::string swapped = b.r64(), low = b.r32(), high = b.r32(), d = b.r64();
  b.line("st", s.space, ".v2.b64 ", place(s, 0), ", {", x, ", ", x, "};");
  b.line("ld", s.space, ".u32 ", high, ", ", place(s, 4), ";");
  b.line("ld", s.space, ".u32 ", low, ", ", place(s, 8), ";");
  b.line("mov.b64 ", d, ", {", low, ", ", high, "};");
  return d;
}

/// Stored to one variable, loaded from the next by an address that runs past the first.
std::string neighbours(Body &b, const std::string &x) {
  const char *space = b.random.one({"shared", "local"});
  std::string first = b.variable(space, 16), second = b.variable(space, 16), d = b.r64(), z = b.r64();
  b.line("mov.u64 ", z, ", 0;");
  b.line("st.", space, ".u64 [", first, "], ", z, ";");
  if (b.random.chance(50)) {
    b.line("st.", space, ".u64 [", second, "], ", x, ";");
    b.line("ld.", space, ".u64 ", d, ", [", first, "+16];");
  } else {
    std::string a = b.r64(), t = b.r64();
    if (b.random.chance(50)) { // from behind
      b.line("st.", space, ".u64 [", first, "], ", x, ";");
      b.line("mov.u64 ", a, ", ", second, ";");
      b.line("add.u64 ", t, ", ", a, ", -16;");
      b.line("ld.", space, ".u64 ", d, ", [", t, "];");
      return d;
    }
    b.line("st.", space, ".u64 [", first, "+16], ", x, ";");
    b.line("mov.u64 ", a, ", ", first, ";");
    b.line("add.u64 ", t, ", ", a, ", 16;");
    b.line(b.random.chance(50) ? concat("ld.", space, ".u64 ", d, ", [", t, "];")
                               : concat("ld.", space, ".u64 ", d, ", [", second, "];"));
  }
  return d;
}

/// By a place that the thread computes.
std::string indexed(Body &b, const std::string &x) {
  std::string name = b.variable("shared", 32 * 8), i = b.r32(), a = b.r32(), base = b.r32(), d = b.r64();
  b.line("mov.u32 ", i, ", %tid.x;");
  b.line("mov.u32 ", base, ", ", name, ";");
  b.line("mad.lo.u32 ", a, ", ", i, ", 8, ", base, ";");
  b.line("st.shared.b64 [", a, "], ", x, ";");
  b.line("bar.sync 0;");
  if (b.random.chance(50)) { // what another thread has put there
    std::string t = b.r32(), u = b.r32();
    b.line("xor.b32 ", t, ", ", i, ", ", 1 + b.random.below(31), ";");
    b.line("mad.lo.u32 ", u, ", ", t, ", 8, ", base, ";");
    a = u;
  }
  b.line("ld.shared.b64 ", d, ", [", a, "];");
  b.line("bar.sync 0;");
  return d;
}

/// The same in a variable that has room for the threads of any block: the proof knows that they stay in it.
std::string ranged(Body &b, const std::string &x) {
  const char *space = b.random.one({"shared", "local"});
  std::string name = b.variable(space, 1024 * 8 + 16), thread = b.r32(), i = b.r32(), w = b.r64(), base = b.r64(),
              a = b.r64(), d = b.r64();
  b.line("mov.u32 ", thread, ", %tid.x;");
  if (b.random.chance(50))
    b.line("and.b32 ", i, ", ", thread, ", 1023;");
  else
    b.line("rem.u32 ", i, ", ", thread, ", 1024;");
  b.line("mul.wide.u32 ", w, ", ", b.random.chance(50) ? thread : i, ", 8;");
  b.line("mov.u64 ", base, ", ", name, ";");
  b.line("add.s64 ", a, ", ", base, ", ", w, ";");
  const uint32_t offset = 8 * b.random.below(3);
  const std::string own = concat("[", a, "+", offset, "]"), first = concat("[", name, "+", offset, "]");
  const std::string low = b.r32(), high = b.r32();
  switch (b.random.below(3)) {
  case 0:
    b.line("st.", space, ".u64 ", own, ", ", x, ";");
    break;
  case 1:
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("st.", space, ".v2.u32 ", own, ", {", low, ", ", high, "};");
    break;
  default:
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("st.", space, ".u32 ", own, ", ", low, ";");
    b.line("st.", space, ".u32 [", a, "+", offset + 4, "], ", high, ";");
  }
  // The first thread's is there for all.
  const std::string from = space[0] == 's' && b.random.chance(40) ? first : own;
  if (b.random.chance(50)) {
    b.line("ld.", space, ".u64 ", d, ", ", from, ";");
    return d;
  }
  const std::string l = b.r32(), h = b.r32();
  b.line("ld.", space, ".v2.u32 {", l, ", ", h, "}, ", from, ";");
  b.line("mov.b64 ", d, ", {", l, ", ", h, "};");
  return d;
}

std::string atomics(Body &b, const std::string &x) {
  std::string name = b.variable("shared", 16), d = b.r64(), old = b.r64(), z = b.r64();
  b.line("mov.u64 ", z, ", 0;");
  b.line("st.shared.u64 [", name, "], ", z, ";");
  b.line("bar.sync 0;");
  switch (b.random.below(6)) {
  case 0:
    b.line("atom.shared.exch.b64 ", old, ", [", name, "], ", x, ";");
    break;
  case 1:
    b.line("atom.shared.cas.b64 ", old, ", [", name, "], ", z, ", ", x, ";");
    break;
  case 2:
    b.line("red.shared.or.b64 [", name, "], ", x, ";");
    break;
  case 3:
    b.line("red.shared.max.u64 [", name, "], ", x, ";");
    break;
  case 4: { // lane 0 alone adds
    std::string t = b.r32(), p = b.pred();
    b.line("mov.u32 ", t, ", %tid.x;");
    b.line("setp.eq.u32 ", p, ", ", t, ", 0;");
    b.line("@", p, " red.shared.add.u64 [", name, "], ", x, ";");
    break;
  }
  default: {
    std::string low = b.r32(), high = b.r32();
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("red.shared.or.b32 [", name, "], ", low, ";");
    b.line("red.shared.max.u32 [", name, "+4], ", high, ";");
  }
  }
  b.line("bar.sync 0;");
  if (b.random.chance(50))
    b.line("ld.shared.u64 ", d, ", [", name, "];");
  else
    b.line("atom.shared.or.b64 ", d, ", [", name, "], 0;");
  b.line("bar.sync 0;");
  return d;
}

/// Sixteen-bit pieces as fragments of a matrix.
std::string matrices(Body &b, const std::string &x) {
  std::string name = b.variable("shared", 512, 16), low = b.r32(), high = b.r32(), base = b.r32(), row = b.r32(),
              lane = b.r32(), a = b.r32(), l = b.r32(), h = b.r32(), d = b.r64();
  b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
  b.line("mov.u32 ", base, ", ", name, ";");
  b.line("mov.u32 ", lane, ", %laneid;");
  b.line("and.b32 ", row, ", ", lane, ", 15;");
  b.line("mad.lo.u32 ", a, ", ", row, ", 16, ", base, ";");
  b.line("stmatrix.sync.aligned.m8n8.x2.shared.b16 [", a, "], {", low, ", ", high, "};");
  b.line("bar.sync 0;");
  if (b.random.chance(50)) {
    b.line("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {", l, ", ", h, "}, [", a, "];");
  } else {
    b.line("ld.shared.u32 ", l, ", [", name, "];");
    b.line("ld.shared.u32 ", h, ", [", name, "+128];");
  }
  b.line("mov.b64 ", d, ", {", l, ", ", h, "};");
  b.line("bar.sync 0;");
  return d;
}

/// Through another buffer or a variable of the module, and back.
std::string global(Body &b, const std::string &x) {
  std::string base = b.other, d = b.r64();
  if (base.empty() || b.random.chance(30)) {
    std::string name = b.module.name("word");
    b.module.text += concat(".global .align 16 .b8 ", name, "[16];\n");
    base = b.r64();
    b.line("mov.u64 ", base, ", ", name, ";");
  }
  std::string low = b.r32(), high = b.r32(), old = b.r64();
  switch (b.random.below(4)) {
  case 0:
    b.line("st.global.v2.u64 [", base, "], {", x, ", ", x, "};");
    break;
  case 1:
    b.line("mov.b64 {", low, ", ", high, "}, ", x, ";");
    b.line("st.global.u32 [", base, "+8], ", low, ";");
    b.line("st.global.u32 [", base, "+12], ", high, ";");
    break;
  case 2:
    b.line("atom.global.exch.b64 ", old, ", [", base, "+8], ", x, ";");
    break;
  default: { // half of it in shared memory, which is copied there
    std::string name = b.variable("shared", 16), p = b.pred(), t = b.r32();
    b.line("st.shared.v2.u64 [", name, "], {", x, ", ", x, "};");
    b.line("fence.proxy.async.shared::cta;");
    b.line("bar.sync 0;");
    b.line("mov.u32 ", t, ", %tid.x;");
    b.line("setp.eq.u32 ", p, ", ", t, ", 0;");
    b.line("@", p, " cp.async.bulk.global.shared::cta.bulk_group [", base, "], [", name, "], 16;");
    b.line("cp.async.bulk.commit_group;");
    b.line("cp.async.bulk.wait_group 0;");
  }
  }
  b.line("bar.sync 0;");
  b.line(b.random.one({"ld.global.u64 ", "ld.u64 ", "ld.global.relaxed.gpu.u64 "}), d, ", [", base, "+8];");
  b.line("bar.sync 0;");
  return d;
}

// ---------------------------------------------------------------------------------------------------------- parameters

std::string parameter(Body &b, const std::string &x) {
  if (b.parameter.empty())
    return same(b, x);
  std::string d = b.r64(), low = b.r32(), high = b.r32();
  switch (b.random.below(b.before.empty() ? 6 : 9)) {
  case 0:
    b.line("ld.param.u32 ", low, ", [", b.parameter, "];");
    b.line("ld.param.u32 ", high, ", [", b.parameter, "+4];");
    b.line("mov.b64 ", d, ", {", low, ", ", high, "};");
    break;
  case 1:
    b.line("ld.param.v2.u32 {", low, ", ", high, "}, [", b.parameter, "];");
    b.line("mov.b64 ", d, ", {", low, ", ", high, "};");
    break;
  case 2: {
    std::string q[4] = {b.r16(), b.r16(), b.r16(), b.r16()};
    b.line("ld.param.v4.u16 {", q[0], ", ", q[1], ", ", q[2], ", ", q[3], "}, [", b.parameter, "];");
    b.line("mov.b64 ", d, ", {", q[0], ", ", q[1], ", ", q[2], ", ", q[3], "};");
    break;
  }
  case 3:
    b.line("mov.u64 ", d, ", 0;");
    for (uint32_t i = 8; i-- > 0;) {
      std::string byte = b.r64(), t = b.r64(), u = b.r64();
      b.line("ld.param.u8 ", byte, ", [", b.parameter, "+", i, "];");
      b.line("shl.b64 ", t, ", ", d, ", 8;");
      b.line("or.b64 ", u, ", ", t, ", ", byte, ";");
      d = u;
    }
    break;
  case 4: {
    std::string a = b.r64();
    b.line("mov.b64 ", a, ", ", b.parameter, ";");
    if (b.random.chance(50)) {
      b.line("ld.param.u64 ", d, ", [", a, "];");
    } else {
      std::string g = b.r64();
      b.line("cvta.param.u64 ", g, ", ", a, ";");
      b.line("ld.u64 ", d, ", [", g, "];");
    }
    break;
  }
  case 5: { // its halves, each at an index that stays in it
    const bool isGeneric = b.random.chance(50);
    for (const auto &[half, index] : {std::pair(low, "%ctaid.x"), {high, "%nctaid.x"}}) { // 0 and 1
      std::string n = b.r32(), i = b.r32(), w = b.r64(), base = b.r64(), a = b.r64();
      b.line("mov.u32 ", n, ", ", index, ";");
      b.line("min.u32 ", i, ", ", n, ", 1;");
      b.line("mul.wide.u32 ", w, ", ", i, ", 4;");
      b.line("mov.b64 ", base, ", ", b.parameter, ";");
      b.line("add.s64 ", a, ", ", base, ", ", w, ";");
      if (isGeneric) {
        std::string g = b.r64();
        b.line("cvta.param.u64 ", g, ", ", a, ";");
        b.line("ld.u32 ", half, ", [", g, "];");
      } else {
        b.line("ld.param.u32 ", half, ", [", a, "];");
      }
    }
    b.line("mov.b64 ", d, ", {", low, ", ", high, "};");
    break;
  }
  case 6: { // past the parameter in front of it
    std::string a = b.r64();
    b.line("mov.b64 ", a, ", ", b.before, ";");
    b.line("ld.param.u64 ", d, ", [", a, "+8];");
    break;
  }
  case 7: {
    std::string a = b.r64();
    b.line("mov.b64 ", a, ", ", b.before, ";");
    b.line("add.u64 ", a, ", ", a, ", 4;");
    b.line("ld.param.u32 ", low, ", [", a, "+4];");
    b.line("ld.param.u32 ", high, ", [", a, "+8];");
    b.line("mov.b64 ", d, ", {", low, ", ", high, "};");
    break;
  }
  default: {
    std::string a = b.r64(), g = b.r64(), t = b.r64();
    b.line("mov.b64 ", a, ", ", b.before, ";");
    b.line("cvta.param.u64 ", g, ", ", a, ";");
    b.line("add.u64 ", t, ", ", g, ", 8;");
    b.line("ld.u64 ", d, ", [", t, "];");
  }
  }
  return d;
}

constexpr ValueWay kWays[] = {
    {"slot", Class::Memory, same},           {"pieces", Class::Memory, pieces},
    {"straddled", Class::Memory, straddled}, {"neighbours", Class::Memory, neighbours},
    {"indexed", Class::Memory, indexed},     {"ranged", Class::Memory, ranged},
    {"atomics64", Class::Atomics, atomics},  {"matrices", Class::Lanes, matrices},
    {"global", Class::Copies, global},       {"parameter", Class::Parameters, parameter},
};

} // namespace

std::span<const ValueWay> memoryWays() {
  return kWays;
}

} // namespace tenon::proof
