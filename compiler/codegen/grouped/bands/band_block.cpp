// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/bands/band_block.h"

using namespace mlir;

namespace tenon::compiler::codegen {

using Values = BandNumbers::Values;

BandBlock::BandBlock(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                     Bodies &bodies, const BandForm &form, Value images, uint32_t width, bool isAligned)
    : BandNumbers(k), kernel(kernel), shape(shape), k(k), space(space), bodies(bodies), form(form), width(width),
      isAligned(isAligned), tile(*BandTile::of(form)), pairs(tile.vector / 2), geometry(form, tile), down(form.down()),
      along(form.along()), core(k, form.image.element), images(images), word(k.b.getI32Type()),
      arena(k.dynamicShared()), thread(k.word(k.thread())), lane(k.rem(thread, n(32))), warp(k.div(thread, n(32))),
      firstChannel(mul(k.rem(k.word(k.block()), n(tile.chunksOf(form))), tile.channels())),
      rows(form, geometry, k, bodies, core, images, isAligned, arena, thread, firstChannel), zero_(k.word(k.block(2))) {
}

BandBlock::Part BandBlock::part() const {
  const auto across = int64_t(llvm::divideCeil(along.results, tile.across() * BandTile::kWide));
  Value all = n(tile.tilesOf(form) * geometry.pairs), ofBlock = n(pairsOfBlock(form, tile));
  if (!form.knowsImages()) {
    const int64_t blocks = blocksOf(form, tile) / tile.chunksOf(form);
    all = mul(k.div(add(images, tile.images - 1), n(tile.images)), across * geometry.pairs);
    ofBlock = k.div(add(all, blocks - 1), n(blocks));
  }
  Value first = k.mul(k.div(k.word(k.block()), n(tile.chunksOf(form))), ofBlock);
  Value last = k.min(k.add(first, ofBlock), all);
  auto tileOf = [&](Value pair) { return k.div(pair, n(geometry.pairs)); };
  // Every tile that the block has a part of begins with periods without results.
  Value tiles = add(k.sub(tileOf(add(last, -1)), tileOf(first)), 1);
  const Period begun = rows.firstPeriod(first, last);
  Value periods = k.add(k.sub(last, first), mul(tiles, geometry.before() - geometry.skipped));
  periods = k.sub(k.add(periods, add(k.rem(first, n(geometry.pairs)), geometry.skipped)), begun.number);
  if (!form.knowsImages())
    periods = k.select(k.less(first, last), periods, n(0));
  return {last, periods, begun};
}

Point BandBlock::pointAt(ArrayRef<Value> loops) {
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(form.product.op->op);
  Point point;
  for (const SpaceAxis &axis : shape.axes) { // of which some are several loops
    Value index = k.number(0);
    for (unsigned each : axis.axes) {
      const size_t loop = llvm::find(groupAxes, each) - groupAxes.begin();
      index = k.mul(index, k.number(form.sizes[loop]));
      if (loops[loop])
        index = k.add(index, wide(loops[loop]));
    }
    point.index.push_back(index);
  }
  point.id = space.newId();
  return point;
}

Values BandBlock::filtersAt(Value inColumn, Value inRow, Value channel, uint32_t count) {
  Values loops(form.sizes.size());
  auto place = [&](const dispatch::ChannelWindows::Place &slide, Value at) {
    if (slide.window)
      loops[*slide.window] = slide.isBackwards ? k.sub(n(form.sizes[*slide.window] - 1), at) : at;
  };
  if (form.loops.down)
    place(*form.loops.down, inColumn);
  place(form.loops.along, inRow);
  loops[form.loops.channel] = channel;
  bodies.setWidth(count, isAligned);
  const Lanes lanes = bodies.ofBody(*form.product.op, form.product.right.value, pointAt(loops));
  Values values;
  for (uint32_t each = 0; each < count; ++each)
    values.push_back(lanes[each]);
  return values;
}

Value BandBlock::firstResultOf(const Period &period) const {
  return mul(k.sub(period.number, n(geometry.before())), BandTile::kLines);
}

/// Lane l has of each group place l % 4, of result l / 8 and the first or second channel of each pair.
void BandBlock::loadBands() {
  Bodies::Scope scope(bodies);
  Value channel = k.add(firstChannel, mul(warp, tile.vector));
  if (form.channels() % tile.channels() != 0)
    channel = k.min(channel, n(form.channels() - tile.vector));
  Value result = k.div(lane, n(8)), isSecond = k.equal(k.rem(k.div(lane, n(4)), n(2)), n(1));
  Type element = form.image.element;
  Value none = arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(element));
  const uint32_t count = std::min(width, uint32_t(tile.vector));
  bands_.assign(size_t(geometry.window), {});
  for (int64_t row = 0; row < geometry.window; ++row)
    for (int64_t group = 0; group < geometry.groups; ++group) {
      // Where in the window the place is.
      Value place = k.sub(add(k.rem(lane, n(4)), group * 4), mul(result, along.step));
      Value is = less(place, along.window * along.apart);
      if (along.apart != 1) {
        both(is, k.equal(k.rem(place, n(along.apart)), n(0)));
        place = k.div(place, n(along.apart));
      }
      place = k.select(is, place, n(0));
      Values values;
      for (int64_t first = 0; first < tile.vector; first += count)
        llvm::append_range(values, filtersAt(n(row), place, add(channel, first), count));
      for (int64_t pair = 0; pair < pairs; ++pair) {
        Value all = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(2, element));
        for (int64_t i = 0; i < 2; ++i)
          all = LLVM::InsertElementOp::create(
              k.b, k.loc, all,
              k.select(k.both(is, i == 0 ? isNot(isSecond) : isSecond), values[size_t(2 * pair + i)], none),
              k.number(i));
        bands_[size_t(row)].push_back(LLVM::BitcastOp::create(k.b, k.loc, word, all).getResult());
      }
    }
}

