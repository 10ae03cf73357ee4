// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/bands/band_sums.h"

#include "compiler/codegen/contraction/result_ops.h"
#include "compiler/codegen/grouped/bands/band_rows.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class BandKernel : BandNumbers {
public:
  BandKernel(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space, Bodies &bodies,
             const BandForm &form, Value images, uint32_t width, bool isAligned)
      : BandNumbers(k), kernel_(kernel), shape_(shape), space_(space), bodies_(bodies), form_(form), width_(width),
        isAligned_(isAligned), tile_(*BandTile::of(form)), pairs_(tile_.vector / 2), geometry_(form, tile_),
        down_(form.down()), along_(form.along()), element_(form.image.element), core_(k, element_), images_(images),
        word_(k.b.getI32Type()), arena_(k.dynamicShared()),
        staged_(k.at(arena_, k.b.getI8Type(), k.number(geometry_.stages * geometry_.periodBytes()))),
        thread_(k.word(k.thread())), lane_(k.rem(thread_, n(32))), warp_(k.div(thread_, n(32))),
        firstChannel_(mul(k.rem(k.word(k.block()), n(tile_.chunksOf(form))), tile_.channels())),
        rows_(form, geometry_, k, bodies, core_, images, isAligned, arena_, thread_, firstChannel_),
        zero_(k.word(k.block(2))) {}

  void run();

private:
  using Period = BandRows::Period;
  Point pointAt(ArrayRef<Value> loops);
  Values filtersAt(Value down, Value along, Value channel, uint32_t count);
  void loadBands();
  Values rowAt(Value from, int64_t row);
  Value moved(Value word, int64_t row, int64_t line, Value kept);
  void multiply(ArrayRef<Values> rows, Value kept, MutableArrayRef<SmallVector<Values>> sums);
  void stage(const Period &period, ArrayRef<Values> sums, Value to);
  void sumPlainly(const Period &period, Value to);
  Value sumAt(Value from, Value line, Value place, Value channel);
  void store(const Period &period, Value from);

  const KernelFunction &kernel_;
  const GroupShape &shape_;
  GroupSpace &space_;
  Bodies &bodies_;
  const BandForm &form_;
  const uint32_t width_; // channels of a vector in which results are stored
  const bool isAligned_; // all that is read and stored
  const BandTile tile_;
  const int64_t pairs_; // of channels
  const BandGeometry geometry_;
  const BandForm::Slide down_, along_;
  Type element_;
  TensorCore core_;
  Value images_; // how many
  IntegerType word_;
  Value arena_, staged_;
  Value thread_, lane_, warp_, firstChannel_;
  BandRows rows_;
  Value zero_;                // the block's place in a grid of one layer: an assembler does not know that
  SmallVector<Values> bands_; // [window, down][groups, pairs of channels]
};

Point BandKernel::pointAt(ArrayRef<Value> loops) {
  const SmallVector<unsigned> groupAxes = shape_.group.axisOf.lookup(form_.product.op->op);
  Point point;
  for (const SpaceAxis &axis : shape_.axes) { // of which some are several loops
    Value index = k_.number(0);
    for (unsigned each : axis.axes) {
      const size_t loop = llvm::find(groupAxes, each) - groupAxes.begin();
      index = k_.mul(index, k_.number(form_.sizes[loop]));
      if (loops[loop])
        index = k_.add(index, wide(loops[loop]));
    }
    point.index.push_back(index);
  }
  point.id = space_.newId();
  return point;
}

/// The filter's elements of neighbouring channels at a place of the window.
BandNumbers::Values BandKernel::filtersAt(Value down, Value along, Value channel, uint32_t count) {
  Values loops(form_.sizes.size());
  auto place = [&](const dispatch::ChannelWindows::Place &slide, Value at) {
    if (slide.window)
      loops[*slide.window] = slide.isBackwards ? k_.sub(n(form_.sizes[*slide.window] - 1), at) : at;
  };
  if (form_.loops.down)
    place(*form_.loops.down, down);
  place(form_.loops.along, along);
  loops[form_.loops.channel] = channel;
  bodies_.setWidth(count, isAligned_);
  const Lanes lanes = bodies_.ofBody(*form_.product.op, form_.product.right.value, pointAt(loops));
  Values values;
  for (uint32_t lane = 0; lane < count; ++lane)
    values.push_back(lanes[lane]);
  return values;
}

