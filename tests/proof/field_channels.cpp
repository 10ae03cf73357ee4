// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Channels of one thread: arithmetic, predicates, branches. The field is below 2^bits, and so is what comes out.
#include "tests/proof/launder.h"

namespace tenon::proof {
namespace {

std::string zero(Body &b) {
  std::string d = b.r32();
  b.line("mov.u32 ", d, ", 0;");
  return d;
}

std::string bitOf(Body &b, const std::string &field, uint32_t i) {
  std::string p = b.pred();
  if (b.random.chance(50)) {
    std::string t = b.r32();
    b.line("and.b32 ", t, ", ", field, ", ", 1u << i, ";");
    b.line(b.random.one({"setp.ne.u32 ", "setp.gt.u32 ", "setp.ne.b32 "}), p, ", ", t, ", 0;");
  } else {
    std::string t = b.r32(), u = b.r32();
    b.line("shr.u32 ", t, ", ", field, ", ", i, ";");
    b.line("and.b32 ", u, ", ", t, ", 1;");
    b.line("setp.eq.s32 ", p, ", ", u, ", 1;");
  }
  return p;
}

// ---------------------------------------------------------------------------------------------------------- arithmetic

std::string none(Body &, const std::string &field, uint32_t) {
  return field;
}

std::string floating(Body &b, const std::string &field, uint32_t) {
  std::string f = b.f32(), g = b.f32(), d = b.r32();
  b.line("cvt.rn.f32.u32 ", f, ", ", field, ";");
  b.line("fma.rn.f32 ", g, ", ", f, ", 0f40000000, 0f3F800000;"); // 2f + 1
  std::string t = b.r32();
  b.line("cvt.rzi.u32.f32 ", t, ", ", g, ";");
  b.line("shr.u32 ", d, ", ", t, ", 1;");
  return d;
}

/// 2^f, and where its bit stands.
std::string position(Body &b, const std::string &field, uint32_t) {
  std::string one = b.r32(), d = b.r32(), t = b.r32();
  switch (b.random.below(4)) {
  case 0:
    b.line("shl.b32 ", one, ", 1, ", field, ";");
    b.line("bfind.u32 ", d, ", ", one, ";");
    break;
  case 1:
    b.line("shr.u32 ", one, ", 0x80000000, ", field, ";");
    b.line("clz.b32 ", d, ", ", one, ";");
    break;
  case 2:
    b.line("bmsk.clamp.b32 ", one, ", 0, ", field, ";");
    b.line("popc.b32 ", d, ", ", one, ";");
    break;
  default:
    b.line("shl.b32 ", one, ", 1, ", field, ";");
    b.line("sub.u32 ", t, ", ", one, ", 1;");
    b.line("popc.b32 ", d, ", ", t, ";");
  }
  return d;
}

std::string sums(Body &b, const std::string &field, uint32_t) {
  std::string d = b.r32();
  switch (b.random.below(5)) {
  case 0:
    b.line("dp4a.u32.u32 ", d, ", ", field, ", 0x101, 0;"); // the two low bytes
    {
      std::string high = b.r32(), rest = b.r32(), e = b.r32();
      b.line("shr.u32 ", high, ", ", field, ", 8;");
      b.line("mul.lo.u32 ", rest, ", ", high, ", 255;");
      b.line("add.u32 ", e, ", ", d, ", ", rest, ";");
      return e;
    }
  case 1:
    b.line("sad.u32 ", d, ", ", field, ", 0, 0;");
    break;
  case 2:
    b.line("mul24.lo.u32 ", d, ", ", field, ", 1;");
    break;
  case 3:
    b.line("vadd.u32.u32.u32 ", d, ", ", field, ", 0;");
    break;
  default:
    b.line("szext.wrap.u32 ", d, ", ", field, ", 13;");
  }
  return d;
}

/// Carries: one for each number that the field is above.
std::string carries(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 0; i + 1 < 1u << bits; ++i) {
    std::string t = b.r32();
    if (b.random.chance(50)) {
      b.line("add.cc.u32 ", t, ", ", field, ", ", 0xffffffffu - i, ";");
      b.line("addc.u32 ", d, ", ", d, ", 0;");
    } else {
      std::string u = b.r32(), v = b.r32();
      b.line("sub.cc.u32 ", t, ", ", i, ", ", field, ";"); // borrows where the field is above
      b.line("subc.u32 ", u, ", 0, 0;");
      b.line("neg.s32 ", v, ", ", u, ";");
      b.line("add.u32 ", d, ", ", d, ", ", v, ";");
    }
  }
  return d;
}

// ---------------------------------------------------------------------------------------------------------- predicates

std::string selected(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 0; i < bits; ++i) {
    std::string t = b.r32();
    b.line("selp.b32 ", t, ", ", 1u << i, ", 0, ", bitOf(b, field, i), ";");
    b.line(b.random.one({"or.b32 ", "add.s32 ", "xor.b32 "}), d, ", ", d, ", ", t, ";");
  }
  return d;
}

std::string guarded(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 0; i < bits; ++i)
    b.line("@", bitOf(b, field, i), b.random.one({" or.b32 ", " add.s32 ", " add.u32 "}), d, ", ", d, ", ", 1u << i,
           ";");
  return d;
}

std::string guardedCopy(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 1; i < 1u << bits; ++i) {
    std::string p = b.pred();
    b.line("setp.eq.u32 ", p, ", ", field, ", ", i, ";");
    b.line("@", p, " mov.u32 ", d, ", ", i, ";");
  }
  return d;
}

