// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/across_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A tile of weights: all rows of the block, 64 keys.
constexpr uint32_t kTileKeys = 64, kRowBytes = ChainBlock::kRowBytes, kTileBytes = kWarpgroupChainRows * kRowBytes;
constexpr uint32_t kSlots = kExchangedBlocks, kSide = kAcrossSide, kBoxColumns = kAcrossBoxColumns;
constexpr uint32_t kBoxBytes = kSide * kRowBytes, kPartBytes = kSide * kSide * sizeof(float);

} // namespace

AcrossSums::AcrossSums(ChainBlock &block)
    : block_(block), k_(block.k), part_(k_.add(k_.number(block.exchange() + kSlots * block.shape.exchangedBytes()),
                                               k_.mul(block.group, k_.number(kPartBytes)))) {
  const Product &across = *block.kernel.attention.across;
  if (!block.tensorMaps.empty())
    isFast_ = block.kernel.bodies.isAligned(across.op->outputs.front().tensor, 16);
}

Value AcrossSums::placeOf(Value slot) {
  return k_.add(k_.number(block_.exchange()), k_.mul(slot, k_.number(block_.shape.exchangedBytes())));
}

AcrossSums::Block AcrossSums::at(Value key) {
  Value number = block_.numberOf(key);
  return {number, k_.rem(number, k_.number(kSlots)), {}};
}

AcrossSums::Block AcrossSums::before(Value key) {
  Value number = block_.numberOf(key);
  Value away = k_.select(k_.equal(block_.group, k_.number(0)), k_.number(2), k_.number(1));
  // In front of the first block there is none; nothing but zeros lies in the last place then.
  return {k_.sub(number, away), k_.rem(k_.sub(k_.add(number, k_.number(kSlots)), away), k_.number(kSlots)),
          k_.less(k_.sub(away, k_.number(1)), number)};
}

void AcrossSums::clear() {
  // Of the last slot, which the first consumer multiplies first.
  constexpr uint32_t kVector = 16;
  Type i32 = k_.b.getI32Type();
  Value zeros = arith::ConstantOp::create(k_.b, k_.loc,
                                          DenseElementsAttr::get(VectorType::get(4, i32), k_.b.getI32IntegerAttr(0)));
  const uint32_t ofConsumer = block_.shape.exchangedBytes() / ChainBlock::kConsumers;
  Value first = k_.add(k_.add(placeOf(k_.number(kSlots - 1)), k_.mul(block_.group, k_.number(ofConsumer))),
                       k_.mul(block_.thread, k_.number(kVector)));
  for (uint32_t done = 0; done < ofConsumer; done += kVector * kGroupThreads)
    k_.store(zeros, block_.inArena(k_.add(first, k_.number(done))), kVector);
  block_.core.publish();
}

void AcrossSums::put(const Block &which, ArrayRef<Values> weights) {
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.rows(), k_.number(0));
  Value thread = k_.opaque(block_.thread); // addresses are computed anew for each block: they take few registers
  Value lane = k_.rem(thread, k_.number(32)), warp = k_.div(thread, k_.number(32));
  Value row = k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4)));
  Value inTile = k_.add(k_.mul(block_.group, k_.number(kGroupRows)), row);
  Value base = k_.add(placeOf(which.slot), k_.add(k_.mul(inTile, k_.number(kRowBytes)),
                                                  k_.mul(k_.rem(lane, k_.number(4)), k_.number(sizeof(uint32_t)))));
  Value turn = k_.mul(k_.rem(row, k_.number(8)), k_.number(16));
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(0));
  for (auto [half, ofRow] : llvm::enumerate(weights)) {
    // A row that is not there adds nothing.
    Value isRow = space.rowsAreWhole()
                      ? Value()
                      : k_.less(k_.add(block_.rows(), k_.add(row, k_.number(8 * int64_t(half)))), space.rows());
    auto weight = [&](size_t key) { return isRow ? k_.select(isRow, ofRow[key], zero) : ofRow[key]; };
    for (size_t pair = 0; pair < ofRow.size() / 2; ++pair) { // of each eight keys the thread has two
      const uint32_t tile = uint32_t(pair) * 8 / kTileKeys, chunk = uint32_t(pair) % (kTileKeys / 8);
      Value place = k_.add(k_.add(base, k_.exclusiveOr(turn, k_.number(chunk * 16))),
                           k_.number(int64_t(tile) * kTileBytes + 8 * int64_t(half) * kRowBytes));
      k_.store(block_.core.pair(weight(2 * pair), weight(2 * pair + 1)), block_.inArena(place), sizeof(uint32_t));
    }
  }
  block_.core.publish();
}

