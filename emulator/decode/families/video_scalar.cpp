// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scalar video instructions: vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset and vmad. Each takes a byte, a half
// or the whole of its operands, computes with more than 32 bits, and may clamp the result, combine it with a third
// operand or put it into a byte or half of that. Devices since sm_50 have them as sequences of others; ptxas takes them
// for every target.
//
// What an H200 (ptxas 13.0) answers agrees with the PTX ISA where nothing is clamped. `.sat`, vmad's `.shr7` and
// `.shr15`, the part `.b3` of the second source and `.h1` of the destination do not: there the ISA says one thing and
// the device another, and nobody can rely on either. They are refused.
//
// Source: PTX ISA, "Scalar Video Instructions".
#include "emulator/decode/decoder.h"
#include "emulator/decode/families/video_operand.h"
#include "emulator/decode/opcode.h"
#include "emulator/machine/lanes.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;
using TENON_LEVEL::at;

enum class ScalarVideoOp : uint8_t { Add, Sub, AbsoluteDifference, Min, Max, Shl, Shr, Set };
enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
enum class Second : uint8_t { None, Add, Merge };

/// Which bits of a word an operand is.
struct Part {
  uint32_t shift = 0, bits = 32;
  uint32_t pack() const { return shift | bits << 8; }
  static Part unpack(uint32_t packed) { return {packed & 0xff, packed >> 8 & 0xff}; }
};

/// What an instruction says besides its operands, packed into Decoded::imm.
struct ScalarForm {
  Part a, b, d;
  bool signedA = false, signedB = false, signedResult = false, wraps = false;
  Second second = Second::None;
  Comparison comparison = Comparison::Eq;

  int64_t pack() const {
    const uint64_t flags = uint64_t(signedA) | uint64_t(signedB) << 1 | uint64_t(signedResult) << 2 |
                           uint64_t(wraps) << 4 | uint64_t(second) << 5 | uint64_t(comparison) << 8;
    return static_cast<int64_t>(a.pack() | uint64_t(b.pack()) << 16 | uint64_t(d.pack()) << 32 | flags << 48);
  }
  static ScalarForm unpack(int64_t packed) {
    const uint64_t bits = static_cast<uint64_t>(packed), flags = bits >> 48;
    ScalarForm form;
    form.a = Part::unpack(bits & 0xffff);
    form.b = Part::unpack(bits >> 16 & 0xffff);
    form.d = Part::unpack(bits >> 32 & 0xffff);
    form.signedA = flags & 1;
    form.signedB = flags >> 1 & 1;
    form.signedResult = flags >> 2 & 1;
    form.wraps = flags >> 4 & 1;
    form.second = static_cast<Second>(flags >> 5 & 7);
    form.comparison = static_cast<Comparison>(flags >> 8 & 7);
    return form;
  }
};

int64_t extract(uint32_t word, Part part, bool isSigned) {
  const uint32_t above = 32 - part.bits - part.shift;
  const uint32_t top = word << above;
  return isSigned ? static_cast<int32_t>(top) >> (32 - part.bits) : static_cast<int64_t>(top >> (32 - part.bits));
}

bool holds(Comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
  case Comparison::Eq:
    return a == b;
  case Comparison::Ne:
    return a != b;
  case Comparison::Lt:
    return a < b;
  case Comparison::Le:
    return a <= b;
  case Comparison::Gt:
    return a > b;
  case Comparison::Ge:
    return a >= b;
  }
  return false;
}

template <ScalarVideoOp Op> int64_t compute(const ScalarForm &form, int64_t a, int64_t b) {
  switch (Op) {
  case ScalarVideoOp::Add:
    return a + b;
  case ScalarVideoOp::Sub:
    return a - b;
  case ScalarVideoOp::AbsoluteDifference:
    return a > b ? a - b : b - a;
  case ScalarVideoOp::Min:
    return std::min(a, b);
  case ScalarVideoOp::Max:
    return std::max(a, b);
  case ScalarVideoOp::Shl:
  case ScalarVideoOp::Shr: {
    const int64_t count = form.wraps ? b & 31 : std::min<int64_t>(b, 32);
    return Op == ScalarVideoOp::Shl ? static_cast<int64_t>(static_cast<uint64_t>(a) << count) : a >> count;
  }
  case ScalarVideoOp::Set:
    return holds(form.comparison, a, b);
  }
  return 0;
}

/// The result and the third operand together.
uint32_t combine(const ScalarForm &form, uint32_t value, uint32_t c) {
  const uint32_t mask = (form.d.bits == 32 ? ~0u : (1u << form.d.bits) - 1) << form.d.shift;
  switch (form.second) {
  case Second::None:
    break;
  case Second::Add:
    return value + c;
  case Second::Merge:
    return (value << form.d.shift & mask) | (c & ~mask);
  }
  return value;
}