void BandBlock::begin(Values &state) {
  state.append(size_t(geometry.keptRows) * wordsOfRow(), n(0));
  state.append(size_t(geometry.delay) * size_t(pairs) * kSums, bodies.begin(form.product.sum));
}

SmallVector<Values> BandBlock::keptRows(ValueRange &carried) const {
  SmallVector<Values> kept;
  for (int64_t row = 0; row < geometry.keptRows; ++row, carried = carried.drop_front(wordsOfRow()))
    kept.push_back(llvm::to_vector(carried.take_front(wordsOfRow())));
  return kept;
}

/// The youngest begin.
BandBlock::Sums BandBlock::begun(ValueRange &carried) {
  Sums sums(1, SmallVector<Values>(size_t(pairs), Values(kSums, bodies.begin(form.product.sum))));
  for (int64_t age = 0; age < geometry.delay; ++age) {
    sums.emplace_back();
    for (int64_t pair = 0; pair < pairs; ++pair, carried = carried.drop_front(kSums))
      sums.back().push_back(llvm::to_vector(carried.take_front(kSums)));
  }
  return sums;
}

void BandBlock::carry(Values &next, ArrayRef<Values> own, const Sums &sums) const {
  for (int64_t row = geometry.newRows; row < geometry.newRows + geometry.keptRows; ++row)
    llvm::append_range(next, own[size_t(row)]);
  for (int64_t age = 0; age < geometry.delay; ++age)
    for (const Values &each : sums[size_t(age)])
      llvm::append_range(next, each);
}

/// A copy that is made once: of one that an assembler sees as such it makes another for each product. A row is that of
/// either line, once; one that the period kept is the upper line's, and is none where the tile begins.
/// @param kept all bits of the rows that the period kept, or none
Value BandBlock::moved(Value bits, int64_t row, int64_t line, Value kept) {
  if (line != 0)
    return k.add(bits, zero_);
  if (row < geometry.keptRows && kept)
    return arith::AndIOp::create(k.b, k.loc, bits, kept);
  return arith::OrIOp::create(k.b, k.loc, bits, zero_);
}

