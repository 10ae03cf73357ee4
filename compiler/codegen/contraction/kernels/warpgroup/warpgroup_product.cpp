// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"

#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"
#include "compiler/codegen/ptx/rewrites/early_launch.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Value WarpgroupProduct::items() {
  return isShared() ? shared_->items() : first_.tiles();
}

/// Every other round goes backwards: who has the longest tile of one round has the shortest of the next.
Value WarpgroupProduct::forEachUnevenTile(llvm::function_ref<void(Tile &, const Part &)> body) {
  Value inRound = k_.div(k_.blocks(), k_.number(kernel_.cluster)), one = k_.number(1);
  Value rounds = k_.div(k_.add(items(), k_.sub(inRound, one)), inRound);
  return k_
      .loop(k_.number(0), rounds, one, k_.number(0),
            [&](Value round, ValueRange carried) {
              Bodies::Scope scope(kernel_.bodies);
              Value isForward = k_.equal(k_.rem(round, k_.number(2)), k_.number(0));
              Value inThis = k_.select(isForward, number_, k_.sub(k_.sub(inRound, one), number_));
              Value number = k_.add(k_.mul(round, inRound), inThis), exists = k_.less(number, items());
              Tile tile(kernel_, core_, number);
              Value count = stepsOf(tile.space);
              k_.when(exists, [&] { body(tile, {carried[0], k_.number(0), count, {}}); });
              return Values{k_.select(exists, k_.add(carried[0], count), carried[0])};
            })
      .front();
}

Value WarpgroupProduct::forEachTile(llvm::function_ref<void(Tile &, const Part &)> body) {
  if (!kernel_.product.places.empty())
    return forEachUnevenTile(body);
  Value clusters = k_.number(together());
  return k_
      .loop(number_, items(), k_.div(k_.blocks(), clusters), k_.number(0),
            [&](Value number, ValueRange carried) {
              Bodies::Scope scope(kernel_.bodies);
              if (isDeep()) {
                Tile tile(kernel_, core_, number);
                const StepRange steps = stepsOfBlock(kernel_, count_, rank_);
                Value count = k_.sub(steps.end, steps.begin);
                body(tile, {carried[0], steps.begin, count, {}});
                return Values{k_.add(carried[0], count)};
              }
              if (!isShared()) {
                Tile tile(kernel_, core_, number);
                body(tile, {carried[0], k_.number(0), count_, {}});
                return Values{k_.add(carried[0], count_)};
              }
              const SharedTiles::Item item = shared_->item(number);
              Tile tile(kernel_, core_, item.tile);
              body(tile, {carried[0], item.begin, item.count, item});
              return Values{k_.add(carried[0], item.count)};
            })
      .front();
}

void WarpgroupProduct::forEachStep(const Part &part, llvm::function_ref<void(Value, Value)> body) {
  k_.loop(k_.number(0), part.count, k_.number(1), {}, [&](Value step, ValueRange) {
    body(k_.add(part.first, step), k_.add(part.begin, step));
    return Values();
  });
}

void WarpgroupProduct::run() {
  k_.wantResident(1);
  arena_ = k_.dynamicShared();
  ring_.emplace(k_, inArena(k_.number(ringAt(kernel_.rows, stageColumns()))), stagesOf(kernel_.rows, stageColumns()));
  count_ = stepsOf(first_);
  if (isShared())
    shared_.emplace(k_, first_.tiles(), count_, kernel_.inRound, kernel_.parts);
  // The same for all threads of a warp, and the compiler shall know it.
  group_ = k_.shuffleFrom(k_.div(k_.thread(), k_.number(kGroupThreads)), k_.number(0));
  thread_ = k_.rem(k_.thread(), k_.number(kGroupThreads));
  if (together() > 1)
    k_.requireClusters(together());
  rank_ = k_.rem(k_.block(), k_.number(together()));
  number_ = k_.div(k_.block(), k_.number(together()));
  Tile any(kernel_, core_, number_);
  auto isAligned = [&](OperandTile &tile) {
    return hasMaps() && &tile.operand() == computed_ ? computedTile(any).isAligned() : tile.isAligned();
  };
  isFast_ = kernel_.starts == RowStarts::Split
                ? arith::ConstantIntOp::create(k_.b, k_.loc, k_.b.getI1Type(), 0).getResult()
                : k_.both(isAligned(any.left), isAligned(any.right));
  if (shifts_)
    ring_->useFewer(isFast_, stagesBesideLines(kernel_.rows, stageColumns()));
  // Of a stage: one thread that asks for boxes and one of each warp that computes, all that copy, or both.
  const uint32_t asking = 1 + (computed_ ? kGroupThreads / 32 : 0);
  Value copying = k_.number(kGroupThreads), filling = copying;
  if (hasMaps() || isMixed())
    filling = k_.select(isFast_, k_.number(hasMaps() ? asking : kGroupThreads + 1), copying);
  const uint32_t emptied = readers() * tellers();
  Value emptying = k_.select(isFast_, k_.number(emptied * kernel_.cluster), k_.number(emptied));
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] {
    ring_->create(filling, emptying);
    for (Value map : kernel_.tensorMaps)
      if (map)
        k_.assembly("prefetch.tensormap [$0];", {map}, "l");
  });
  isInCluster() ? k_.meetInCluster() : k_.barrier();
  k_.assembly(kWaitForEarlierLaunches.str(), {}, ""); // barriers and maps are there when the operands are
  if (isShared())
    number_ = takeNumber();
  if (isOfFewBlocks())
    k_.assembly(kLaunchNext.str(), {}, "");
  // The launch may have a block for each of the smaller tiles that other targets compute.
  k_.when(k_.less(number_, items()),
          [&] { k_.branch(k_.less(group_, k_.number(kConsumers)), [&] { consume(); }, [&] { produce(); }); });
  // Others bring bytes to this block's memory, and tell it what they have read.
  if (isInCluster())
    k_.meetInCluster();
}

