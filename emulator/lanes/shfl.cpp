// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/lanes/shfl.h"

#include "emulator/check/lane_addresses.h"
#include "emulator/machine/decoded_kernel.h"

namespace tenon::emulator::TENON_LEVEL {
namespace {

void finish(Warp &warp, const Decoded &i, const uint32_t (&result)[kLanes], uint32_t valid, uint32_t mask) {
  if (i.d != kNoOperand)
    write(at<uint32_t>(warp, i.d), result, mask);
  if (i.target != kNoOperand) // the predicate destination; `e` is the member mask
    writeMask(warp, i.target, valid, mask);
}

template <ShuffleMode Mode> void shuffle(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  uint32_t result[kLanes], valid = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    bool inRange = false;
    result[l] = a[shuffleSource(Mode, l, b[l], c[l], inRange)];
    valid |= static_cast<uint32_t>(inRange) << l;
  }
  finish(warp, i, result, valid, mask);
}

/// The table is at `list`.
void shuffleFixed(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a);
  const FixedShuffle &table = *reinterpret_cast<const FixedShuffle *>(vectorOperands(warp, i));
  alignas(32) uint32_t result[kLanes];
#ifdef __AVX2__
  if (table.blocks) {
    for (uint32_t g = 0; g < kEights; ++g) {
      auto block = [&](uint32_t k) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(a + 8 * k)); };
      auto words = [&](const uint32_t *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); };
      __m256i lanes = words(table.lane + 8 * g); // of which the low three bits count
      __m256i value = _mm256_permutevar8x32_epi32(block(table.first[g]), lanes);
      if (table.second[g] != table.first[g])
        value = _mm256_blendv_epi8(value, _mm256_permutevar8x32_epi32(block(table.second[g]), lanes),
                                   words(table.fromSecond + 8 * g));
      _mm256_store_si256(reinterpret_cast<__m256i *>(result + 8 * g), value);
    }
    return finish(warp, i, result, table.valid, mask);
  }
#endif
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = a[table.lane[l]];
  finish(warp, i, result, table.valid, mask);
}

} // namespace

Handler shuffleHandler(ShuffleMode mode, bool isFixed) {
  if (isFixed)
    return &shuffleFixed;
  switch (mode) {
  case ShuffleMode::Up:
    return &shuffle<ShuffleMode::Up>;
  case ShuffleMode::Down:
    return &shuffle<ShuffleMode::Down>;
  case ShuffleMode::Butterfly:
    return &shuffle<ShuffleMode::Butterfly>;
  case ShuffleMode::Index:
    return &shuffle<ShuffleMode::Index>;
  }
  return nullptr;
}

} // namespace tenon::emulator::TENON_LEVEL