AcrossSums::Values AcrossSums::multiplied(const Block &which) {
  const bool isWide = block_.shape.columns == 2 * kSide; // a consumer has half of the columns, else of the keys
  Value left = placeOf(which.slot);
  if (!isWide)
    left = k_.add(left, k_.mul(block_.group, k_.number(kTileBytes)));
  const ChainBlock::Inner &inner = block_.inner.front();
  Values parts;
  for (uint32_t consumer = 0; consumer < ChainBlock::kConsumers; ++consumer) {
    Value right = block_.leftOf(inner, k_.number(consumer));
    if (isWide)
      right = k_.add(right, k_.mul(block_.group, k_.number(kGroupRows * kRowBytes)));
    const TensorCore::Step step{
        block_.descriptor(k_.add(left, k_.number(int64_t(consumer) * kGroupRows * kRowBytes)), kTileBytes),
        block_.descriptor(right, kTileBytes),
        16 * kRowBytes,
        16 * kRowBytes,
        /*leftIsAcross=*/true,
        /*rightIsAcross=*/true};
    parts = consumer == 0 ? block_.core.multiplyGroup(step, kSide)
                          : block_.core.multiplyGroup(step, kSide, k_.word(k_.number(1)), parts);
  }
  return parts;
}

Value AcrossSums::firstKey(Value number) {
  Value key = block_.keyOfNumber(number);
  return block_.shape.columns == 2 * kSide ? key : k_.add(key, k_.mul(block_.group, k_.number(kSide)));
}

Value AcrossSums::firstColumn() {
  return block_.shape.columns == 2 * kSide ? k_.mul(block_.group, k_.number(kSide)) : k_.number(0);
}

Point AcrossSums::pointOf(Value key, Value column) {
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.tile.firstRow, k_.number(0));
  Point point = space.resultAt(k_.number(0), key);
  point.index[block_.kernel.attention.across->columns.front()] = column;
  return point;
}

/// Two boxes of 32 columns, swizzled. A thread has two columns of each eight; odd rows store their eights in another
/// order, so that the rows of half a warp meet different banks.
void AcrossSums::stage(ValueRange parts) {
  Value thread = k_.opaque(block_.thread);
  Value lane = k_.rem(thread, k_.number(32)), warp = k_.div(thread, k_.number(32));
  Value row = k_.add(k_.mul(warp, k_.number(16)), k_.div(lane, k_.number(4)));
  Value odd = k_.rem(row, k_.number(2)), isOdd = k_.equal(odd, k_.number(1));
  Value turn = k_.exclusiveOr(k_.mul(k_.rem(row, k_.number(8)), k_.number(16)), k_.mul(odd, k_.number(64)));
  Value inRow = k_.exclusiveOr(k_.mul(k_.rem(lane, k_.number(4)), k_.number(8)), turn);
  Value base = k_.add(part_, k_.mul(row, k_.number(kRowBytes)));
  constexpr uint32_t kEights = kBoxColumns / 8;
  Type pair = VectorType::get(2, k_.b.getF32Type());
  for (uint32_t eight = 0; eight < kSide / 8; ++eight)
    for (uint32_t half = 0; half < 2; ++half) {
      Value both = LLVM::PoisonOp::create(k_.b, k_.loc, pair);
      for (uint32_t column = 0; column < 2; ++column) {
        auto of = [&](uint32_t which) { return parts[4 * which + 2 * half + column]; };
        both = LLVM::InsertElementOp::create(k_.b, k_.loc, both, k_.select(isOdd, of(eight ^ 2), of(eight)),
                                             k_.number(column));
      }
      Value place = k_.add(k_.add(base, k_.exclusiveOr(inRow, k_.number(eight % kEights * 32))),
                           k_.number(eight / kEights * kBoxBytes + 8 * half * kRowBytes));
      k_.store(both, block_.inArena(place), 2 * sizeof(float));
    }
}