std::string thermometer(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 0; i + 1 < 1u << bits; ++i) {
    std::string t = b.r32();
    switch (b.random.below(3)) {
    case 0:
      b.line("set.gt.u32.u32 ", t, ", ", field, ", ", i, ";"); // all ones
      b.line("sub.u32 ", d, ", ", d, ", ", t, ";");
      break;
    case 1: {
      std::string sign = b.r32();
      b.line("sub.s32 ", sign, ", ", field, ", ", i + 1, ";");
      b.line("slct.s32.s32 ", t, ", 1, 0, ", sign, ";");
      b.line("add.u32 ", d, ", ", d, ", ", t, ";");
      break;
    }
    default: {
      std::string p = b.pred();
      b.line("setp.gt.u32 ", p, ", ", field, ", ", i, ";");
      b.line("selp.u32 ", t, ", 1, 0, ", p, ";");
      b.line("add.u32 ", d, ", ", d, ", ", t, ";");
    }
    }
  }
  return d;
}

std::string predicateLogic(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 0; i < bits; ++i) {
    std::string p = bitOf(b, field, i), q = b.pred(), r = b.pred(), t = b.r32();
    switch (b.random.below(5)) {
    case 0:
      b.line("not.pred ", q, ", ", p, ";");
      b.line("not.pred ", r, ", ", q, ";");
      break;
    case 1:
      b.line("mov.pred ", q, ", ", p, ";");
      b.line("and.pred ", r, ", ", q, ", ", p, ";");
      break;
    case 2:
      b.line("setp.ne.and.u32 ", q, "|", r, ", ", field, ", 0xffffffff, ", p, ";");
      r = q;
      break;
    case 3: {
      b.line("setp.eq.u32 ", q, ", ", field, ", 0xffffffff;");
      b.line("xor.pred ", r, ", ", p, ", ", q, ";");
      break;
    }
    default: {
      std::string f = b.f32(), w = b.r32();
      b.line("selp.u32 ", w, ", 0x3f800000, 0, ", p, ";");
      b.line("mov.b32 ", f, ", ", w, ";");
      b.line("setp.neu.f32 ", r, ", ", f, ", 0f00000000;");
    }
    }
    b.line("selp.b32 ", t, ", ", 1u << i, ", 0, ", r, ";");
    b.line("or.b32 ", d, ", ", d, ", ", t, ";");
  }
  return d;
}

// ------------------------------------------------------------------------------------------------------------- control

std::string branches(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b);
  for (uint32_t i = 0; i < bits; ++i) {
    std::string over = b.label();
    b.line("@!", bitOf(b, field, i), " bra ", over, ";");
    b.line(b.random.one({"or.b32 ", "add.s32 "}), d, ", ", d, ", ", 1u << i, ";");
    b.line(over, ":");
  }
  return d;
}

std::string counted(Body &b, const std::string &field, uint32_t) {
  std::string d = zero(b), left = b.r32(), p = b.pred(), loop = b.label(), end = b.label();
  b.line("mov.u32 ", left, ", ", field, ";");
  b.line(loop, ":");
  b.line("setp.eq.u32 ", p, ", ", left, ", 0;");
  b.line("@", p, " bra ", end, ";");
  b.line("add.u32 ", d, ", ", d, ", 1;");
  b.line("sub.u32 ", left, ", ", left, ", 1;");
  b.line("bra ", loop, ";");
  b.line(end, ":");
  return d;
}

std::string table(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b), name = b.module.name("targets"), end = b.label();
  std::vector<std::string> labels;
  std::string list;
  for (uint32_t i = 0; i < 1u << bits; ++i) {
    labels.push_back(b.label());
    list += concat(i ? ", " : "", labels.back());
  }
  b.line(name, ": .branchtargets ", list, ";");
  b.line("brx.idx ", field, ", ", name, ";");
  for (uint32_t i = 0; i < labels.size(); ++i) {
    b.line(labels[i], ":");
    b.line("mov.u32 ", d, ", ", i, ";");
    b.line("bra ", end, ";");
  }
  b.line(end, ":");
  return d;
}

/// Searches for the field, number by number.
std::string search(Body &b, const std::string &field, uint32_t bits) {
  std::string d = zero(b), p = b.pred(), q = b.pred(), loop = b.label(), end = b.label();
  b.line(loop, ":");
  b.line("setp.eq.u32 ", p, ", ", d, ", ", field, ";");
  b.line("@", p, " bra ", end, ";");
  b.line("add.u32 ", d, ", ", d, ", 1;");
  b.line("setp.lt.u32 ", q, ", ", d, ", ", 1u << bits, ";");
  b.line("@", q, " bra ", loop, ";");
  b.line(end, ":");
  return d;
}

constexpr Channel kPlain[] = {
    {"none", Class::Arithmetic, 12, none},
    {"floating", Class::Arithmetic, 12, floating},
    {"position", Class::Arithmetic, 4, position},
    {"sums", Class::Arithmetic, 12, sums},
    {"carries", Class::Arithmetic, 3, carries},
    {"selected", Class::Predicates, 6, selected},
    {"guarded", Class::Predicates, 6, guarded},
    {"guarded-copy", Class::Predicates, 3, guardedCopy},
    {"thermometer", Class::Predicates, 3, thermometer},
    {"predicate-logic", Class::Predicates, 4, predicateLogic},
};
constexpr Channel kControl[] = {
    {"branches", Class::Control, 6, branches},
    {"counted", Class::Control, 4, counted},
    {"table", Class::Control, 2, table},
    {"search", Class::Control, 4, search},
};

} // namespace

std::span<const Channel> plainChannels() {
  return kPlain;
}
std::span<const Channel> controlChannels() {
  return kControl;
}

} // namespace tenon::proof