/// Lane l has of each group place l % 4, of result l / 8 and the first or second channel of each pair.
void BandKernel::loadBands() {
  Bodies::Scope scope(bodies_);
  Value channel = k_.add(firstChannel_, mul(warp_, tile_.vector));
  if (form_.channels() % tile_.channels() != 0)
    channel = k_.min(channel, n(form_.channels() - tile_.vector));
  Value result = k_.div(lane_, n(8)), isSecond = k_.equal(k_.rem(k_.div(lane_, n(4)), n(2)), n(1));
  Value none = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(element_));
  const uint32_t count = std::min(width_, uint32_t(tile_.vector));
  bands_.assign(size_t(geometry_.window), {});
  for (int64_t down = 0; down < geometry_.window; ++down)
    for (int64_t group = 0; group < geometry_.groups; ++group) {
      // Where in the window the place is.
      Value place = k_.sub(add(k_.rem(lane_, n(4)), group * 4), mul(result, along_.step));
      Value is = less(place, along_.window * along_.apart);
      if (along_.apart != 1) {
        both(is, k_.equal(k_.rem(place, n(along_.apart)), n(0)));
        place = k_.div(place, n(along_.apart));
      }
      place = k_.select(is, place, n(0));
      Values values;
      for (int64_t first = 0; first < tile_.vector; first += count)
        llvm::append_range(values, filtersAt(n(down), place, add(channel, first), count));
      for (int64_t pair = 0; pair < pairs_; ++pair) {
        Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(2, element_));
        for (int64_t i = 0; i < 2; ++i)
          all = LLVM::InsertElementOp::create(
              k_.b, k_.loc, all,
              k_.select(k_.both(is, i == 0 ? isNot(isSecond) : isSecond), values[size_t(2 * pair + i)], none),
              k_.number(i));
        bands_[size_t(down)].push_back(LLVM::BitcastOp::create(k_.b, k_.loc, word_, all).getResult());
      }
    }
}

/// A row of what a period brought, of which this lane's first place begins at `from`: words of groups, pairs of
/// channels.
BandNumbers::Values BandKernel::rowAt(Value from, int64_t row) {
  Values words;
  for (int64_t group = 0; group < geometry_.groups; ++group) {
    Value all = k_.load(VectorType::get(pairs_, word_),
                        behind(from, row * geometry_.rowBytes + group * 4 * geometry_.pitch), uint32_t(pairs_ * 4));
    for (int64_t pair = 0; pair < pairs_; ++pair)
      words.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(pair)));
  }
  return words;
}

/// A copy that is made once: of one that an assembler sees as such it makes another for each product. A row is that of
/// either line, once; one that the period kept is the upper line's, and is none where the tile begins.
Value BandKernel::moved(Value word, int64_t row, int64_t line, Value kept) {
  if (line != 0)
    return k_.add(word, zero_);
  if (row < geometry_.keptRows && kept)
    return arith::AndIOp::create(k_.b, k_.loc, word, kept);
  return arith::OrIOp::create(k_.b, k_.loc, word, zero_);
}

/// What the rows of a period, those it kept first, add to pairs of lines, by age.
///
/// A left side is four registers that follow each other, a row of each line at two units: a row of the window that
/// begins at a row of the period, and a group along it. What is read are others that follow each other, so that they
/// are moved. Lines of all ages meet the same units, and their products with a left side come one behind the other.
///
/// @param kept all bits of the rows that the period kept, or none
void BandKernel::multiply(ArrayRef<Values> rows, Value kept, MutableArrayRef<SmallVector<Values>> sums) {
  SmallVector<std::pair<int64_t, int64_t>> units; // row of the period, group
  for (int64_t row = 0; row < geometry_.newRows; ++row)
    if (llvm::any_of(llvm::seq(geometry_.window), [&](int64_t down) { return geometry_.rowOf(down) == row; }))
      for (int64_t group = 0; group < geometry_.groups; ++group)
        units.push_back({row, group});
  for (size_t first = 0; first < units.size(); first += 2)
    for (int64_t pair = 0; pair < pairs_; ++pair) {
      Values left;
      for (size_t i = first; i < first + 2; ++i) {
        const auto [row, group] = units[std::min(i, units.size() - 1)];
        for (int64_t line = 0; line < BandTile::kLines; ++line)
          left.push_back(
              moved(rows[size_t(row + line * geometry_.step)][size_t(group * pairs_ + pair)], row, line, kept));
      }
      for (int64_t age = 0; age <= geometry_.delay; ++age) {
        Values right(2, n(0));
        bool isMet = false;
        for (size_t i = first; i < std::min(first + 2, units.size()); ++i)
          for (int64_t down = 0; down < geometry_.window; ++down)
            if (geometry_.ageOf(down) == age && geometry_.rowOf(down) == units[i].first) {
              right[i - first] = bands_[size_t(down)][size_t(units[i].second * pairs_ + pair)];
              isMet = true;
            }
        if (isMet)
          sums[size_t(age)][size_t(pair)] = core_.multiply(left, right, sums[size_t(age)][size_t(pair)]);
      }
    }
}

