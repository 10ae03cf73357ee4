// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/tile_order.h"

#include "abi/arch_table.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kGroupTiles = TileOrderShape::kTilesTogether;

Value roundedUp(KernelBuilder &k, Value size, Value part) {
  return k.div(k.add(size, k.sub(part, k.number(1))), part);
}

// What blocks that take tiles in turn have to take, in percent of those with a table: that is read, tile by tile.
constexpr uint64_t kWorthTable = 101;

// Of the second-level cache, what keys and values of a group may fill: half of an H100's. On an H200 32 x 16 heads of
// 512 rows, causal, took 220 us with 64 MiB of them and 176 with 24 (d 256), 162 and 134 with 48 and 18 (d 192).
constexpr int64_t kCachedBytes = 24 << 20;
// Blocks to an element of a group: from so many on its tiles run at once, and read the same keys; and where so few
// elements fit that these would be as many, fewer elements take longer (1000 rows, d 192, 64 and 33 of them: 210, 222).
constexpr int64_t kSharing = 2, kMostSharing = 3;

/// Elements of a group, which matter under a mask: tiles of short ones come one behind the other, and read their keys
/// again.
uint32_t mostTogether(const AttentionKernel &kernel) {
  const GroupShape &shape = kernel.shape;
  const Attention &attention = kernel.attention;
  const std::optional<int64_t> rows = shape.sizeOf(attention.output.rows),
                               keys = shape.sizeOf(attention.output.reduced),
                               depth = shape.sizeOf(attention.scores.reduced),
                               columns = shape.sizeOf(attention.output.columns);
  if (!rows || !keys || !depth || !columns || *rows <= 0 || *keys <= 0)
    return UINT32_MAX;
  constexpr int64_t kBlocks = abi::kHopperMultiprocessors;
  const int64_t elements = kGroupTiles / int64_t(llvm::divideCeil(*rows, kernel.rows)),
                fitting = kCachedBytes / (*keys * (*depth + *columns) * int64_t(sizeof(uint16_t)));
  return elements * kSharing > kBlocks && fitting * kMostSharing >= kBlocks ? uint32_t(fitting) : UINT32_MAX;
}

/// Where they lie in memory.
Value constants(KernelBuilder &k, ArrayRef<uint16_t> numbers) {
  auto function = k.b.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(k.b.getI16Type(), numbers.size());
  auto values = DenseElementsAttr::get(RankedTensorType::get(int64_t(numbers.size()), k.b.getI16Type()), numbers);
  auto global = LLVM::GlobalOp::create(atStart, k.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                       (function.getName() + "_tiles").str(), values, /*alignment=*/16,
                                       /*addrSpace=*/unsigned(NVVM::NVVMMemorySpace::Global));
  return LLVM::AddressOfOp::create(k.b, k.loc, global);
}

} // namespace

TileOrder::TileOrder(const AttentionKernel &kernel, bool isMasked, ArrayRef<uint32_t> times, uint32_t parts)
    : k_(kernel.k), tileRows_(kernel.rows), parts_(parts), isMasked_(isMasked),
      mayBeShort_(kernel.shape.sizeOf(kernel.attention.output.rows).value_or(1) % tileRows_ != 0) {
  auto sizeOf = [&](ArrayRef<unsigned> axes) {
    Value size = k_.number(1);
    for (unsigned axis : axes)
      size = k_.mul(size, kernel.space.size(axis));
    return size;
  };
  batch_ = sizeOf(kernel.attention.output.batch);
  down_ = roundedUp(k_, sizeOf(kernel.attention.output.rows), k_.number(tileRows_));
  inner_ = down_;
  // An axis of the rows may be several dimensions in one.
  const Extent &last = kernel.shape.axes[kernel.attention.output.rows.back()].extents.back();
  if (!last.value && last.size % tileRows_ == 0)
    inner_ = k_.number(last.size / tileRows_);
  // Without rows there is no tile, and nothing is divided by their number.
  Value rows = arith::MaxUIOp::create(k_.b, k_.loc, down_, k_.number(1));
  group_ = batch_;
  if (isMasked_) {
    // Groups as large as each other: a small one at the end would not be balanced.
    Value wanted = roundedUp(k_, k_.number(kGroupTiles), rows), half = k_.div(wanted, k_.number(2));
    Value groups = k_.div(k_.add(batch_, half), wanted);
    group_ = roundedUp(k_, batch_, arith::MaxUIOp::create(k_.b, k_.loc, groups, k_.number(1)));
    group_ = k_.min(group_, k_.number(mostTogether(kernel)));
  }
  group_ = arith::MaxUIOp::create(k_.b, k_.loc, group_, k_.number(1));
  roundsOfGroup_ = roundedUp(k_, k_.mul(group_, down_), k_.blocks());
  rounds_ = k_.mul(roundsOfGroup_, roundedUp(k_, batch_, group_));
  down_ = rows;
  inner_ = arith::MaxUIOp::create(k_.b, k_.loc, inner_, k_.number(1));
  if (parts > 1)
    rounds_ = roundedUp(k_, k_.mul(k_.mul(batch_, down_), k_.number(parts)), k_.blocks());
  else if (!times.empty())
    useTable(kernel, times);
}

