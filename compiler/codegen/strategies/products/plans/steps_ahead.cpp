// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/steps_ahead.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/operands/run_inputs.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarpsOfRing = 8, kTurnsOfRing = 2; // with four turns, or each step for itself, it is slower
constexpr uint32_t kMostFewOfRing = 8, kMostFewOfRounds = 16;
constexpr uint32_t kFewRowsOfLane = 2, kManyRowsOfLane = 4; // more take more registers than there are
constexpr int64_t kDepthOfFourBits = 128;                   // of a step: 16 bytes of each of four lanes
// Reduced elements; of more than kMostOfTurns warps have many rounds, and blocks that go from tile to tile may be
// faster for so many rows. Columns: of fewer, blocks are too few; of no more than kMostAcrossOfNarrow, tiles of 16
// columns run all at once, three blocks of a multiprocessor.
constexpr int64_t kLeastOfRounds = 4096, kMostOfTurns = kDepthOfFourBits * kWarpsOfRing * kMostStepsInTurn;
constexpr int64_t kMostRowsOfRing = 4, kLeastAcrossOfRounds = 1024, kLeastAcrossOfLong = 3840;
constexpr int64_t kMostAcrossOfNarrow = 3 * abi::kHopperMultiprocessors * 16;

SkinnyShape ringOf(bool fewAreRows, uint32_t few, uint32_t positions) {
  return {.fewAreRows = fewAreRows,
          .few = few,
          .positions = positions,
          .depthWarps = kWarpsOfRing,
          .turns = kTurnsOfRing,
          .isRing = true};
}

} // namespace

bool StepsAhead::canBe(const SkinnyShape &how) const {
  func::FuncOp function = kernel_.function;
  return function->hasAttr(dispatch::kHopperOnlyAttr) && how.few <= (how.isRing ? kMostFewOfRing : kMostFewOfRounds) &&
         !shape_.gatesAxis && mayUseRing(product_, shape_, how);
}

/// Of a sum so long that warps do not take their steps in turn, and tiles that are spread evenly: 8 for each 7 that
/// there would be then.
bool StepsAhead::isRingFaster(const SkinnyShape &how) const {
  if (!canBe(how))
    return false;
  const int64_t across = *shape_.sizeOf(how.fewAreRows ? product_.columns : product_.rows);
  const int64_t tiles = llvm::divideCeil(across, widePerBlock(how, threadsAhead(how)));
  return int64_t(llvm::divideCeil(tiles, kBlocksOfRing)) * kBlocksOfRing * 7 <= tiles * 8;
}

/// Whether those of a round lie beside each other, and a warp has whole rounds.
bool StepsAhead::haveScalesInOneLoad(const SkinnyShape &how) const {
  const Operand &wide = wideOf(how.fewAreRows);
  return canBe(how) && llvm::all_of(wide.inputs, [&](const OperandInput &input) {
           const uint32_t width = product_.widthOf(wide, shape_);
           return RunInputs::bytesOf(input, shape_, wide.vectorAxis, width) == skinny::kRingCopied ||
                  isBesideNext(product_, shape_, how, input);
         });
}

std::optional<SkinnyShape> StepsAhead::best(bool fewAreRows, uint32_t few) const {
  const Operand &wide = wideOf(fewAreRows);
  const std::optional<int64_t> rows = shape_.sizeOf(fewAreRows ? product_.rows : product_.columns),
                               across = shape_.sizeOf(fewAreRows ? product_.columns : product_.rows),
                               reduced = shape_.sizeOf(product_.reduced);
  if (!product_.tensorCoreElement() || wide.isCopied() || !across || !reduced ||
      skinnyDepth(product_, shape_, wide) != kDepthOfFourBits || *reduced < kLeastOfRounds)
    return std::nullopt;
  const bool isLong = *reduced > kMostOfTurns;
  if (isLong && rows && *rows <= kMostRowsOfRing)
    for (uint32_t each : {kManyRowsOfLane, kFewRowsOfLane})
      if (const SkinnyShape ring = ringOf(fewAreRows, few, each); isRingFaster(ring))
        return ring;
  if (*across < (isLong ? kLeastAcrossOfLong : kLeastAcrossOfRounds) || (few > kMostFewOfRing && !isLong))
    return std::nullopt;
  // Of few columns narrow tiles are one round of blocks; of more, what the few are read for counts.
  SkinnyShape how{.fewAreRows = fewAreRows,
                  .few = few,
                  .positions = few > kMostFewOfRing || *across > kMostAcrossOfNarrow ? kManyRowsOfLane : kFewRowsOfLane,
                  .depthWarps = 0};
  struct Round {
    uint32_t warps, turns;
  };
  static constexpr Round kOfLong[] = {{8, 2}}, kOfOthers[] = {{8, 4}, {4, 4}, {4, 2}};
  for (auto [warps, turns] : isLong ? ArrayRef(kOfLong) : ArrayRef(kOfOthers)) {
    how.depthWarps = warps, how.turns = turns;
    if (haveScalesInOneLoad(how))
      return how;
  }
  return std::nullopt;
}

std::vector<SkinnyShape> StepsAhead::all(bool fewAreRows, uint32_t few) const {
  std::vector<SkinnyShape> found;
  auto add = [&](const SkinnyShape &how) {
    if (canBe(how))
      found.push_back(how);
  };
  for (uint32_t each : {kFewRowsOfLane, kManyRowsOfLane}) {
    const SkinnyShape ring = ringOf(fewAreRows, few, each);
    add(ring);
    for (uint32_t warps : {4u, 8u})
      for (uint32_t turns = 2; turns <= 8; turns *= 2) {
        SkinnyShape rounds = ring;
        rounds.depthWarps = warps, rounds.turns = turns, rounds.isRing = false;
        add(rounds);
      }
  }
  return found;
}

} // namespace tenon::compiler::codegen
