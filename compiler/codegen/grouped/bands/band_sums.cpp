// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/bands/band_sums.h"

#include "compiler/codegen/contraction/result_ops.h"
#include "compiler/codegen/grouped/bands/band_block.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

using Values = BandNumbers::Values;
using Period = BandRows::Period;

/// How rows come, beside the threads, and how sums go through shared memory to vectors of results.
class BandSums : BandNumbers {
public:
  explicit BandSums(BandBlock &block)
      : BandNumbers(block.k), block_(block), form_(block.form), tile_(block.tile), geometry_(block.geometry),
        staged_(k_.at(block.arena, k_.b.getI8Type(), k_.number(geometry_.stages * geometry_.periodBytes()))) {}
  void run();

private:
  Values rowAt(Value from, int64_t row);
  void stage(const Period &period, ArrayRef<Values> sums, Value to);
  void store(const Period &period, Value from);

  BandBlock &block_;
  const BandForm &form_;
  const BandTile &tile_;
  const BandGeometry &geometry_;
  Value staged_;
};

/// A row of what a period brought, of which this lane's first place begins at `from`: words of groups, pairs of
/// channels.
Values BandSums::rowAt(Value from, int64_t row) {
  Values words;
  for (int64_t group = 0; group < geometry_.groups; ++group) {
    Value all =
        k_.load(VectorType::get(block_.pairs, block_.word),
                behind(from, row * geometry_.rowBytes + group * 4 * geometry_.pitch), uint32_t(block_.pairs * 4));
    for (int64_t pair = 0; pair < block_.pairs; ++pair)
      words.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(pair)));
  }
  return words;
}

/// This lane's sums of a finished pair of lines, to shared memory.
void BandSums::stage(const Period &period, ArrayRef<Values> sums, Value to) {
  Value own = mul(block_.warp, tile_.vector);
  for (int64_t pair = 0; pair < block_.pairs; ++pair) {
    Value vector = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(BandBlock::kSums, k_.b.getF32Type()));
    for (auto [i, sum] : llvm::enumerate(sums[size_t(pair)]))
      vector = LLVM::InsertElementOp::create(k_.b, k_.loc, vector, sum, k_.number(int64_t(i)));
    k_.store(vector, block_.sumAt(to, n(0), block_.lane, add(own, 2 * pair)), 16);
  }
  k_.when(block_.areNotFinite(sums), [&] { block_.sumPlainly(period, to); });
}

/// The results of a finished pair of lines.
void BandSums::store(const Period &period, Value from) {
  const KernelFunction &kernel = block_.kernel;
  Bodies &bodies = block_.bodies;
  const uint32_t width = block_.width;
  const BandRows::First first = block_.rows.firstOf(period.tile);
  const RowSum &sum = form_.product.sum;
  const int64_t inRow = tile_.across() * BandTile::kWide, vectors = tile_.channels() / width;
  Value firstLine = block_.firstResultOf(period);
  SmallVector<int64_t> outer;
  for (unsigned loop : form_.loops.outer)
    outer.push_back(form_.sizes[loop]);
  auto storeAt = [&](Value number) {
    // Lanes that read together have both lines, two neighbouring vectors and neighbouring places.
    constexpr int64_t kNeighbours = 2;
    const Values spread =
        placeAlong(number, {1, vectors / kNeighbours, BandTile::kPlaces / 4, 4, kNeighbours, BandTile::kLines});
    const Values at{spread[5], k_.add(mul(spread[2], 4), spread[3]), k_.add(mul(spread[1], kNeighbours), spread[4])};
    const Values inTile = placeAlong(at[1], {1, inRow});
    Value inChunk = mul(at[2], width), start = block_.sumAt(from, at[0], at[1], inChunk);
    Values loops(form_.sizes.size());
    Value is;
    auto place = [&](unsigned loop, Value first, Value behind, int64_t size, int64_t each) {
      loops[loop] = k_.add(first, behind);
      if (size % each != 0)
        both(is, less(loops[loop], size));
    };
    Value image = k_.add(first.image, inTile[0]);
    for (auto [loop, index] : llvm::zip_equal(form_.loops.outer, placeAlong(image, outer)))
      loops[loop] = index;
    if (!form_.areImagesWhole(tile_.images))
      both(is, k_.less(image, block_.images));
    if (form_.loops.down)
      place(form_.loops.down->loop, firstLine, at[0], block_.down.results, BandTile::kLines);
    else
      both(is, k_.equal(at[0], n(0)));
    place(form_.loops.along.loop, first.place, inTile[1], block_.along.results, inRow);
    place(form_.loops.channel, block_.firstChannel, inChunk, form_.channels(), tile_.channels());
    const Point point = block_.pointAt(loops);
    auto storeOne = [&] {
      Values totals;
      for (uint32_t lane = 0; lane < width; ++lane) {
        Value total =
            k_.load(sum.sum.type, k_.at(start, sum.sum.type, k_.number(lane / 2 * 4 + lane % 2)), sizeof(float));
        totals.push_back(bodies.finishBegun(sum, point, lane, total));
      }
      bodies.setRow(sum, totals);
      for (const KernelOp &op : kernel.ops)
        if (isOfResult(kernel, block_.shape, form_.product, op))
          bodies.storeRow(op, point);
    };
    if (is)
      k_.when(is, storeOne);
    else
      storeOne();
  };
  const int64_t count = BandTile::kLines * BandTile::kPlaces * vectors;
  if (!block_.isAligned) {
    k_.loop(block_.thread, n(count), n(kBandThreads), {}, [&](Value number, ValueRange) {
      Bodies::Scope scope(bodies);
      bodies.setWidth(width, block_.isAligned);
      storeAt(number);
      return Values();
    });
    return;
  }
  for (int64_t number = 0; number < count; number += kBandThreads) {
    Bodies::Scope scope(bodies);
    bodies.setWidth(width, block_.isAligned);
    storeAt(add(block_.thread, number));
  }
}

