// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The video instructions on the two halves or the four bytes of a word: vadd4, vabsdiff2, vset4 and the like. nvcc
// emits them for __vsadu4, __vabsdiffu4 and their kin. Selectors take parts of both sources in any order (`%r1.b7531`),
// a mask at the destination says which parts are computed (`%r1.h0`): the others come from the third source, or add
// nothing.
//
// Source: PTX ISA, "SIMD Video Instructions".
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

enum class VideoOp : uint8_t { Add, Sub, Average, AbsoluteDifference, Min, Max, Eq, Ne, Lt, Le, Gt, Ge };
// Decoded::flag
constexpr uint8_t kSignedA = 1, kSignedB = 2, kSignedResult = 4, kSaturates = 8, kAccumulates = 16;

/// Which parts are taken: of the sources four bits each, counted through a and b, and which of the result are computed.
/// Packed into Decoded::imm.
struct Selection {
  uint32_t a = 0x3210, b = 0x7654, parts = 0xf;
  int64_t pack() const { return static_cast<int64_t>(a | static_cast<uint64_t>(b) << 16 | uint64_t(parts) << 32); }
  static Selection unpack(int64_t packed) {
    const uint64_t bits = static_cast<uint64_t>(packed);
    return {static_cast<uint32_t>(bits & 0xffff), static_cast<uint32_t>(bits >> 16 & 0xffff),
            static_cast<uint32_t>(bits >> 32)};
  }
};

int32_t compute(VideoOp op, int32_t a, int32_t b) {
  switch (op) {
  case VideoOp::Add:
    return a + b;
  case VideoOp::Sub:
    return a - b;
  case VideoOp::Average: // halves away from zero where the sum is positive
    return (a + b + (a + b >= 0)) >> 1;
  case VideoOp::AbsoluteDifference:
    return a > b ? a - b : b - a;
  case VideoOp::Min:
    return std::min(a, b);
  case VideoOp::Max:
    return std::max(a, b);
  case VideoOp::Eq:
    return a == b;
  case VideoOp::Ne:
    return a != b;
  case VideoOp::Lt:
    return a < b;
  case VideoOp::Le:
    return a <= b;
  case VideoOp::Gt:
    return a > b;
  case VideoOp::Ge:
    return a >= b;
  }
  return 0;
}

/// Part `k` of `word`, of `Bits` bits.
template <uint32_t Bits> int32_t part(uint32_t word, uint32_t k, bool isSigned) {
  uint32_t above = 32 - Bits - k * Bits;
  return isSigned ? static_cast<int32_t>(word << above) >> (32 - Bits)
                  : static_cast<int32_t>(word << above >> (32 - Bits));
}

/// d = {op(a, b) by parts}; kAccumulates: d = c + their sum.
template <VideoOp Op, uint32_t Bits> void video(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  const bool isSigned = i.flag & kSignedResult;
  const int32_t least = isSigned ? -(1 << (Bits - 1)) : 0;
  const int32_t most = isSigned ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t sum = c[l], merged = 0;
    for (uint32_t k = 0; k < 32 / Bits; ++k) {
      int32_t value = compute(Op, part<Bits>(a[l], k, i.flag & kSignedA), part<Bits>(b[l], k, i.flag & kSignedB));
      if (i.flag & kSaturates)
        value = std::clamp(value, least, most);
      sum += static_cast<uint32_t>(value);
      merged |= (static_cast<uint32_t>(value) & ((1u << Bits) - 1)) << (k * Bits);
    }
    result[l] = i.flag & kAccumulates ? sum : merged;
  }
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

/// The same with any selection. Parts that are not computed are those of c.
template <VideoOp Op, uint32_t Bits> void videoSelected(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  constexpr uint32_t kParts = 32 / Bits;
  const Selection selection = Selection::unpack(i.imm);
  const bool isSigned = i.flag & kSignedResult;
  const int32_t least = isSigned ? -(1 << (Bits - 1)) : 0;
  const int32_t most = isSigned ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    auto take = [&](uint32_t which, bool isSignedPart) {
      return part<Bits>(which < kParts ? a[l] : b[l], which % kParts, isSignedPart);
    };
    uint32_t sum = c[l], merged = c[l];
    for (uint32_t k = 0; k < kParts; ++k) {
      if (!(selection.parts >> k & 1))
        continue;
      int32_t value = compute(Op, take(selection.a >> (4 * k) & 7, i.flag & kSignedA),
                              take(selection.b >> (4 * k) & 7, i.flag & kSignedB));
      if (i.flag & kSaturates)
        value = std::clamp(value, least, most);
      sum += static_cast<uint32_t>(value);
      const uint32_t place = ((1u << Bits) - 1) << (k * Bits);
      merged = (merged & ~place) | (static_cast<uint32_t>(value) << (k * Bits) & place);
    }
    result[l] = i.flag & kAccumulates ? sum : merged;
  }
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

/// A source's selector: as many digits as there are parts, the highest part first.
template <uint32_t Bits> bool selectParts(Decoder &decoder, std::string_view selector, uint32_t &out) {
  constexpr uint32_t kParts = 32 / Bits;
  if (selector.empty())
    return true;
  bool fits = selector.size() == kParts + 1 && selector[0] == (Bits == 8 ? 'b' : 'h');
  out = 0;
  for (char digit : selector.substr(1)) {
    fits &= digit >= '0' && digit < char('0' + 2 * kParts);
    out = out << 4 | static_cast<uint32_t>(digit - '0');
  }
  return fits || decoder.fail("'." + std::string(selector) + "' selects nothing of the sources of '" +
                              decoder.in().form() + "', as " + (Bits == 8 ? "'.b7654'" : "'.h32'") + " does");
}