/// Pairs of channels of both lines, as products have them.
Value BandKernel::sumAt(Value from, Value line, Value place, Value channel) {
  Value pair = k_.add(mul(k_.div(channel, n(2)), 2 * BandTile::kLines), k_.add(mul(line, 2), k_.rem(channel, n(2))));
  return behind(from, mul(k_.add(mul(place, geometry_.sumPitch), pair), sizeof(float)));
}

/// This lane's sums of a finished pair of lines, to shared memory.
void BandKernel::stage(const Period &period, ArrayRef<Values> sums, Value to) {
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(0));
  Value all; // sums times zero: zero, or no number
  Value own = mul(warp_, tile_.vector);
  for (int64_t pair = 0; pair < pairs_; ++pair) {
    Value vector = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(4, k_.b.getF32Type()));
    Value each = zero;
    for (auto [i, sum] : llvm::enumerate(sums[size_t(pair)])) {
      each = LLVM::FMAOp::create(k_.b, k_.loc, sum, zero, each);
      vector = LLVM::InsertElementOp::create(k_.b, k_.loc, vector, sum, k_.number(int64_t(i)));
    }
    all = all ? arith::AddFOp::create(k_.b, k_.loc, all, each).getResult() : each;
    k_.store(vector, sumAt(to, n(0), lane_, add(own, 2 * pair)), 16);
  }
  k_.when(isNot(arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OEQ, all, zero)),
          [&] { sumPlainly(period, to); });
}

/// The same sums, each from its own window in memory.
void BandKernel::sumPlainly(const Period &period, Value to) {
  const Sum &kind = form_.product.sum.sum;
  const BandRows::First tile = rows_.firstOf(period.tile);
  const Values at = placeAlong(lane_, {1, tile_.across() * BandTile::kWide});
  Value image = k_.min(k_.add(tile.image, at[0]), add(images_, -1));
  Value firstPlace = add(mul(k_.add(tile.place, at[1]), along_.step), along_.offset);
  Value firstLine = mul(k_.sub(period.number, n(geometry_.before())), BandTile::kLines);
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(element_));
  k_.loop(n(0), n(BandTile::kLines * tile_.vector), n(1), {}, [&](Value number, ValueRange) {
    const Values result = placeAlong(number, {1, tile_.vector});
    Value inChunk = k_.add(mul(warp_, tile_.vector), result[1]);
    Value channel = k_.min(k_.add(firstChannel_, inChunk), n(form_.channels() - 1));
    Value line = add(mul(k_.add(firstLine, result[0]), down_.step), down_.offset);
    const Values total = k_.loop(
        n(0), n(down_.window * along_.window), n(1), bodies_.begin(form_.product.sum),
        [&](Value window, ValueRange carried) {
          Bodies::Scope scope(bodies_);
          Value down = k_.div(window, n(along_.window)), along = k_.rem(window, n(along_.window));
          Value row = k_.add(line, mul(down, down_.apart)), place = k_.add(firstPlace, mul(along, along_.apart));
          Value is = k_.both(less(row, down_.size), less(place, along_.size));
          Value element = k_.add(k_.mul(wide(image), k_.number(down_.size)), wide(k_.select(is, row, n(0))));
          element = k_.add(k_.mul(element, k_.number(along_.size)), wide(k_.select(is, place, n(0))));
          element = k_.add(k_.mul(element, k_.number(form_.channels())), wide(channel));
          Value loaded = k_.load(element_, k_.at(bodies_.base(form_.image), element_, element), 2);
          Value left = extended(k_, form_.product.left, k_.select(is, loaded, zero), kind.type);
          Value right = extended(k_, form_.product.right, filtersAt(down, along, channel, 1).front(), kind.type);
          return Values{combine(k_, kind, carried[0], arith::MulFOp::create(k_.b, k_.loc, left, right).getResult())};
        });
    k_.store(total.front(), sumAt(to, result[0], lane_, inChunk), sizeof(float));
    return Values();
  });
}

