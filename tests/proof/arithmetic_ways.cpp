// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole values through arithmetic of 64 bits.
#include "tests/proof/launder.h"

#include <array>

namespace tenon::proof {
namespace {

std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// A mask of any shape: low bits of any number, a field, random bits.
uint64_t anyMask(Random &random) {
  const uint32_t width = 1 + random.below(63);
  switch (random.below(4)) {
  case 0:
    return (uint64_t(1) << width) - 1;
  case 1:
    return ((uint64_t(1) << width) - 1) << random.below(64 - width + 1);
  case 2:
    return ~((uint64_t(1) << width) - 1);
  default:
    return random.next();
  }
}

/// An operand for a constant: itself, or a register that holds it.
std::string constant(Body &b, uint64_t value) {
  if (b.random.chance(70))
    return hex(value);
  std::string r = b.r64();
  b.line("mov.b64 ", r, ", ", hex(value), ";");
  return r;
}

/// Joins two values without common bits.
std::string joined(Body &b, const std::string &x, const std::string &y) {
  std::string d = b.r64();
  switch (b.random.below(7)) {
  case 0:
    b.line("add.s64 ", d, ", ", x, ", ", y, ";");
    break;
  case 1:
    b.line("xor.b64 ", d, ", ", x, ", ", y, ";");
    break;
  case 2:
    b.line("mad.lo.s64 ", d, ", ", x, ", 1, ", y, ";");
    break;
  case 3: {
    std::string n = b.r64();
    b.line("neg.s64 ", n, ", ", y, ";");
    b.line("sub.s64 ", d, ", ", x, ", ", n, ";");
    break;
  }
  case 4: {
    std::string both = b.r64(), sum = b.r64();
    b.line("and.b64 ", both, ", ", x, ", ", y, ";");
    b.line("add.u64 ", sum, ", ", x, ", ", y, ";");
    b.line("sub.u64 ", d, ", ", sum, ", ", both, ";");
    break;
  }
  default:
    b.line("or.b64 ", d, ", ", x, ", ", y, ";");
  }
  return d;
}

std::string split(Body &b, const std::string &x) {
  const uint64_t mask = anyMask(b.random);
  std::string low = b.r64(), high = b.r64();
  b.line("and.b64 ", low, ", ", x, ", ", constant(b, mask), ";");
  switch (b.random.below(4)) {
  case 0:
    b.line("sub.s64 ", high, ", ", x, ", ", low, ";");
    break;
  case 1:
    b.line("xor.b64 ", high, ", ", x, ", ", low, ";");
    break;
  case 2:
    b.line("and.b64 ", high, ", ", x, ", ", constant(b, ~mask), ";");
    break;
  default: {
    std::string inverted = b.r64();
    b.line("not.b64 ", inverted, ", ", low, ";");
    b.line("and.b64 ", high, ", ", x, ", ", inverted, ";");
  }
  }
  return b.random.chance(50) ? joined(b, low, high) : joined(b, high, low);
}

std::string shifted(Body &b, const std::string &x) {
  const uint32_t n = 1 + b.random.below(63);
  std::string high = b.r64(), back = b.r64(), low = b.r64();
  std::string count = b.random.chance(70) ? std::to_string(n) : b.r32();
  if (count[0] == '%')
    b.line("mov.u32 ", count, ", ", n, ";");
  b.line("shr.u64 ", high, ", ", x, ", ", count, ";");
  b.line("shl.b64 ", back, ", ", high, ", ", count, ";");
  switch (b.random.below(4)) {
  case 0: {
    std::string t = b.r64();
    b.line("shl.b64 ", t, ", ", x, ", ", 64 - n, ";");
    b.line("shr.u64 ", low, ", ", t, ", ", 64 - n, ";");
    break;
  }
  case 1:
    b.line("bfe.u64 ", low, ", ", x, ", 0, ", n, ";");
    break;
  case 2:
    b.line("sub.s64 ", low, ", ", x, ", ", back, ";");
    break;
  default:
    b.line("and.b64 ", low, ", ", x, ", ", hex((uint64_t(1) << n) - 1), ";");
  }
  if (b.random.chance(25)) {
    std::string d = b.r64();
    b.line("bfi.b64 ", d, ", ", high, ", ", low, ", ", n, ", ", 64 - n, ";");
    return d;
  }
  return joined(b, back, low);
}

std::string product(Body &b, const std::string &x) {
  const uint64_t factor = b.random.next() | 1;
  uint64_t inverse = factor; // Newton: each step doubles the bits that are right
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - factor * inverse;
  std::string t = b.r64(), d = b.r64();
  b.line("mul.lo.s64 ", t, ", ", x, ", ", constant(b, factor), ";");
  b.line("mul.lo.u64 ", d, ", ", t, ", ", constant(b, inverse), ";");
  return d;
}

std::string there(Body &b, const std::string &x) { // and back
  const uint64_t n = b.random.next();
  std::string t = b.r64(), d = b.r64(), c = constant(b, n);
  switch (b.random.below(6)) {
  case 0:
    b.line("xor.b64 ", t, ", ", x, ", ", c, ";");
    b.line("xor.b64 ", d, ", ", t, ", ", c, ";");
    break;
  case 1:
    b.line("not.b64 ", t, ", ", x, ";");
    b.line("not.b64 ", d, ", ", t, ";");
    break;
  case 2:
    b.line("neg.s64 ", t, ", ", x, ";");
    b.line("neg.s64 ", d, ", ", t, ";");
    break;
  case 3:
    b.line("add.s64 ", t, ", ", x, ", ", c, ";");
    b.line("sub.s64 ", d, ", ", t, ", ", c, ";");
    break;
  case 4:
    b.line("sub.s64 ", t, ", ", c, ", ", x, ";");
    b.line("sub.s64 ", d, ", ", c, ", ", t, ";");
    break;
  default:
    b.line("brev.b64 ", t, ", ", x, ";");
    b.line("brev.b64 ", d, ", ", t, ";");
  }
  return d;
}

std::string quotient(Body &b, const std::string &x) {
  const uint64_t n = b.random.chance(60) ? 2 + b.random.below(4095) : 2 + b.random.next() % (uint64_t(1) << 40);
  std::string q = b.r64(), r = b.r64(), d = b.r64(), c = constant(b, n);
  b.line("div.u64 ", q, ", ", x, ", ", c, ";");
  b.line("rem.u64 ", r, ", ", x, ", ", c, ";");
  if (b.random.chance(50)) {
    b.line("mad.lo.s64 ", d, ", ", q, ", ", c, ", ", r, ";");
  } else {
    std::string t = b.r64();
    b.line("mul.lo.s64 ", t, ", ", q, ", ", c, ";");
    b.line("add.s64 ", d, ", ", t, ", ", r, ";");
  }
  return d;
}

std::string extreme(Body &b, const std::string &x) {
  std::string d = b.r64();
  switch (b.random.below(7)) {
  case 0:
    b.line("min.u64 ", d, ", ", x, ", 0xffffffffffffffff;");
    break;
  case 1:
    b.line("max.u64 ", d, ", ", x, ", ", b.random.below(4096), ";");
    break;
  case 2:
    b.line("sad.u64 ", d, ", ", x, ", 0, 0;");
    break;
  case 3:
    b.line("abs.s64 ", d, ", ", x, ";");
    break;
  case 4: {
    std::string p = b.pred();
    b.line("setp.ne.u64 ", p, ", ", x, ", 0;");
    b.line("selp.b64 ", d, ", ", x, ", ", b.random.below(4096), ", ", p, ";");
    break;
  }
  case 5: {
    std::string n = b.r32();
    b.line("mov.u32 ", n, ", %tid.x;");
    b.line("slct.b64.s32 ", d, ", ", x, ", 64, ", n, ";");
    break;
  }
  default: { // cvt of what fits
    std::string t = b.f64();
    b.line("mov.b64 ", t, ", ", x, ";");
    b.line("mov.b64 ", d, ", ", t, ";");
  }
  }
  return d;
}

std::string logic(Body &b, const std::string &x) {
  const uint64_t mask = anyMask(b.random);
  std::string low = b.r64(), d = b.r64();
  // (x & m) | (x & ~m), with the halves swapped in twice by xor: a ^ ((a ^ x) & m) where a = x & ~m.
  std::string a = b.r64(), t = b.r64();
  b.line("and.b64 ", a, ", ", x, ", ", hex(~mask), ";");
  b.line("xor.b64 ", t, ", ", a, ", ", x, ";");
  b.line("and.b64 ", low, ", ", t, ", ", hex(mask), ";");
  b.line("xor.b64 ", d, ", ", a, ", ", low, ";");
  return d;
}

/// The distance to something, and back from there.
std::string distance(Body &b, const std::string &x) {
  std::string y = b.r64(), t = b.r64(), d = b.r64();
  switch (b.random.below(3)) {
  case 0:
    b.line("and.b64 ", y, ", ", x, ", ", hex(anyMask(b.random)), ";");
    break;
  case 1:
    b.line("shr.u64 ", y, ", ", x, ", ", b.random.below(64), ";");
    break;
  default:
    b.line("mul.lo.u64 ", y, ", ", x, ", ", 2 + b.random.below(100), ";");
  }
  b.line("sub.s64 ", t, ", ", x, ", ", y, ";");
  b.line("add.s64 ", d, ", ", t, ", ", y, ";");
  return d;
}

std::string highProduct(Body &b, const std::string &x) {
  const uint32_t n = 1 + b.random.below(62);
  std::string high = b.r64(), low = b.r64(), t = b.r64(), d = b.r64();
  b.line("mul.hi.u64 ", high, ", ", x, ", ", hex(uint64_t(1) << (64 - n)), ";"); // x >> n
  b.line("mul.lo.u64 ", low, ", ", x, ", ", hex(uint64_t(1) << (64 - n)), ";");  // x << (64 - n)
  b.line("shr.u64 ", t, ", ", low, ", ", 64 - n, ";");
  b.line("mad.lo.u64 ", d, ", ", high, ", ", hex(uint64_t(1) << n), ", ", t, ";");
  return d;
}

/// Bit by bit by whether the value with a number taken away wraps around zero: a comparison of a pointer with a place
/// of its own buffer, to look at.
std::string compared(Body &b, const std::string &x) {
  std::string known = b.r64(), bit = b.r64(), loop = b.label(), more = b.pred();
  b.line("mov.u64 ", known, ", 0;");
  b.line("mov.u64 ", bit, ", 0x400000000000;");
  b.line(loop, ":");
  std::string guess = b.r64(), rest = b.r64(), isAbove = b.pred();
  b.line(b.random.one({"or.b64 ", "add.s64 "}), guess, ", ", known, ", ", bit, ";");
  switch (b.random.below(4)) {
  case 0:
    b.line("sub.s64 ", rest, ", ", x, ", ", guess, ";");
    b.line("setp.lt.u64 ", isAbove, ", ", rest, ", ", x, ";");
    break;
  case 1: {
    std::string negative = b.r64();
    b.line("neg.s64 ", negative, ", ", guess, ";");
    b.line("add.s64 ", rest, ", ", x, ", ", negative, ";");
    b.line("setp.gt.u64 ", isAbove, ", ", x, ", ", rest, ";");
    break;
  }
  case 2: {
    std::string least = b.r64();
    b.line("sub.s64 ", rest, ", ", x, ", ", guess, ";");
    b.line("min.u64 ", least, ", ", rest, ", ", x, ";");
    b.line("setp.eq.s64 ", isAbove, ", ", least, ", ", rest, ";");
    break;
  }
  default:
    b.line("setp.ge.u64 ", isAbove, ", ", x, ", ", guess, ";");
  }
  if (b.random.chance(50)) {
    b.line("selp.b64 ", known, ", ", guess, ", ", known, ", ", isAbove, ";");
  } else if (b.random.chance(50)) {
    b.line("@", isAbove, " mov.u64 ", known, ", ", guess, ";");
  } else {
    std::string over = b.label();
    b.line("@!", isAbove, " bra ", over, ";");
    b.line("mov.u64 ", known, ", ", guess, ";");
    b.line(over, ":");
  }
  b.line("shr.u64 ", bit, ", ", bit, ", 1;");
  b.line("setp.ne.s64 ", more, ", ", bit, ", 0;");
  b.line("@", more, " bra ", loop, ";");
  return known;
}

/// 128 bits, or a double that is denormal: its sums are those of its bits.
std::string wide(Body &b, const std::string &x) {
  std::string d = b.r64();
  if (b.random.chance(50)) {
    std::string q = b.r128(), r = b.r128(), n = b.r64();
    b.line("mov.u64 ", n, ", ", b.random.below(1000), ";");
    if (b.random.chance(50)) {
      b.line("mov.b128 ", q, ", {", x, ", ", n, "};");
      std::string high = b.r64();
      b.line("mov.b128 {", d, ", ", high, "}, ", q, ";");
    } else {
      b.line("mov.b128 ", q, ", {", n, ", ", x, "};");
      std::string low = b.r64(), other = b.r64();
      b.line("mov.b128 {", low, ", ", other, "}, ", q, ";");
      b.line("mov.b128 ", r, ", {", other, ", ", low, "};");
      b.line("mov.b128 {", d, ", ", n, "}, ", r, ";");
    }
    return d;
  }
  std::string f = b.f64(), g = b.f64(), h = b.f64();
  b.line("mov.b64 ", f, ", ", x, ";");
  switch (b.random.below(3)) {
  case 0:
    b.line("add.rn.f64 ", g, ", ", f, ", 0d0000000000000000;");
    b.line("max.f64 ", h, ", ", g, ", 0d0000000000000000;");
    break;
  case 1:
    b.line("neg.f64 ", g, ", ", f, ";");
    b.line("abs.f64 ", h, ", ", g, ";");
    break;
  default:
    b.line("mul.rn.f64 ", g, ", ", f, ", 0d4000000000000000;");
    b.line("mul.rn.f64 ", h, ", ", g, ", 0d3FE0000000000000;");
  }
  b.line("mov.b64 ", d, ", ", h, ";");
  return d;
}

constexpr ValueWay kWays[] = {
    {"split", Class::Arithmetic, split},
    {"shifted", Class::Arithmetic, shifted},
    {"product", Class::Arithmetic, product},
    {"there-and-back", Class::Arithmetic, there},
    {"quotient", Class::Arithmetic, quotient},
    {"extreme", Class::Arithmetic, extreme},
    {"logic", Class::Arithmetic, logic},
    {"distance", Class::Arithmetic, distance},
    {"high-product", Class::Arithmetic, highProduct},
    {"compared", Class::Predicates, compared},
    {"wide", Class::Arithmetic, wide},
};

} // namespace

std::span<const ValueWay> arithmeticWays() {
  return kWays;
}

} // namespace tenon::proof