/// One thread. Rows that are not there are left out by the map.
void AcrossSums::addBoxes(Value number) {
  Value map = block_.tensorMaps[block_.shape.copies()], key = firstKey(number);
  for (uint32_t box = 0; box < kSide / kBoxColumns; ++box) {
    const Point point = pointOf(key, k_.add(firstColumn(), k_.number(box * kBoxColumns)));
    const Values begin = block_.shape.acrossMap->beginAt(k_, point);
    storeBox(k_, map, begin, block_.inArena(k_.add(part_, k_.number(box * kBoxBytes))), /*isAdded=*/true);
  }
  k_.assembly("cp.async.bulk.commit_group;", {}, "");
}

/// All threads of the warpgroup, where copies cannot.
void AcrossSums::addElements(Value number) {
  TileSpace space(block_.inner.front().kernel, block_.tile.inBatch, block_.tile.firstRow, k_.number(0));
  const Product &across = *block_.kernel.attention.across;
  Value first = firstKey(number), left = firstColumn(), box = k_.number(kBoxColumns);
  k_.loop(k_.opaque(block_.thread), k_.number(kSide * kSide), k_.number(kGroupThreads), {}, [&](Value at, ValueRange) {
    Bodies::Scope scope(block_.kernel.bodies);
    Value row = k_.div(at, k_.number(kSide)), column = k_.rem(at, k_.number(kSide)), key = k_.add(first, row);
    k_.when(k_.less(key, space.columns()), [&] {
      Value inBox = k_.exclusiveOr(k_.mul(k_.rem(column, box), k_.number(sizeof(float))),
                                   k_.mul(k_.rem(row, k_.number(8)), k_.number(16)));
      Value place = k_.add(k_.add(part_, k_.mul(k_.div(column, box), k_.number(kBoxBytes))),
                           k_.add(k_.mul(row, k_.number(kRowBytes)), inBox));
      Value value = k_.load(k_.b.getF32Type(), block_.inArena(place), sizeof(float));
      Value to = block_.kernel.bodies.address(*across.op, across.op->outputs.front().tensor,
                                              pointOf(key, k_.add(left, column)));
      LLVM::AtomicRMWOp::create(k_.b, k_.loc, LLVM::AtomicBinOp::fadd, to, value, LLVM::AtomicOrdering::monotonic,
                                "device");
    });
    return Values();
  });
}

void AcrossSums::add(const Block &which, ValueRange parts) {
  Bodies::Scope scope(block_.kernel.bodies);
  stage(parts);
  block_.core.publish();
  k_.barrier(); // of the warpgroup
  auto byThreads = [&] { addElements(which.number); };
  auto all = [&] {
    if (!isFast_)
      return byThreads();
    k_.branch(isFast_, [&] { k_.when(block_.isFirst, [&] { addBoxes(which.number); }); }, byThreads);
  };
  which.exists ? k_.when(which.exists, all) : all();
}

void AcrossSums::awaitPart() {
  k_.when(block_.isFirst, [&] { k_.assembly("cp.async.bulk.wait_group.read 0;", {}, ""); });
}

void AcrossSums::addLate(const Block &last) {
  Value exists = k_.both(k_.equal(block_.group, k_.number(0)), k_.less(k_.number(0), last.number));
  k_.when(exists, [&] {
    Value number = k_.sub(last.number, k_.number(1));
    const Block late{number, k_.rem(number, k_.number(kSlots)), {}};
    awaitPart();
    k_.barrier(); // of the warpgroup
    add(late, block_.core.waitForProducts(0, multiplied(late)));
  });
  awaitPart();
}

} // namespace tenon::compiler::codegen