/// The results of a finished pair of lines.
void BandKernel::store(const Period &period, Value from) {
  const BandRows::First tile = rows_.firstOf(period.tile);
  const RowSum &sum = form_.product.sum;
  const int64_t inRow = tile_.across() * BandTile::kWide, vectors = tile_.channels() / width_;
  Value firstLine = mul(k_.sub(period.number, n(geometry_.before())), BandTile::kLines);
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
    Value inChunk = mul(at[2], width_), start = sumAt(from, at[0], at[1], inChunk);
    Values loops(form_.sizes.size());
    Value is;
    auto place = [&](unsigned loop, Value first, Value behind, int64_t size, int64_t each) {
      loops[loop] = k_.add(first, behind);
      if (size % each != 0)
        both(is, less(loops[loop], size));
    };
    Value image = k_.add(tile.image, inTile[0]);
    for (auto [loop, index] : llvm::zip_equal(form_.loops.outer, placeAlong(image, outer)))
      loops[loop] = index;
    if (!form_.areImagesWhole(tile_.images))
      both(is, k_.less(image, images_));
    if (form_.loops.down)
      place(form_.loops.down->loop, firstLine, at[0], down_.results, BandTile::kLines);
    else
      both(is, k_.equal(at[0], n(0)));
    place(form_.loops.along.loop, tile.place, inTile[1], along_.results, inRow);
    place(form_.loops.channel, firstChannel_, inChunk, form_.channels(), tile_.channels());
    const Point point = pointAt(loops);
    auto storeOne = [&] {
      Values totals;
      for (uint32_t lane = 0; lane < width_; ++lane) {
        Value total =
            k_.load(sum.sum.type, k_.at(start, sum.sum.type, k_.number(lane / 2 * 4 + lane % 2)), sizeof(float));
        totals.push_back(bodies_.finishBegun(sum, point, lane, total));
      }
      bodies_.setRow(sum, totals);
      for (const KernelOp &op : kernel_.ops)
        if (isOfResult(kernel_, shape_, form_.product, op))
          bodies_.storeRow(op, point);
    };
    if (is)
      k_.when(is, storeOne);
    else
      storeOne();
  };
  const int64_t count = BandTile::kLines * BandTile::kPlaces * vectors;
  if (!isAligned_) {
    k_.loop(thread_, n(count), n(kBandThreads), {}, [&](Value number, ValueRange) {
      Bodies::Scope scope(bodies_);
      bodies_.setWidth(width_, isAligned_);
      storeAt(number);
      return Values();
    });
    return;
  }
  for (int64_t first = 0; first < count; first += kBandThreads) {
    Bodies::Scope scope(bodies_);
    bodies_.setWidth(width_, isAligned_);
    storeAt(add(thread_, first));
  }
}

