// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/bands/band_rows.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Value BandNumbers::n(int64_t value) const {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value)));
}

Value BandNumbers::wide(Value number) const {
  return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), number);
}

Value BandNumbers::farther(Value number) const {
  return arith::ExtSIOp::create(k_.b, k_.loc, k_.b.getI64Type(), number);
}

Value BandNumbers::isNot(Value is) const {
  return k_.exclusiveOr(is, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true)).getResult());
}

Value BandNumbers::behind(Value base, Value bytes) const {
  return k_.at(base, k_.b.getI8Type(), wide(bytes));
}

Value BandNumbers::behind(Value base, int64_t bytes) const {
  return k_.at(base, k_.b.getI8Type(), k_.number(bytes));
}

BandNumbers::Values BandNumbers::placeAlong(Value number, ArrayRef<int64_t> sides) const {
  Values place(sides.size());
  for (size_t i = sides.size(); i-- > 1;) {
    place[i] = k_.rem(number, n(sides[i]));
    number = k_.div(number, n(sides[i]));
  }
  if (!sides.empty())
    place[0] = number;
  return place;
}

BandRows::Period BandRows::firstPeriod(Value first, Value last) const {
  Value tile = k_.div(first, n(geometry_.pairs)), pair = k_.rem(first, n(geometry_.pairs));
  Value end = k_.min(n(geometry_.pairs), k_.sub(last, mul(tile, geometry_.pairs)));
  const int64_t before = geometry_.before();
  // In the middle of a tile the rows that are kept have to be brought.
  Value number = k_.sub(pair, k_.min(pair, n(geometry_.moreBefore())));
  number = k_.select(less(number, geometry_.skipped), n(geometry_.skipped), number);
  return {tile, number, add(pair, before), add(end, before)};
}

BandRows::Period BandRows::next(const Period &period, Value last) const {
  Value following = add(period.number, 1), isEnd = k_.equal(following, period.end), tile = add(period.tile, 1);
  const int64_t before = geometry_.before();
  Value end = add(k_.min(n(geometry_.pairs), k_.sub(last, mul(tile, geometry_.pairs))), before);
  return {k_.select(isEnd, tile, period.tile), k_.select(isEnd, n(geometry_.skipped), following),
          k_.select(isEnd, n(before), period.from), k_.select(isEnd, end, period.end)};
}

BandRows::First BandRows::firstOf(Value tile) const {
  const auto across = int64_t(llvm::divideCeil(along_.results, tile_.across() * BandTile::kWide));
  return {mul(k_.div(tile, n(across)), tile_.images), mul(k_.rem(tile, n(across)), tile_.across() * BandTile::kWide)};
}

/// Eight channels from an element of the image on, as four words; zeros where they are not there.
BandNumbers::Values BandRows::wordsAt(Value isThere, Value number) const {
  Value from = k_.at(bodies_.base(form_.image), element_, number);
  if (isAligned_)
    return k_.loadWordsWhere(isThere, from);
  Type bits = k_.b.getIntegerType(16);
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(kCopy, bits));
  for (int64_t i = 0; i < kCopy; ++i)
    all = LLVM::InsertElementOp::create(
        k_.b, k_.loc, all, k_.loadWhere(isThere, cast<IntegerType>(bits), k_.at(from, element_, k_.number(i))),
        k_.number(i));
  all = LLVM::BitcastOp::create(k_.b, k_.loc, VectorType::get(kCopy / 2, word_), all);
  Values words;
  for (int64_t word = 0; word < kCopy / 2; ++word)
    words.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(word)));
  return words;
}

void BandRows::bring(const Period &period, Value exists, Value slot) const {
  const First tile = firstOf(period.tile);
  Value firstLine =
            add(mul(period.number, geometry_.newRows), down_.offset - geometry_.shift + geometry_.keptRows -
                                                           (geometry_.before() - geometry_.delay) * geometry_.newRows),
        firstPlace = add(mul(tile.place, along_.step), along_.offset);
  // Of the first place, which may lie outside, and from there.
  auto elementAt = [&](Value image, Value line, Value place, Value channel, auto times, auto number) {
    Value row = k_.add(k_.mul(image, number(down_.size)), line);
    return k_.add(times(k_.add(times(row, along_.size), place), form_.channels()), channel);
  };
  auto times64 = [&](Value x, int64_t y) { return k_.mul(x, k_.number(y)); };
  auto times32 = [&](Value x, int64_t y) { return mul(x, y); };
  Value first = elementAt(wide(tile.image), farther(firstLine), farther(firstPlace), wide(firstChannel_), times64,
                          [&](int64_t x) { return k_.number(x); });
  const int64_t copies = tile_.channels() / kCopy;
  const int64_t vectors = geometry_.newRows * tile_.images * geometry_.places * copies;
  for (int64_t round = 0; round * kBandThreads < vectors; ++round) {
    Value number = add(thread_, round * kBandThreads);
    const Values at = placeAlong(number, {1, tile_.images, geometry_.places, copies});
    Value is = exists, channel = mul(at[3], kCopy);
    if (!form_.areImagesWhole(tile_.images))
      both(is, k_.less(k_.add(tile.image, at[1]), images_));
    if (form_.channels() % tile_.channels() != 0)
      both(is, less(k_.add(firstChannel_, channel), form_.channels()));
    both(is, less(k_.add(firstLine, at[0]), down_.size));
    both(is, less(k_.add(firstPlace, at[2]), along_.size));
    Value element =
        k_.add(first, farther(elementAt(at[1], at[0], at[2], channel, times32, [&](int64_t x) { return n(x); })));
    Value inPeriod = k_.add(mul(k_.div(number, n(copies)), geometry_.pitch), mul(at[3], kCopy * 2));
    Value to = behind(arena_, k_.add(slot, inPeriod));
    auto bringOne = [&] {
      if (isAligned_)
        return core_.copyAsync(to, k_.at(bodies_.base(form_.image), element_, element), is);
      Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(4, word_));
      for (auto [i, word] : llvm::enumerate(wordsAt(is, element)))
        all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, word, k_.number(int64_t(i)));
      k_.store(all, to, 16);
    };
    if ((round + 1) * kBandThreads > vectors)
      k_.when(less(number, vectors), bringOne);
    else
      bringOne();
  }
}

} // namespace tenon::compiler::codegen
