// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole values through their 32-bit halves, 16-bit quarters and bytes.
#include "tests/proof/launder.h"

namespace tenon::proof {
namespace {

struct Halves {
  std::string low, high;
};

Halves halvesOf(Body &b, const std::string &x) {
  Halves h = {b.r32(), b.r32()};
  switch (b.random.below(4)) {
  case 0: {
    std::string t = b.r64();
    b.line("cvt.u32.u64 ", h.low, ", ", x, ";");
    b.line("shr.u64 ", t, ", ", x, ", 32;");
    b.line("cvt.u32.u64 ", h.high, ", ", t, ";");
    break;
  }
  case 1: {
    std::string high = b.r64();
    b.line("mul.hi.u64 ", high, ", ", x, ", 0x100000000;");
    b.line("cvt.u32.u64 ", h.high, ", ", high, ";");
    b.line("mov.b64 {", h.low, ", ", b.r32(), "}, ", x, ";");
    break;
  }
  case 2: {
    std::string low = b.r64(), high = b.r64(), t = b.r64();
    b.line("and.b64 ", low, ", ", x, ", 0xffffffff;");
    b.line("sub.u64 ", high, ", ", x, ", ", low, ";");
    b.line("shr.u64 ", t, ", ", high, ", 32;");
    b.line("cvt.u32.u64 ", h.low, ", ", low, ";");
    b.line("cvt.u32.u64 ", h.high, ", ", t, ";");
    break;
  }
  default:
    b.line("mov.b64 {", h.low, ", ", h.high, "}, ", x, ";");
  }
  return h;
}

std::string whole(Body &b, const Halves &h) {
  std::string d = b.r64();
  switch (b.random.below(5)) {
  case 0: {
    std::string low = b.r64(), high = b.r64(), t = b.r64();
    b.line("cvt.u64.u32 ", low, ", ", h.low, ";");
    b.line("cvt.u64.u32 ", high, ", ", h.high, ";");
    b.line("shl.b64 ", t, ", ", high, ", 32;");
    b.line(b.random.one({"or.b64 ", "add.s64 ", "xor.b64 "}), d, ", ", t, ", ", low, ";");
    break;
  }
  case 1: {
    std::string low = b.r64(), high = b.r64();
    b.line("cvt.u64.u32 ", low, ", ", h.low, ";");
    b.line("cvt.u64.u32 ", high, ", ", h.high, ";");
    b.line("mad.lo.s64 ", d, ", ", high, ", 0x100000000, ", low, ";");
    break;
  }
  case 2: {
    std::string low = b.r64(), high = b.r64(), t = b.r64();
    b.line("mul.wide.u32 ", low, ", ", h.low, ", 1;");
    b.line("mul.wide.u32 ", t, ", ", h.high, ", 0x80000000;");
    b.line("shl.b64 ", high, ", ", t, ", 1;");
    b.line("or.b64 ", d, ", ", high, ", ", low, ";");
    break;
  }
  case 3: {
    std::string low = b.r64(), high = b.r64();
    b.line("cvt.u64.u32 ", low, ", ", h.low, ";");
    b.line("cvt.u64.u32 ", high, ", ", h.high, ";");
    b.line("bfi.b64 ", d, ", ", high, ", ", low, ", 32, 32;");
    break;
  }
  default:
    b.line("mov.b64 ", d, ", {", h.low, ", ", h.high, "};");
  }
  return d;
}

std::string halves(Body &b, const std::string &x) {
  Halves h = halvesOf(b, x);
  if (b.random.chance(60))
    h.low = launderHalf(b, h.low);
  if (b.random.chance(60))
    h.high = launderHalf(b, h.high);
  return whole(b, h);
}

/// Adds a constant with a carry between the halves, and takes it away again with a borrow.
std::string carried(Body &b, const std::string &x) {
  Halves h = halvesOf(b, x), t = {b.r32(), b.r32()}, d = {b.r32(), b.r32()};
  const uint32_t low = uint32_t(b.random.next()), high = b.random.below(1 << 16);
  switch (b.random.below(3)) {
  case 0:
    b.line("add.cc.u32 ", t.low, ", ", h.low, ", ", low, ";");
    b.line("addc.u32 ", t.high, ", ", h.high, ", ", high, ";");
    b.line("sub.cc.u32 ", d.low, ", ", t.low, ", ", low, ";");
    b.line("subc.u32 ", d.high, ", ", t.high, ", ", high, ";");
    break;
  case 1:
    b.line("mad.lo.cc.u32 ", t.low, ", ", h.low, ", 1, ", low, ";");
    b.line("madc.lo.u32 ", t.high, ", ", h.high, ", 1, ", high, ";");
    b.line("sub.cc.u32 ", d.low, ", ", t.low, ", ", low, ";");
    b.line("subc.u32 ", d.high, ", ", t.high, ", ", high, ";");
    break;
  default: { // the low half through the carry alone: x = -1 - (-1 - x), bit by bit from the sums that overflow
    std::string bits = b.r32();
    b.line("mov.u32 ", bits, ", 0;");
    for (uint32_t i = 0; i < 32; ++i) {
      std::string shiftedBits = b.r32(), doubled = b.r32(), bit = b.r32(), next = b.r32();
      b.line("shl.b32 ", shiftedBits, ", ", h.low, ", ", 31 - i, ";");
      b.line("add.cc.u32 ", doubled, ", ", shiftedBits, ", ", shiftedBits, ";");
      b.line("addc.u32 ", bit, ", 0, 0;");
      b.line("bfi.b32 ", next, ", ", bit, ", ", bits, ", ", i, ", 1;");
      bits = next;
    }
    return whole(b, {bits, h.high});
  }
  }
  return whole(b, d);
}

std::string quarters(Body &b, const std::string &x) {
  std::string q[4] = {b.r16(), b.r16(), b.r16(), b.r16()}, d = b.r64();
  b.line("mov.b64 {", q[0], ", ", q[1], ", ", q[2], ", ", q[3], "}, ", x, ";");
  if (b.random.chance(50)) {
    for (std::string &part : q) {
      std::string wide = b.r32(), narrow = b.r16();
      b.line("cvt.u32.u16 ", wide, ", ", part, ";");
      b.line("cvt.u16.u32 ", narrow, ", ", b.random.chance(30) ? launderHalf(b, wide) : wide, ";");
      part = narrow;
    }
  }
  if (b.random.chance(50)) {
    b.line("mov.b64 ", d, ", {", q[0], ", ", q[1], ", ", q[2], ", ", q[3], "};");
  } else {
    Halves h = {b.r32(), b.r32()};
    b.line("mov.b32 ", h.low, ", {", q[0], ", ", q[1], "};");
    b.line("mov.b32 ", h.high, ", {", q[2], ", ", q[3], "};");
    return whole(b, h);
  }
  return d;
}

std::string permuted(Body &b, const std::string &x) {
  Halves h = halvesOf(b, x), d = {b.r32(), b.r32()}, t = {b.r32(), b.r32()};
  switch (b.random.below(3)) {
  case 0: // bytes turned round and back
    b.line("prmt.b32 ", t.low, ", ", h.low, ", ", h.high, ", 0x4567;");
    b.line("prmt.b32 ", t.high, ", ", h.low, ", ", h.high, ", 0x0123;");
    b.line("prmt.b32 ", d.low, ", ", t.low, ", ", t.high, ", 0x4567;");
    b.line("prmt.b32 ", d.high, ", ", t.low, ", ", t.high, ", 0x0123;");
    break;
  case 1: { // a rotation
    const uint32_t n = 1 + b.random.below(31);
    b.line("shf.l.wrap.b32 ", t.low, ", ", h.high, ", ", h.low, ", ", n, ";");
    b.line("shf.l.wrap.b32 ", t.high, ", ", h.low, ", ", h.high, ", ", n, ";");
    b.line("shf.r.wrap.b32 ", d.low, ", ", t.low, ", ", t.high, ", ", n, ";");
    b.line("shf.r.wrap.b32 ", d.high, ", ", t.high, ", ", t.low, ", ", n, ";");
    break;
  }
  default: { // even bytes and odd ones
    std::string even = b.r32(), odd = b.r32();
    b.line("prmt.b32 ", even, ", ", h.low, ", ", h.high, ", 0x6420;");
    b.line("prmt.b32 ", odd, ", ", h.low, ", ", h.high, ", 0x7531;");
    b.line("prmt.b32 ", d.low, ", ", even, ", ", odd, ", 0x5140;");
    b.line("prmt.b32 ", d.high, ", ", even, ", ", odd, ", 0x7362;");
  }
  }
  return whole(b, d);
}

/// Halves as exact floating-point numbers.
std::string floats(Body &b, const std::string &x) {
  Halves h = halvesOf(b, x);
  std::string low = b.f64(), high = b.f64(), sum = b.f64();
  b.line("cvt.rn.f64.u32 ", low, ", ", h.low, ";");
  b.line("cvt.rn.f64.u32 ", high, ", ", h.high, ";");
  if (b.random.chance(50)) { // 48 bits fit into one
    std::string d = b.r64();
    b.line("fma.rn.f64 ", sum, ", ", high, ", 0d41F0000000000000, ", low, ";");
    b.line("cvt.rzi.u64.f64 ", d, ", ", sum, ";");
    return d;
  }
  Halves d = {b.r32(), b.r32()};
  b.line("add.rn.f64 ", sum, ", ", low, ", 0d0000000000000000;");
  b.line("cvt.rzi.u32.f64 ", d.low, ", ", sum, ";");
  b.line("cvt.rzi.u32.f64 ", d.high, ", ", high, ";");
  return whole(b, d);
}

std::string shuffledHalves(Body &b, const std::string &x) {
  Halves h = halvesOf(b, x), d = {b.r32(), b.r32()};
  const uint32_t lane = b.random.below(32);
  b.line("shfl.sync.idx.b32 ", d.low, ", ", h.low, ", ", lane, ", 31, -1;");
  b.line("shfl.sync.bfly.b32 ", d.high, ", ", h.high, ", ", 1 + b.random.below(31), ", 31, -1;");
  return whole(b, d);
}

/// Bits of both halves, one a lane.
std::string ballots(Body &b, const std::string &x) {
  Halves h = halvesOf(b, x), d = {b.r32(), b.r32()};
  std::string lane = b.r32();
  b.line("mov.u32 ", lane, ", %laneid;");
  auto vote = [&](const std::string &from, const std::string &to) {
    std::string bit = b.r32(), one = b.r32(), p = b.pred();
    b.line("shr.u32 ", bit, ", ", from, ", ", lane, ";");
    b.line("and.b32 ", one, ", ", bit, ", 1;");
    b.line("setp.ne.u32 ", p, ", ", one, ", 0;");
    switch (b.random.below(3)) {
    case 0: {
      std::string mask = b.r32(), mine = b.r32();
      b.line("mov.u32 ", mask, ", %lanemask_eq;");
      b.line("selp.b32 ", mine, ", ", mask, ", 0, ", p, ";");
      b.line("redux.sync.or.b32 ", to, ", ", mine, ", -1;");
      break;
    }
    case 1: {
      std::string same = b.r32();
      b.line("match.any.sync.b32 ", same, ", ", one, ", -1;"); // lanes with my bit
      std::string other = b.r32();
      b.line("not.b32 ", other, ", ", same, ";");
      b.line("selp.b32 ", to, ", ", same, ", ", other, ", ", p, ";");
      break;
    }
    default:
      b.line("vote.sync.ballot.b32 ", to, ", ", p, ", -1;");
    }
  };
  vote(h.low, d.low);
  vote(h.high, d.high);
  return whole(b, d);
}

constexpr ValueWay kWays[] = {
    {"halves", Class::Arithmetic, halves},     {"carried", Class::Arithmetic, carried},
    {"quarters", Class::Arithmetic, quarters}, {"permuted", Class::Arithmetic, permuted},
    {"floats", Class::Arithmetic, floats},     {"shuffled-halves", Class::Lanes, shuffledHalves},
    {"ballots", Class::Lanes, ballots},
};

} // namespace

std::string launderHalf(Body &b, const std::string &half) {
  std::string t = b.r32(), d = b.r32();
  const uint32_t n = uint32_t(b.random.next());
  switch (b.random.below(9)) {
  case 0:
    b.line("xor.b32 ", t, ", ", half, ", ", n, ";");
    b.line("xor.b32 ", d, ", ", t, ", ", n, ";");
    break;
  case 1:
    b.line("and.b32 ", t, ", ", half, ", ", n, ";");
    b.line("lop3.b32 ", d, ", ", half, ", ", t, ", ", ~n, ", 0xEC;"); // (half & ~n) | t
    break;
  case 2:
    b.line("brev.b32 ", t, ", ", half, ";");
    b.line("brev.b32 ", d, ", ", t, ";");
    break;
  case 3:
    b.line("mul.lo.u32 ", t, ", ", half, ", 3;");
    b.line("mul.lo.u32 ", d, ", ", t, ", 0xaaaaaaab;");
    break;
  case 4: {
    std::string f = b.f32();
    b.line("mov.b32 ", f, ", ", half, ";");
    b.line("mov.b32 ", d, ", ", f, ";");
    break;
  }
  case 5:
    b.line("dp4a.u32.u32 ", t, ", ", half, ", 1, 0;"); // the lowest byte
    b.line("bfi.b32 ", d, ", ", t, ", ", half, ", 0, 8;");
    break;
  case 6: {
    const uint32_t at = 1 + b.random.below(31);
    std::string low = b.r32();
    b.line("bfe.u32 ", t, ", ", half, ", ", at, ", ", 32 - at, ";");
    b.line("bfe.u32 ", low, ", ", half, ", 0, ", at, ";");
    b.line("bfi.b32 ", d, ", ", t, ", ", low, ", ", at, ", ", 32 - at, ";");
    break;
  }
  case 7:
    b.line("shf.l.wrap.b32 ", t, ", ", half, ", ", half, ", ", n % 32, ";");
    b.line("shf.r.wrap.b32 ", d, ", ", t, ", ", t, ", ", n % 32, ";");
    break;
  default: {
    std::string a = b.r16(), c = b.r16();
    b.line("mov.b32 {", a, ", ", c, "}, ", half, ";");
    b.line("mov.b32 ", t, ", {", c, ", ", a, "};");
    b.line("prmt.b32 ", d, ", ", t, ", 0, 0x1032;");
  }
  }
  return d;
}

std::span<const ValueWay> halfWays() {
  return kWays;
}

} // namespace tenon::proof