/// A left side is four registers that follow each other, a row of each line at two units: a row of the window that
/// begins at a row of the period, and a group along it. What is read are others that follow each other, so that they
/// are moved. Lines of all ages meet the same units, and their products with a left side come one behind the other.
void BandBlock::multiply(const Period &period, ArrayRef<Values> own, Sums &sums) {
  Value kept;
  if (geometry.beginsOutside()) {
    Value isFirst = k.equal(period.number, n(geometry.skipped));
    kept = k.select(isFirst, n(0), n(-1));
    // What periods that are skipped would have begun begins here.
    for (int64_t age = 1; age <= geometry.skipped; ++age)
      for (Values &each : sums[size_t(age)])
        for (Value &sum : each)
          sum = k.select(isFirst, bodies.begin(form.product.sum), sum);
  }
  SmallVector<std::pair<int64_t, int64_t>> units; // row of the period, group
  for (int64_t row = 0; row < geometry.newRows; ++row)
    if (llvm::any_of(llvm::seq(geometry.window), [&](int64_t each) { return geometry.rowOf(each) == row; }))
      for (int64_t group = 0; group < geometry.groups; ++group)
        units.push_back({row, group});
  for (size_t first = 0; first < units.size(); first += 2)
    for (int64_t pair = 0; pair < pairs; ++pair) {
      Values left;
      for (size_t i = first; i < first + 2; ++i) {
        const auto [row, group] = units[std::min(i, units.size() - 1)];
        for (int64_t line = 0; line < BandTile::kLines; ++line)
          left.push_back(moved(own[size_t(row + line * geometry.step)][size_t(group * pairs + pair)], row, line, kept));
      }
      for (int64_t age = 0; age <= geometry.delay; ++age) {
        Values right(2, n(0));
        bool isMet = false;
        for (size_t i = first; i < std::min(first + 2, units.size()); ++i)
          for (int64_t each = 0; each < geometry.window; ++each)
            if (geometry.ageOf(each) == age && geometry.rowOf(each) == units[i].first) {
              right[i - first] = bands_[size_t(each)][size_t(units[i].second * pairs + pair)];
              isMet = true;
            }
        if (isMet)
          sums[size_t(age)][size_t(pair)] = core.multiply(left, right, sums[size_t(age)][size_t(pair)]);
      }
    }
}

Value BandBlock::areNotFinite(ArrayRef<Values> sums) {
  Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getF32FloatAttr(0));
  Value all; // sums times zero: zero, or no number
  for (const Values &ofPair : sums) {
    Value each = zero;
    for (Value sum : ofPair)
      each = LLVM::FMAOp::create(k.b, k.loc, sum, zero, each);
    all = all ? arith::AddFOp::create(k.b, k.loc, all, each).getResult() : each;
  }
  return isNot(arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::OEQ, all, zero));
}

Value BandBlock::sumAt(Value from, Value line, Value place, Value channel) {
  Value pair = k.add(mul(k.div(channel, n(2)), 2 * BandTile::kLines), k.add(mul(line, 2), k.rem(channel, n(2))));
  return behind(from, mul(k.add(mul(place, geometry.sumPitch), pair), sizeof(float)));
}

void BandBlock::sumPlainly(const Period &period, Value to) {
  const Sum &kind = form.product.sum.sum;
  const BandRows::First first = rows.firstOf(period.tile);
  const Values at = placeAlong(lane, {1, tile.across() * BandTile::kWide});
  Value image = k.min(k.add(first.image, at[0]), add(images, -1));
  Value firstPlace = add(mul(k.add(first.place, at[1]), along.step), along.offset);
  Value firstLine = firstResultOf(period);
  Type element = form.image.element;
  Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(element));
  k.loop(n(0), n(BandTile::kLines * tile.vector), n(1), {}, [&](Value number, ValueRange) {
    const Values result = placeAlong(number, {1, tile.vector});
    Value inChunk = k.add(mul(warp, tile.vector), result[1]);
    Value channel = k.min(k.add(firstChannel, inChunk), n(form.channels() - 1));
    Value line = add(mul(k.add(firstLine, result[0]), down.step), down.offset);
    const Values total = k.loop(
        n(0), n(down.window * along.window), n(1), bodies.begin(form.product.sum),
        [&](Value window, ValueRange carried) {
          Bodies::Scope scope(bodies);
          Value inColumn = k.div(window, n(along.window)), inRow = k.rem(window, n(along.window));
          Value row = k.add(line, mul(inColumn, down.apart)), place = k.add(firstPlace, mul(inRow, along.apart));
          Value is = k.both(less(row, down.size), less(place, along.size));
          Value number = k.add(k.mul(wide(image), k.number(down.size)), wide(k.select(is, row, n(0))));
          number = k.add(k.mul(number, k.number(along.size)), wide(k.select(is, place, n(0))));
          number = k.add(k.mul(number, k.number(form.channels())), wide(channel));
          Value loaded = k.load(element, k.at(bodies.base(form.image), element, number), 2);
          Value left = extended(k, form.product.left, k.select(is, loaded, zero), kind.type);
          Value right = extended(k, form.product.right, filtersAt(inColumn, inRow, channel, 1).front(), kind.type);
          return Values{combine(k, kind, carried[0], arith::MulFOp::create(k.b, k.loc, left, right).getResult())};
        });
    k.store(total.front(), sumAt(to, result[0], lane, inChunk), sizeof(float));
    return Values();
  });
}

} // namespace tenon::compiler::codegen