void BandKernel::run() {
  const auto across = int64_t(llvm::divideCeil(along_.results, tile_.across() * BandTile::kWide));
  Value all = n(tile_.tilesOf(form_) * geometry_.pairs), ofBlock = n(pairsOfBlock(form_, tile_));
  if (!form_.knowsImages()) {
    const int64_t blocks = blocksOf(form_, tile_) / tile_.chunksOf(form_);
    all = mul(k_.div(add(images_, tile_.images - 1), n(tile_.images)), across * geometry_.pairs);
    ofBlock = k_.div(add(all, blocks - 1), n(blocks));
  }
  const int64_t stages = geometry_.stages;
  Value first = k_.mul(k_.div(k_.word(k_.block()), n(tile_.chunksOf(form_))), ofBlock);
  Value last = k_.min(k_.add(first, ofBlock), all);
  auto tileOf = [&](Value pair) { return k_.div(pair, n(geometry_.pairs)); };
  // Every tile that the block has a part of begins with periods without results.
  Value tiles = add(k_.sub(tileOf(add(last, -1)), tileOf(first)), 1);
  Period ahead = rows_.firstPeriod(first, last);
  Value periods = k_.add(k_.sub(last, first), mul(tiles, geometry_.before() - geometry_.skipped));
  periods = k_.sub(k_.add(periods, add(k_.rem(first, n(geometry_.pairs)), geometry_.skipped)), ahead.number);
  if (!form_.knowsImages())
    periods = k_.select(k_.less(first, last), periods, n(0));
  auto nextSlot = [&](Value slot) {
    Value following = add(slot, geometry_.periodBytes());
    return k_.select(k_.equal(following, n(stages * geometry_.periodBytes())), n(0), following);
  };

  Values state = ahead.all(); // period; the one ahead; slots; the one to be stored; where; rows; sums
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    rows_.bring(ahead, k_.less(n(stage), periods), n(stage * geometry_.periodBytes()));
    core_.closeGroup();
    ahead = rows_.next(ahead, last);
  }
  loadBands(); // while that is on its way
  const Values line = placeAlong(k_.div(lane_, n(4)), {1, tile_.across()});
  Value place =
      k_.add(mul(line[0], geometry_.places), k_.add(mul(line[1], BandTile::kWide * along_.step), k_.rem(lane_, n(4))));
  Value own = k_.add(mul(place, geometry_.pitch), mul(warp_, tile_.vector * 2));

  const Period begun = Period::of(state);
  llvm::append_range(state, ahead.all());
  llvm::append_range(state, Values{n(0), n((stages - 1) * geometry_.periodBytes())});
  llvm::append_range(state, begun.all());
  llvm::append_range(state, Values{arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false)), n(0)});
  const auto inRow = size_t(geometry_.groups * pairs_);
  state.append(size_t(geometry_.keptRows) * inRow, n(0));
  constexpr size_t kSums = 4; // of a lane, of a product
  state.append(size_t(geometry_.delay) * pairs_ * kSums, bodies_.begin(form_.product.sum));
  const Values end = k_.loop(n(0), periods, n(1), state, [&](Value number, ValueRange carried) {
    const Period period = Period::of(carried), ahead = Period::of(carried.drop_front(Period::kMembers)),
                 ready = Period::of(carried.drop_front(2 * Period::kMembers + 2));
    Value slot = carried[2 * Period::kMembers], slotAhead = carried[2 * Period::kMembers + 1];
    ValueRange rest = carried.drop_front(3 * Period::kMembers + 2);
    Value isReady = rest[0], parity = rest[1];
    rest = rest.drop_front(2);
    core_.waitForGroups(uint32_t(stages - 2));
    k_.barrier();
    SmallVector<Values> rows; // of the period, those that it kept first
    for (int64_t row = 0; row < geometry_.keptRows; ++row, rest = rest.drop_front(inRow))
      rows.push_back(llvm::to_vector(rest.take_front(inRow)));
    Value from = behind(arena_, k_.add(slot, own));
    for (int64_t row = 0; row < geometry_.newRows; ++row)
      rows.push_back(rowAt(from, row));
    rows_.bring(ahead, k_.less(add(number, stages - 1), periods), slotAhead);
    core_.closeGroup();
    k_.when(isReady, [&] { store(ready, behind(staged_, parity)); });

    // Lines by age: the youngest begin.
    SmallVector<SmallVector<Values>> sums(1,
                                          SmallVector<Values>(pairs_, Values(kSums, bodies_.begin(form_.product.sum))));
    for (int64_t age = 0; age < geometry_.delay; ++age) {
      sums.emplace_back();
      for (int64_t pair = 0; pair < pairs_; ++pair, rest = rest.drop_front(kSums))
        sums.back().push_back(llvm::to_vector(rest.take_front(kSums)));
    }
    Value kept;
    if (geometry_.beginsOutside()) {
      Value isFirst = k_.equal(period.number, n(geometry_.skipped));
      kept = k_.select(isFirst, n(0), n(-1));
      // What periods that are skipped would have begun begins here.
      for (int64_t age = 1; age <= geometry_.skipped; ++age)
        for (Values &own : sums[size_t(age)])
          for (Value &sum : own)
            sum = k_.select(isFirst, bodies_.begin(form_.product.sum), sum);
    }
    multiply(rows, kept, sums);
    Value nextParity = k_.sub(n(geometry_.sumBytes), parity);
    Value isDone = isNot(k_.less(period.number, period.from));
    k_.when(isDone, [&] { stage(period, sums.back(), behind(staged_, nextParity)); });

    Values next = rows_.next(period, last).all();
    llvm::append_range(next, rows_.next(ahead, last).all());
    llvm::append_range(next, Values{nextSlot(slot), nextSlot(slotAhead)});
    llvm::append_range(next, period.all());
    llvm::append_range(next, Values{isDone, nextParity});
    for (int64_t row = geometry_.newRows; row < geometry_.newRows + geometry_.keptRows; ++row)
      llvm::append_range(next, rows[size_t(row)]);
    for (int64_t age = 0; age < geometry_.delay; ++age)
      for (const Values &own : sums[size_t(age)])
        llvm::append_range(next, own);
    return next;
  });
  core_.waitForGroups(0);
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
    BandKernel(kernel, shape, k, space, bodies, form, images, width, isAligned).run();
  };
  Value isAligned =
      k.both(bodies.isAligned(width, /*needsWhole=*/true), bodies.isAligned(form.image, BandRows::kCopy * 2));
  k.branch(isAligned, [&] { write(true); }, [&] { write(false); });
}

} // namespace tenon::compiler::codegen