uint32_t warpgroupDepth(Type element) {
  return kStepBytes * 8 / element.getIntOrFloatBitWidth();
}

static constexpr uint32_t kTallRows = 2 * kConsumers * kGroupRows;
static_assert(kManyColumns == 2 * kMostFittedOfFour);
static_assert(kTallRows * kMostFittedOfFour * sizeof(float) <=
              stagesOf(kTallRows, kMostFittedOfFour) * stageBytesOf(kTallRows, kMostFittedOfFour)); // a cluster's sums

/// Of 128 or 256 rows and a right operand that lies across: instructions read some of the last box.
static bool isFittedAcross(int64_t rows, int64_t columns, const Operand &right) {
  const Type factor = right.factor;
  return (factor.isF16() || factor.isBF16()) && right.value.getType() == factor && !right.isAlongReduced &&
         columns >= kLeastFittedAcross && columns % kFittedMultiple == 0 &&
         ((rows == kConsumers * kGroupRows && columns <= kMostFittedColumns) ||
          (rows == kTallRows && columns <= kMostOfRounds));
}

/// Of 64, 128 or 256 rows, any number of eights for each consumer, where instructions take it. What is added step by
/// step has registers for so many.
static bool isFittedTile(int64_t rows, int64_t columns, const Operand &right) {
  const Type factor = right.factor;
  const bool isFloat =
      factor.isF16() || factor.isBF16() || (isa<FloatType>(factor) && factor.getIntOrFloatBitWidth() == 8);
  const bool isNarrow = factor.getIntOrFloatBitWidth() == 8;
  return isFloat && right.isAlongReduced && columns >= kLeastFittedColumns && columns % kFittedMultiple == 0 &&
         ((rows == kGroupRows && columns <= kMostFittedColumns) ||
          (rows == kConsumers * kGroupRows && columns <= (isNarrow ? kMostFittedOfTwo : kMostFittedColumns)) ||
          (rows == kTallRows && columns <= kMostOfRounds && !isNarrow));
}

bool isWarpgroupTile(int64_t rows, int64_t columns, const Operand &right) {
  if (isFittedTile(rows, columns, right) || isFittedAcross(rows, columns, right))
    return true;
  if (rows == 256)
    return columns == 128;
  if (rows == 128)
    return columns == 64 || columns == 128 || columns == 192 || columns == 256;
  // Across, 64 positions are a block, which two consumers do not share.
  return rows == 64 &&
         (columns == 128 || columns == 256 || ((columns == 64 || columns == 192) && right.isAlongReduced));
}

bool mayCopyRows(const Product &product) {
  return product.tensorCoreElement() || ShiftedLines::mayBring(product);
}

bool mayShiftLines(uint32_t rows, uint32_t columns) {
  // Of each producer one is on its way and one is shifted, and one is multiplied: with fewer, they wait for each other.
  constexpr uint32_t kLeast = 5;
  return stagesBesideLines(rows, columns) >= kLeast;
}

uint32_t warpgroupSharedBytes(uint32_t rows, uint32_t columns) {
  return ticketAt(rows, columns) + sizeof(uint32_t);
}

/// Rows of boxes that are not there cost time, where they are rows or columns of the result. (Where those lie side by
/// side in a box's rows, boxes that begin inside of a line of the cache cost more: 6 % on an H200.) A warp stores 16
/// rows of the result together, and 64 columns where it stores boxes, else 8.
static PulledBack pulledBackOf(const ProductKernel &kernel) {
  const Product &product = kernel.product;
  if (kernel.tensorMaps.size() < 2 || product.routes || kernel.rowPatches || product.rows.size() != 1 ||
      product.columns.size() != 1 || kernel.rows > kConsumers * kGroupRows ||
      ComputedTile::operandOf(product, kernel.shape))
    return {};
  // Boxes of a result that is turned have 64 rows.
  if (const std::optional<NarrowResult> narrow = NarrowResult::of(kernel); narrow && narrow->isTurned())
    return {};
  constexpr uint32_t kWarpRows = 16, kBoxColumns = NarrowResult::kColumns;
  const uint32_t ofConsumer =
      kernel.rows == kGroupRows && !kernel.isInTurn ? kernel.columns / kConsumers : kernel.columns;
  const bool hasBoxes =
      ofConsumer >= kBoxColumns && NarrowResult::mapOf(kernel.kernel, kernel.shape, product).has_value();
  PulledBack back;
  if (product.left.isAlongReduced)
    back.rows = kWarpRows;
  if (hasBoxes && ofConsumer % kBoxColumns == 0)
    back.columns = kBoxColumns;
  else if (!hasBoxes && product.right.isAlongReduced)
    back.columns = kWarpRows;
  return back;
}

void writeWarpgroupProduct(ProductKernel kernel) {
  if (kernel.product.routes) // which tiles there are is known when the table is
    kernel.k.assembly(kWaitForEarlierLaunches.str(), {}, "");
  kernel.depth = warpgroupDepth(kernel.product.left.value.getType());
  kernel.pulledBack = pulledBackOf(kernel);
  WarpgroupProduct(kernel).run();
}

} // namespace tenon::compiler::codegen