template <ScalarVideoOp Op> void scalarVideo(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  const ScalarForm form = ScalarForm::unpack(i.imm);
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    result[l] = combine(form,
                        static_cast<uint32_t>(compute<Op>(form, extract(a[l], form.a, form.signedA),
                                                          extract(b[l], form.b, form.signedB))),
                        c[l]);
  }
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

/// vmad: `imm` as above; flags that only it has.
constexpr uint8_t kNegatesProduct = 1, kNegatesAddend = 2, kPlusOne = 4;

/// The low 32 bits, which do not depend on signs beyond those of the sources.
void videoMad(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  const ScalarForm form = ScalarForm::unpack(i.imm);
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t product = static_cast<uint32_t>(extract(a[l], form.a, form.signedA)) *
                             static_cast<uint32_t>(extract(b[l], form.b, form.signedB));
    result[l] = (i.flag & kNegatesProduct ? 0 - product : product) + (i.flag & kNegatesAddend ? 0 - c[l] : c[l]) +
                (i.flag & kPlusOne ? 1 : 0);
  }
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

constexpr const char *kDisputed = "devices answer otherwise than the PTX ISA says";

/// `selector`: empty, b0 to b3, h0 or h1.
bool partOf(Decoder &decoder, std::string_view selector, Part &part) {
  if (selector.empty())
    return true;
  const uint32_t bits = selector[0] == 'b' ? 8 : 16, index = static_cast<uint32_t>(selector.back() - '0');
  if (selector.size() != 2 || index >= 32 / bits)
    return decoder.fail("'." + std::string(selector) + "' is no part of a register; '" + decoder.in().form() +
                        "' takes .b0 to .b3, .h0 and .h1");
  part = {index * bits, bits};
  return true;
}

/// A source with its selector.
bool partSource(Decoder &decoder, const Operand &operand, Part &part, uint32_t &out, bool negates = false) {
  std::string_view selector;
  Operand plain = withoutSelector(operand, selector);
  if (negates)
    plain.minus = false;
  return partOf(decoder, selector, part) && decoder.source(plain, ScalarType::U32, out);
}

bool isWord(ScalarType type) {
  return type == ScalarType::U32 || type == ScalarType::S32;
}

/// Destination, sources, and what the third operand is for.
bool scalarOperands(Decoder &decoder, ScalarForm &what, Decoded &decoded) {
  const ptx::List<Operand> &o = decoder.in().operands;
  std::string_view selector;
  const Operand destination = withoutSelector(o[0], selector);
  if (!partOf(decoder, selector, what.d))
    return false;
  std::string_view ofB;
  withoutSelector(o[2], ofB);
  if (selector == "h1" || ofB == "b3")
    return decoder.unsupported(kDisputed);
  if (!selector.empty() && (what.second != Second::None || o.size() < 4))
    return decoder.fail("'" + decoder.in().form() +
                        "' writes a part of its destination: it needs a third source, and no " + "secondary operation");
  if (what.second != Second::None && o.size() < 4)
    return decoder.fail("'" + decoder.in().form() + "' has a secondary operation and needs a third source");
  if (!selector.empty())
    what.second = Second::Merge;
  if (!decoder.destination(destination, ScalarType::U32, decoded.d) || !partSource(decoder, o[1], what.a, decoded.a) ||
      !partSource(decoder, o[2], what.b, decoded.b))
    return false;
  decoded.c = decoder.constant(0, 4);
  return o.size() == 3 || decoder.source(o[3], ScalarType::U32, decoded.c);
}

Second takeSecond(Form &form) {
  return form.take("add") ? Second::Add : Second::None;
}

/// vop.dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}; shifts have .clamp or .wrap before .op2
template <ScalarVideoOp Op> bool decodeScalarVideo(Decoder &decoder) {
  constexpr bool kShifts = Op == ScalarVideoOp::Shl || Op == ScalarVideoOp::Shr;
  Form form(decoder.in());
  ScalarForm what;
  const ScalarType d = form.takeType(), a = form.takeType(), b = form.takeType();
  if (!isWord(d) || !isWord(a) || !isWord(b) || (kShifts && b != ScalarType::U32))
    return decoder.unsupported();
  what.signedResult = d == ScalarType::S32;
  what.signedA = a == ScalarType::S32;
  what.signedB = b == ScalarType::S32;
  if (form.takeOneOf({"sat", "min", "max"}) >= 0)
    return decoder.unsupported(kDisputed);
  if (kShifts) {
    const int mode = form.takeOneOf({"clamp", "wrap"});
    if (mode < 0)
      return decoder.fail("'" + decoder.in().form() + "' needs .clamp or .wrap");
    what.wraps = mode == 1;
  }
  what.second = takeSecond(form);
  Decoded decoded;
  if (!scalarOperands(decoder, what, decoded))
    return false;
  decoded.imm = what.pack();
  decoded.handler = &scalarVideo<Op>;
  return decoder.finish(form, decoded);
}