void BandSums::run() {
  const int64_t stages = geometry_.stages;
  const BandRows &rows = block_.rows;
  const BandBlock::Part part = block_.part();
  Period ahead = part.first;
  auto nextSlot = [&](Value slot) {
    Value following = add(slot, geometry_.periodBytes());
    return k_.select(k_.equal(following, n(stages * geometry_.periodBytes())), n(0), following);
  };
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    rows.bring(ahead, k_.less(n(stage), part.periods), n(stage * geometry_.periodBytes()));
    block_.core.closeGroup();
    ahead = rows.next(ahead, part.last);
  }
  block_.loadBands(); // while that is on its way
  const Values line = placeAlong(k_.div(block_.lane, n(4)), {1, tile_.across()});
  Value place = k_.add(mul(line[0], geometry_.places),
                       k_.add(mul(line[1], BandTile::kWide * block_.along.step), k_.rem(block_.lane, n(4))));
  Value own = k_.add(mul(place, geometry_.pitch), mul(block_.warp, tile_.vector * 2));

  // The period; the one ahead; their slots; the one to be stored; whether it is, and where; rows; sums.
  Values state = part.first.all();
  llvm::append_range(state, ahead.all());
  llvm::append_range(state, Values{n(0), n((stages - 1) * geometry_.periodBytes())});
  llvm::append_range(state, part.first.all());
  llvm::append_range(state, Values{arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false)), n(0)});
  block_.begin(state);
  const Values end = k_.loop(n(0), part.periods, n(1), state, [&](Value number, ValueRange carried) {
    const Period period = Period::of(carried), ahead = Period::of(carried.drop_front(Period::kMembers)),
                 ready = Period::of(carried.drop_front(2 * Period::kMembers + 2));
    Value slot = carried[2 * Period::kMembers], slotAhead = carried[2 * Period::kMembers + 1];
    ValueRange rest = carried.drop_front(3 * Period::kMembers + 2);
    Value isReady = rest[0], parity = rest[1];
    rest = rest.drop_front(2);
    block_.core.waitForGroups(uint32_t(stages - 2));
    k_.barrier();
    SmallVector<Values> ofPeriod = block_.keptRows(rest);
    Value from = behind(block_.arena, k_.add(slot, own));
    for (int64_t row = 0; row < geometry_.newRows; ++row)
      ofPeriod.push_back(rowAt(from, row));
    rows.bring(ahead, k_.less(add(number, stages - 1), part.periods), slotAhead);
    block_.core.closeGroup();
    k_.when(isReady, [&] { store(ready, behind(staged_, parity)); });
    BandBlock::Sums sums = block_.begun(rest);
    block_.multiply(period, ofPeriod, sums);
    Value nextParity = k_.sub(n(geometry_.sumBytes), parity);
    Value isDone = isNot(k_.less(period.number, period.from));
    k_.when(isDone, [&] { stage(period, sums.back(), behind(staged_, nextParity)); });

    Values next = rows.next(period, part.last).all();
    llvm::append_range(next, rows.next(ahead, part.last).all());
    llvm::append_range(next, Values{nextSlot(slot), nextSlot(slotAhead)});
    llvm::append_range(next, period.all());
    llvm::append_range(next, Values{isDone, nextParity});
    block_.carry(next, ofPeriod, sums);
    return next;
  });
  block_.core.waitForGroups(0);
  k_.barrier();
  k_.when(end[3 * Period::kMembers + 2], [&] {
    store(Period::of(ValueRange(end).drop_front(2 * Period::kMembers + 2)),
          behind(staged_, end[3 * Period::kMembers + 3]));
  });
}

} // namespace

void writeBandSums(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                   Bodies &bodies, const KernelArguments &arguments, const BandForm &form) {
  space.vectorAxis = form.product.batch.front();
  const uint32_t width = vectorWidth(kernel, shape, space.vectorAxis);
  k.wantResident(kBandBlocks);
  // The first dimension alone may be unknown.
  Value images = k.number(form.images());
  if (!form.knowsImages()) {
    images = arguments.sizeOf(k.b, k.loc, form.image.shape.front());
    for (unsigned loop : llvm::drop_begin(form.loops.outer))
      images = k.mul(images, k.number(form.sizes[loop]));
  }
  images = k.word(images);
  auto write = [&](bool isAligned) {
    Bodies::Scope scope(bodies);
    BandBlock block(kernel, shape, k, space, bodies, form, images, width, isAligned);
    BandSums(block).run();
  };
  Value isAligned =
      k.both(bodies.isAligned(width, /*needsWhole=*/true), bodies.isAligned(form.image, BandRows::kCopy * 2));
  k.branch(isAligned, [&] { write(true); }, [&] { write(false); });
}

} // namespace tenon::compiler::codegen
