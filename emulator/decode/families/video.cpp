// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The video instructions on the two halves or the four bytes of a word: vadd4, vabsdiff2 and the like. nvcc emits them
// for __vsadu4, __vabsdiffu4 and their kin. Byte selectors and masks are refused.
//
// Source: PTX ISA, "SIMD Video Instructions".
#include "emulator/decode/decoder.h"
#include "emulator/decode/opcode.h"
#include "emulator/machine/lanes.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

using ptx::Operand;
using ptx::ScalarType;
using TENON_LEVEL::at;

enum class VideoOp : uint8_t { Add, Sub, Average, AbsoluteDifference, Min, Max };
// Decoded::flag
constexpr uint8_t kSignedA = 1, kSignedB = 2, kSignedResult = 4, kSaturates = 8, kAccumulates = 16;

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

/// vop{2,4}.dtype.atype.btype{.sat} d, a, b, c and vop{2,4}.dtype.atype.btype.add d, a, b, c
template <VideoOp Op, uint32_t Bits> bool decodeVideo(Decoder &decoder) {
  Form form(decoder.in());
  const ScalarType types[3] = {form.takeType(), form.takeType(), form.takeType()};
  Decoded decoded;
  constexpr uint8_t kSigned[3] = {kSignedResult, kSignedA, kSignedB};
  for (size_t k = 0; k < 3; ++k) {
    if (types[k] != ScalarType::U32 && types[k] != ScalarType::S32)
      return decoder.unsupported();
    decoded.flag |= types[k] == ScalarType::S32 ? kSigned[k] : 0;
  }
  if (form.take("add"))
    decoded.flag |= kAccumulates;
  else if (form.take("sat"))
    decoded.flag |= kSaturates;
  const ptx::List<Operand> &o = decoder.in().operands;
  if (!decoder.destination(o[0], ScalarType::U32, decoded.d) || !decoder.source(o[1], ScalarType::U32, decoded.a) ||
      !decoder.source(o[2], ScalarType::U32, decoded.b) || !decoder.source(o[3], ScalarType::U32, decoded.c))
    return false;
  decoded.handler = &video<Op, Bits>;
  return decoder.finish(form, decoded);
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
  };
  return kRows;
}
} // namespace families

} // namespace tenon::emulator