/// vset.atype.btype.cmp{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}; the result is unsigned
bool decodeScalarSet(Decoder &decoder) {
  Form form(decoder.in());
  ScalarForm what;
  const ScalarType a = form.takeType(), b = form.takeType();
  const int comparison = form.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"});
  if (!isWord(a) || !isWord(b) || comparison < 0)
    return decoder.unsupported();
  what.signedA = a == ScalarType::S32;
  what.signedB = b == ScalarType::S32;
  what.comparison = static_cast<Comparison>(comparison);
  if (form.takeOneOf({"min", "max"}) >= 0)
    return decoder.unsupported(kDisputed);
  what.second = takeSecond(form);
  Decoded decoded;
  if (!scalarOperands(decoder, what, decoded))
    return false;
  decoded.imm = what.pack();
  decoded.handler = &scalarVideo<ScalarVideoOp::Set>;
  return decoder.finish(form, decoded);
}

/// vmad.dtype.atype.btype{.po}{.sat}{.scale} d, {-}a{.asel}, {-}b{.bsel}, {-}c
bool decodeVideoMad(Decoder &decoder) {
  Form form(decoder.in());
  const ptx::List<Operand> &o = decoder.in().operands;
  ScalarForm what;
  const ScalarType d = form.takeType(), a = form.takeType(), b = form.takeType();
  if (!isWord(d) || !isWord(a) || !isWord(b))
    return decoder.unsupported();
  what.signedA = a == ScalarType::S32;
  what.signedB = b == ScalarType::S32;
  const bool plusOne = form.take("po");
  if (form.takeOneOf({"sat", "min", "max"}) >= 0)
    return decoder.unsupported(kDisputed);
  if (form.takeOneOf({"shr7", "shr15"}) >= 0)
    return decoder.unsupported(kDisputed);
  const bool negatesProduct = o[1].minus != o[2].minus, negatesAddend = o[3].minus;
  if (plusOne && (o[1].minus || o[2].minus || negatesAddend))
    return decoder.fail("'" + decoder.in().form() + "' adds one: its operands have no minus");
  if (negatesProduct && negatesAddend)
    return decoder.fail("'" + decoder.in().form() + "' negates the product or the addend, not both");
  Decoded decoded;
  decoded.flag = static_cast<uint8_t>((negatesProduct ? kNegatesProduct : 0) | (negatesAddend ? kNegatesAddend : 0) |
                                      (plusOne ? kPlusOne : 0));
  Operand addend = o[3];
  addend.minus = false;
  if (!decoder.destination(o[0], ScalarType::U32, decoded.d) || !partSource(decoder, o[1], what.a, decoded.a, true) ||
      !partSource(decoder, o[2], what.b, decoded.b, true) || !decoder.source(addend, ScalarType::U32, decoded.c))
    return false;
  decoded.imm = what.pack();
  decoded.handler = &videoMad;
  return decoder.finish(form, decoded);
}

} // namespace

namespace families {
Family videoScalar() {
  static constexpr OperandCount kThreeOrFour = {3, 4};
  static constexpr Opcode kRows[] = {
      {"vadd", &decodeScalarVideo<ScalarVideoOp::Add>, {}, kThreeOrFour},
      {"vsub", &decodeScalarVideo<ScalarVideoOp::Sub>, {}, kThreeOrFour},
      {"vabsdiff", &decodeScalarVideo<ScalarVideoOp::AbsoluteDifference>, {}, kThreeOrFour},
      {"vmin", &decodeScalarVideo<ScalarVideoOp::Min>, {}, kThreeOrFour},
      {"vmax", &decodeScalarVideo<ScalarVideoOp::Max>, {}, kThreeOrFour},
      {"vshl", &decodeScalarVideo<ScalarVideoOp::Shl>, {}, kThreeOrFour},
      {"vshr", &decodeScalarVideo<ScalarVideoOp::Shr>, {}, kThreeOrFour},
      {"vset", &decodeScalarSet, {}, kThreeOrFour},
      {"vmad", &decodeVideoMad, {}, {4, 4}},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
