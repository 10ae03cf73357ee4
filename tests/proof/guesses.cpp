// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/guesses.h"

namespace tenon::proof {
namespace {

std::string widened(Body &b, const std::string &mask) {
  std::string d = b.r64();
  b.line("cvt.s64.s32 ", d, ", ", mask, ";");
  return d;
}

/// What they differ in: 0 where they are the same.
std::string difference(Body &b, const std::string &p, const std::string &guess) {
  std::string d = b.r64();
  b.line(b.random.one({"xor.b64 ", "sub.s64 "}), d, ", ", p, ", ", guess, ";");
  return d;
}

std::string chosen(Body &b, const std::string &predicate) {
  std::string d = b.r64();
  b.line("selp.b64 ", d, ", -1, 0, ", predicate, ";");
  return d;
}

std::string compared(Body &b, const std::string &p, const std::string &guess) {
  std::string q = b.pred();
  b.line(b.random.one({"setp.eq.u64 ", "setp.eq.s64 ", "setp.eq.b64 "}), q, ", ", p, ", ", guess, ";");
  return chosen(b, q);
}

std::string set(Body &b, const std::string &p, const std::string &guess) {
  std::string d = b.r32();
  b.line("set.eq.u32.u64 ", d, ", ", p, ", ", guess, ";");
  return widened(b, d);
}

/// x | -x has its highest bit set unless x is 0.
std::string signs(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), n = b.r64(), o = b.r64(), s = b.r64(), d = b.r64();
  b.line("neg.s64 ", n, ", ", x, ";");
  b.line("or.b64 ", o, ", ", x, ", ", n, ";");
  b.line("shr.u64 ", s, ", ", o, ", 63;");
  b.line("sub.s64 ", d, ", ", s, ", 1;");
  return d;
}

std::string counted(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), c = b.r32(), m = b.r32(), d = b.r32();
  switch (b.random.below(3)) {
  case 0:
    b.line("popc.b64 ", c, ", ", x, ";");
    b.line("min.u32 ", m, ", ", c, ", 1;");
    b.line("sub.u32 ", d, ", ", m, ", 1;");
    break;
  case 1:
    b.line("clz.b64 ", c, ", ", x, ";"); // 64
    b.line("shr.u32 ", m, ", ", c, ", 6;");
    b.line("neg.s32 ", d, ", ", m, ";");
    break;
  default:
    b.line("bfind.u64 ", c, ", ", x, ";"); // 0xffffffff
    b.line("shr.s32 ", d, ", ", c, ", 31;");
  }
  return widened(b, d);
}

std::string borrowed(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), t = b.r64(), d = b.r64();
  b.line("sub.cc.u64 ", t, ", ", x, ", 1;");
  b.line("subc.u64 ", d, ", 0, 0;");
  return d;
}

std::string least(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), t = b.r64(), d = b.r64();
  b.line("min.u64 ", t, ", ", x, ", 1;");
  b.line("sub.s64 ", d, ", ", t, ", 1;");
  return d;
}

std::string floating(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), f = b.f64(), q = b.pred();
  b.line("cvt.rn.f64.u64 ", f, ", ", x, ";");
  b.line("setp.eq.f64 ", q, ", ", f, ", 0d0000000000000000;");
  return chosen(b, q);
}

/// Field by field: each is a hash, and all are right together.
std::string fields(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), q;
  for (uint32_t at = 8; at < 48; at += 10) {
    std::string t = b.r64(), next = b.pred();
    b.line("bfe.u64 ", t, ", ", x, ", ", at, ", 10;");
    if (q.empty())
      b.line("setp.eq.u64 ", next, ", ", t, ", 0;");
    else
      b.line("setp.eq.and.u64 ", next, ", ", t, ", 0, ", q, ";");
    q = next;
  }
  return chosen(b, q);
}

/// 22 bits of it by two hashes, the rest being known: most guesses are wrong by more than that says.
std::string hashed(Body &b, const std::string &p, const std::string &guess) {
  std::string x = difference(b, p, guess), low = b.r64(), high = b.r64(), both = b.r64(), t = b.r64(), d = b.r64();
  b.line("and.b64 ", low, ", ", x, ", 3840;");
  b.line("bfe.u64 ", high, ", ", x, ", 20, 12;");
  b.line("or.b64 ", both, ", ", low, ", ", high, ";");
  b.line("add.s64 ", t, ", ", both, ", -1;");
  b.line("shr.s64 ", d, ", ", t, ", 63;");
  return d;
}