/// A destination's mask: the digits of the parts that are computed, the highest first.
template <uint32_t Bits> bool selectMask(Decoder &decoder, std::string_view selector, uint32_t &out) {
  constexpr uint32_t kParts = 32 / Bits;
  out = (1u << kParts) - 1;
  if (selector.empty())
    return true;
  bool fits = selector.size() > 1 && selector[0] == (Bits == 8 ? 'b' : 'h');
  out = 0;
  char last = '0' + kParts;
  for (char digit : selector.substr(1)) {
    fits &= digit >= '0' && digit < last;
    last = digit;
    out |= 1u << (digit & 7);
  }
  return fits || decoder.fail("'." + std::string(selector) + "' is no mask of the destination of '" +
                              decoder.in().form() + "', as " + (Bits == 8 ? "'.b310'" : "'.h1'") + " is");
}

/// d{.mask}, a{.asel}, b{.bsel}, c
template <VideoOp Op, uint32_t Bits> bool decodeOperands(Decoder &decoder, Form &form, Decoded &decoded) {
  const ptx::List<Operand> &o = decoder.in().operands;
  Selection chosen;
  if (Bits == 16)
    chosen = {0x10, 0x32, 3};
  const Selection all = chosen;
  std::string_view ofD, ofA, ofB;
  const Operand d = withoutSelector(o[0], ofD), a = withoutSelector(o[1], ofA), b = withoutSelector(o[2], ofB);
  if (!selectMask<Bits>(decoder, ofD, chosen.parts) || !selectParts<Bits>(decoder, ofA, chosen.a) ||
      !selectParts<Bits>(decoder, ofB, chosen.b) || !decoder.destination(d, ScalarType::U32, decoded.d) ||
      !decoder.source(a, ScalarType::U32, decoded.a) || !decoder.source(b, ScalarType::U32, decoded.b) ||
      !decoder.source(o[3], ScalarType::U32, decoded.c))
    return false;
  decoded.imm = chosen.pack();
  decoded.handler = chosen.pack() == all.pack() ? &video<Op, Bits> : &videoSelected<Op, Bits>;
  return decoder.finish(form, decoded);
}

bool takeSign(Form &form, uint8_t isSigned, Decoded &decoded) {
  const ScalarType type = form.takeType();
  decoded.flag |= type == ScalarType::S32 ? isSigned : 0;
  return type == ScalarType::U32 || type == ScalarType::S32;
}

/// vop{2,4}.dtype.atype.btype{.sat} d, a, b, c and vop{2,4}.dtype.atype.btype.add d, a, b, c
template <VideoOp Op, uint32_t Bits> bool decodeVideo(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  if (!takeSign(form, kSignedResult, decoded) || !takeSign(form, kSignedA, decoded) ||
      !takeSign(form, kSignedB, decoded))
    return decoder.unsupported();
  if (form.take("add"))
    decoded.flag |= kAccumulates;
  else if (form.take("sat"))
    decoded.flag |= kSaturates;
  return decodeOperands<Op, Bits>(decoder, form, decoded);
}

/// vset{2,4}.atype.btype.cmp{.add} d, a, b, c
template <uint32_t Bits> bool decodeVideoSet(Decoder &decoder) {
  Form form(decoder.in());
  Decoded decoded;
  if (!takeSign(form, kSignedA, decoded) || !takeSign(form, kSignedB, decoded))
    return decoder.unsupported();
  const int comparison = form.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"});
  if (form.take("add"))
    decoded.flag |= kAccumulates;
  switch (comparison) {
  case 0:
    return decodeOperands<VideoOp::Eq, Bits>(decoder, form, decoded);
  case 1:
    return decodeOperands<VideoOp::Ne, Bits>(decoder, form, decoded);
  case 2:
    return decodeOperands<VideoOp::Lt, Bits>(decoder, form, decoded);
  case 3:
    return decodeOperands<VideoOp::Le, Bits>(decoder, form, decoded);
  case 4:
    return decodeOperands<VideoOp::Gt, Bits>(decoder, form, decoded);
  case 5:
    return decodeOperands<VideoOp::Ge, Bits>(decoder, form, decoded);
  default:
    return decoder.unsupported();
  }
}

} // namespace

namespace families {
Family video() {
  static constexpr OperandCount kFour = {4, 4};
  static constexpr Opcode kRows[] = {
      {"vadd2", &decodeVideo<VideoOp::Add, 16>, {}, kFour},
      {"vadd4", &decodeVideo<VideoOp::Add, 8>, {}, kFour},
      {"vsub2", &decodeVideo<VideoOp::Sub, 16>, {}, kFour},
      {"vsub4", &decodeVideo<VideoOp::Sub, 8>, {}, kFour},
      {"vavrg2", &decodeVideo<VideoOp::Average, 16>, {}, kFour},
      {"vavrg4", &decodeVideo<VideoOp::Average, 8>, {}, kFour},
      {"vabsdiff2", &decodeVideo<VideoOp::AbsoluteDifference, 16>, {}, kFour},
      {"vabsdiff4", &decodeVideo<VideoOp::AbsoluteDifference, 8>, {}, kFour},
      {"vmin2", &decodeVideo<VideoOp::Min, 16>, {}, kFour},
      {"vmin4", &decodeVideo<VideoOp::Min, 8>, {}, kFour},
      {"vmax2", &decodeVideo<VideoOp::Max, 16>, {}, kFour},
      {"vmax4", &decodeVideo<VideoOp::Max, 8>, {}, kFour},
      {"vset2", &decodeVideoSet<16>, {}, kFour},
      {"vset4", &decodeVideoSet<8>, {}, kFour},
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