void TileOrder::useTable(const AttentionKernel &kernel, ArrayRef<uint32_t> times) {
  const std::optional<int64_t> batch = kernel.shape.sizeOf(kernel.attention.output.batch);
  if (!batch || *batch <= 0 || *batch > TileTable::kNone)
    return;
  const TileOrderShape shape{uint32_t(*batch), uint32_t(times.size()), isMasked_, mostTogether(kernel)};
  std::optional<TileTable> table = TileTable::of(shape, times, abi::kHopperMultiprocessors);
  if (!table || table->time * kWorthTable > dealtTime(shape, times, table->blocks) * 100)
    return;
  table_ = std::move(table);
  tiles_ = constants(k_, table_->tiles);
  isTabled_ = k_.equal(k_.blocks(), k_.number(table_->blocks));
  rounds_ = k_.select(isTabled_, k_.number(table_->rounds), rounds_);
}

TileOrder::Turn TileOrder::turn(Value round) const {
  if (parts_ > 1)
    return inParts(round);
  if (!table_)
    return dealt(round);
  auto listed = [&](const Turn &turn) {
    return SmallVector<Value>{turn.exists, turn.tile.inBatch, turn.tile.firstRow};
  };
  Type i64 = k_.b.getI64Type();
  const SmallVector<Value> chosen = k_.choose(
      isTabled_, {k_.b.getI1Type(), i64, i64}, [&] { return listed(tabled(round)); },
      [&] { return listed(dealt(round)); });
  return {chosen[0], {chosen[1], chosen[2], k_.number(0)}};
}

TileOrder::Turn TileOrder::tabled(Value round) const {
  Value place = k_.add(k_.mul(k_.block(), k_.number(table_->rounds + 1)), round);
  Value entry = k_.load(k_.b.getI16Type(), k_.at(tiles_, k_.b.getI16Type(), place), sizeof(uint16_t),
                        /*isStreamed=*/false, /*isWhole=*/true);
  Value number = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), entry);
  Value exists = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, number, k_.number(TileTable::kNone));
  return {exists, {k_.div(number, down_), k_.mul(k_.rem(number, down_), k_.number(tileRows_)), k_.number(0)}};
}

/// The last rows first, which may have most keys to share.
TileOrder::Turn TileOrder::inParts(Value round) const {
  Value parts = k_.number(parts_), number = k_.add(k_.mul(round, k_.blocks()), k_.block());
  Value tile = k_.div(number, parts), row = k_.sub(k_.sub(down_, k_.number(1)), k_.div(tile, batch_));
  return {k_.less(number, k_.mul(k_.mul(batch_, down_), parts)),
          {k_.rem(tile, batch_), k_.mul(row, k_.number(tileRows_)), k_.number(0), k_.rem(number, parts)}};
}

TileOrder::Turn TileOrder::dealt(Value round) const {
  // Where there is no round at all nobody asks for one, but the quotient is computed.
  Value perGroup = arith::MaxUIOp::create(k_.b, k_.loc, roundsOfGroup_, k_.number(1));
  Value first = k_.mul(k_.div(round, perGroup), group_), inGroup = k_.rem(round, perGroup);
  Value position = k_.block();
  if (isMasked_)
    position = k_.select(k_.equal(k_.rem(round, k_.number(2)), k_.number(0)), position,
                         k_.sub(k_.sub(k_.blocks(), k_.number(1)), position));
  else if (mayBeShort_)
    position = k_.rem(k_.add(position, round), k_.blocks());
  Value number = k_.add(k_.mul(inGroup, k_.blocks()), position);
  Value elements = k_.min(group_, k_.sub(batch_, first));
  Turn turn;
  turn.exists = k_.both(k_.less(round, rounds_), k_.less(number, k_.mul(elements, down_)));
  Value element = isMasked_ ? k_.rem(number, elements) : k_.div(number, down_);
  Value row = k_.rem(number, down_);
  if (isMasked_) {
    Value others = k_.div(down_, inner_), step = k_.div(number, elements);
    Value inInner = k_.sub(k_.sub(inner_, k_.number(1)), k_.div(step, others));
    row = k_.add(k_.mul(k_.rem(step, others), inner_), inInner);
  }
  turn.tile = {k_.add(first, element), k_.mul(row, k_.number(tileRows_)), k_.number(0)};
  return turn;
}

} // namespace tenon::compiler::codegen