std::string shuffled(Body &b, const std::string &p, const std::string &guess) {
  std::string q = b.pred(), t = b.r32(), lane = b.r32(), d = b.r32();
  b.line("setp.eq.s64 ", q, ", ", p, ", ", guess, ";");
  b.line("selp.b32 ", t, ", -1, 0, ", q, ";");
  b.line("mov.u32 ", lane, ", %laneid;");
  b.line("shfl.sync.idx.b32 ", d, ", ", t, ", ", lane, ", 31, -1;");
  return widened(b, d);
}

constexpr Guess kGuesses[] = {
    {"guess:compared", Class::Predicates, compared}, {"guess:set", Class::Predicates, set},
    {"guess:floating", Class::Predicates, floating}, {"guess:fields", Class::Predicates, fields},
    {"guess:signs", Class::Arithmetic, signs},       {"guess:counted", Class::Arithmetic, counted},
    {"guess:borrowed", Class::Arithmetic, borrowed}, {"guess:least", Class::Arithmetic, least},
    {"guess:hashed", Class::Arithmetic, hashed},     {"guess:shuffled", Class::Lanes, shuffled},
};

/// The guess where the mask is set, else `harmless`.
std::string pick(Body &b, const std::string &mask, const std::string &guess, const std::string &harmless) {
  std::string d = b.r64(), t = b.r64(), u = b.r64();
  switch (b.random.below(5)) {
  case 0: {
    std::string q = b.pred();
    b.line("setp.ne.s64 ", q, ", ", mask, ", 0;");
    b.line("selp.b64 ", d, ", ", guess, ", ", harmless, ", ", q, ";");
    break;
  }
  case 1:
    b.line("sub.s64 ", t, ", ", guess, ", ", harmless, ";");
    b.line("and.b64 ", u, ", ", t, ", ", mask, ";");
    b.line("add.s64 ", d, ", ", harmless, ", ", u, ";");
    break;
  case 2:
    b.line("sub.s64 ", t, ", ", harmless, ", ", guess, ";");
    b.line("mad.lo.s64 ", d, ", ", t, ", ", mask, ", ", harmless, ";");
    break;
  case 3: {
    std::string n = b.r64(), v = b.r64();
    b.line("and.b64 ", t, ", ", guess, ", ", mask, ";");
    b.line("not.b64 ", n, ", ", mask, ";");
    b.line("and.b64 ", v, ", ", harmless, ", ", n, ";");
    b.line("or.b64 ", d, ", ", t, ", ", v, ";");
    break;
  }
  default: {
    std::string sign = b.r32();
    b.line("cvt.u32.u64 ", sign, ", ", mask, ";");
    b.line("slct.b64.s32 ", d, ", ", harmless, ", ", guess, ", ", sign, ";");
  }
  }
  return d;
}

} // namespace

std::span<const Guess> guesses() {
  return kGuesses;
}

void search(Body &b, const Guess &guess, const std::string &pointer, const std::string &harmless,
            const std::function<void(const std::string &)> &write) {
  constexpr uint32_t kLanes = 32, kPlaces = 16; // 256 bytes apart
  std::string low = b.r64(), base = b.r64(), i = b.r32(), step = b.r32(), place = b.r32(), t = b.r64(), u = b.r64(),
              g = b.r64(), p = b.pred(), loop = b.label();
  b.line("and.b64 ", low, ", ", pointer, ", 255;");
  b.line("add.s64 ", base, ", ", low, ", ", kNear + kBefore, ";");
  b.line("mov.u32 ", i, ", %tid.x;");
  b.line(loop, ":");
  b.line("shr.u32 ", step, ", ", i, ", 4;");
  b.line("and.b32 ", place, ", ", i, ", ", kPlaces - 1, ";");
  b.line("mul.wide.u32 ", t, ", ", step, ", ", kNearSteps, ";");
  b.line("mad.wide.u32 ", u, ", ", place, ", 256, ", base, ";");
  b.line("add.s64 ", g, ", ", t, ", ", u, ";");
  write(pick(b, guess.go(b, pointer, g), g, harmless));
  b.line("add.u32 ", i, ", ", i, ", ", kLanes, ";");
  b.line("setp.lt.u32 ", p, ", ", i, ", ", kNearBytes / kNearSteps * kPlaces, ";");
  b.line("@", p, " bra ", loop, ";");
}

} // namespace tenon::proof
