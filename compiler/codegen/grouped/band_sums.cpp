// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/band_sums.h"

#include "compiler/codegen/contraction/result_ops.h"
#include "compiler/codegen/kernel/tensor_core.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kVector = 8; // channels that are brought together

/// Numbers are 32 bits wide; only where an element of a tensor is takes 64.
class BandKernel {
public:
  BandKernel(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space, Bodies &bodies,
             const BandForm &form, uint32_t width, bool isAligned)
      : kernel_(kernel), shape_(shape), k_(k), space_(space), bodies_(bodies), form_(form), width_(width),
        isAligned_(isAligned), geometry_(geometryOf(form)), tile_(geometry_.tile), down_(form.down()),
        along_(form.along()), element_(form.image.element), core_(k, element_), word_(k.b.getI32Type()),
        arena_(k.dynamicShared()), sums_(k.at(arena_, k.b.getI8Type(), k.number(geometry_.patchBytes))),
        thread_(k.word(k.thread())), lane_(k.rem(thread_, n(32))), warp_(k.div(thread_, n(32))),
        row_(k.div(lane_, n(4))), pair_(k.rem(lane_, n(4))),
        firstChannel_(mul(k.rem(k.word(k.block()), n(tile_.chunksOf(form))), tile_.channels())) {}

  void run();

private:
  using Values = SmallVector<Value>;
  struct Patch { // its first result
    Value image, line, place;
  };

  static BandGeometry geometryOf(const BandForm &form) {
    BandGeometry geometry(form, *BandTile::of(form));
    geometry.padRows();
    return geometry;
  }
  Value n(int64_t value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value))); }
  Value add(Value x, int64_t y) { return k_.add(x, n(y)); }
  Value mul(Value x, int64_t y) { return k_.mul(x, n(y)); }
  Value less(Value x, int64_t y) { return k_.less(x, n(y)); }
  Value wide(Value number) { return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), number); }
  Value farther(Value number) { return arith::ExtSIOp::create(k_.b, k_.loc, k_.b.getI64Type(), number); }
  void both(Value &is, Value more) { is = is ? k_.both(is, more) : more; }
  /// What a number counts along several sides, the last of which runs fastest; the first has any length.
  Values placeAlong(Value number, ArrayRef<int64_t> sides);
  Point pointAt(ArrayRef<Value> loops);
  Values filtersAt(Value down, Value along, Value channel, uint32_t count);
  void loadBands();
  Patch patchAt(Value number);
  Values pairAt(int64_t round) { // image, row, pair of places, eight channels
    return placeAlong(add(thread_, round * kBandThreads),
                      {1, geometry_.rows, geometry_.places / 2, tile_.channels() / kVector});
  }
  bool isWholeRound(int64_t round) const {
    return (round + 1) * kBandThreads <= geometry_.pairs() * (tile_.channels() / kVector);
  }
  Values wordsAt(Value isThere, Value number);
  Values bring(Value number, Value exists);
  void put(ValueRange words);
  Value pieceAt(Value piece);
  int64_t unitAt(int64_t unit) const;
  Value sumAt(Value piece, Value inPiece, Value channel);
  Value sumOnCores();
  void sumColumn(int64_t first, int64_t each, Value &all);
  void sumPlainly();
  void store(Value number);

  const KernelFunction &kernel_;
  const GroupShape &shape_;
  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  const BandForm &form_;
  const uint32_t width_; // channels of a vector in which results are stored
  const bool isAligned_; // all that is read and stored
  const BandGeometry geometry_;
  const BandTile tile_;
  const BandForm::Slide down_, along_;
  Type element_;
  TensorCore core_;
  IntegerType word_;
  Value arena_, sums_;
  Value thread_, lane_, warp_, row_, pair_, firstChannel_;
  Values bands_; // [channels of a warp][steps][2]
};

BandKernel::Values BandKernel::placeAlong(Value number, ArrayRef<int64_t> sides) {
  Values place(sides.size());
  for (size_t i = sides.size(); i-- > 1;) {
    place[i] = k_.rem(number, n(sides[i]));
    number = k_.div(number, n(sides[i]));
  }
  if (!sides.empty())
    place[0] = number;
  return place;
}

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
BandKernel::Values BandKernel::filtersAt(Value down, Value along, Value channel, uint32_t count) {
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

/// Lane l has of each unit the places 2 (l % 4) and the next one, for result l / 4.
void BandKernel::loadBands() {
  Bodies::Scope scope(bodies_);
  Value channel = k_.add(firstChannel_, mul(warp_, tile_.perWarp));
  if (form_.channels() % tile_.channels() != 0)
    channel = k_.min(channel, n(form_.channels() - tile_.perWarp));
  Value line = k_.div(row_, n(tile_.wide)), place = k_.rem(row_, n(tile_.wide));
  Value none = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(element_));
  // Where in the window a place is that lies so far behind the result's first.
  auto inWindow = [&](Value behind, const BandForm::Slide &slide, Value &is) {
    both(is, less(behind, slide.window * slide.apart));
    if (slide.apart == 1)
      return behind;
    both(is, k_.equal(k_.rem(behind, n(slide.apart)), n(0)));
    return k_.div(behind, n(slide.apart));
  };
  bands_.assign(size_t(tile_.perWarp * geometry_.steps * 2), n(0));
  auto pairOf = VectorType::get(2, element_);
  for (int64_t unit = 0; unit < geometry_.units; ++unit) {
    SmallVector<Values> both; // [two places][channels]
    for (int64_t i = 0; i < 2; ++i) {
      Value is;
      Value down = inWindow(k_.sub(n(unit / geometry_.unitsOfRow), mul(line, down_.step)), down_, is);
      Value at = add(mul(pair_, 2), unit % geometry_.unitsOfRow * 8 + i);
      Value along = inWindow(k_.sub(at, mul(place, along_.step)), along_, is);
      Values values =
          filtersAt(k_.select(is, down, n(0)), k_.select(is, along, n(0)), channel, uint32_t(tile_.perWarp));
      for (Value &value : values)
        value = k_.select(is, value, none);
      both.push_back(values);
    }
    for (int64_t each = 0; each < tile_.perWarp; ++each) {
      Value all = LLVM::PoisonOp::create(k_.b, k_.loc, pairOf);
      for (int64_t i = 0; i < 2; ++i)
        all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, both[i][each], k_.number(i));
      bands_[(each * geometry_.steps + unit / 2) * 2 + unit % 2] =
          LLVM::BitcastOp::create(k_.b, k_.loc, word_, all).getResult();
    }
  }
}

BandKernel::Patch BandKernel::patchAt(Value number) {
  const auto lines = int64_t(llvm::divideCeil(down_.results, tile_.lines * tile_.high)),
             across = int64_t(llvm::divideCeil(along_.results, tile_.across * tile_.wide));
  const Values at = placeAlong(number, {1, lines, across});
  return {mul(at[0], tile_.images), mul(at[1], tile_.lines * tile_.high), mul(at[2], tile_.across * tile_.wide)};
}

/// Eight channels from an element of the image on, as four words; zeros where they are not there.
BandKernel::Values BandKernel::wordsAt(Value isThere, Value number) {
  Value from = k_.at(bodies_.base(form_.image), element_, number);
  if (isAligned_)
    return k_.loadWordsWhere(isThere, from);
  Type bits = k_.b.getIntegerType(16);
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(kVector, bits));
  for (int64_t i = 0; i < kVector; ++i)
    all = LLVM::InsertElementOp::create(
        k_.b, k_.loc, all, k_.loadWhere(isThere, cast<IntegerType>(bits), k_.at(from, element_, k_.number(i))),
        k_.number(i));
  all = LLVM::BitcastOp::create(k_.b, k_.loc, VectorType::get(kVector / 2, word_), all);
  Values words;
  for (int64_t word = 0; word < kVector / 2; ++word)
    words.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(word)));
  return words;
}

/// The thread's part of a patch, four words of each place; zeros outside of the image, and where the patch does not
/// exist.
BandKernel::Values BandKernel::bring(Value number, Value exists) {
  const Patch patch = patchAt(number);
  Value firstLine = add(mul(patch.line, down_.step), down_.offset),
        firstPlace = add(mul(patch.place, along_.step), along_.offset);
  // Of the patch's first place, which may lie outside, and from there.
  auto elementAt = [&](Value image, Value line, Value place, Value channel, auto times, auto number) {
    Value row = k_.add(k_.mul(image, number(down_.size)), line);
    return k_.add(times(k_.add(times(row, along_.size), place), form_.channels()), channel);
  };
  auto times64 = [&](Value x, int64_t y) { return k_.mul(x, k_.number(y)); };
  auto times32 = [&](Value x, int64_t y) { return mul(x, y); };
  Value first = elementAt(wide(patch.image), farther(firstLine), farther(firstPlace), wide(firstChannel_), times64,
                          [&](int64_t x) { return k_.number(x); });
  Values words;
  for (int64_t round = 0; round < geometry_.rounds(); ++round) {
    const Values at = pairAt(round);
    Value is = exists, place = mul(at[2], 2), channel = mul(at[3], kVector);
    if (form_.images() % tile_.images != 0)
      both(is, less(k_.add(patch.image, at[0]), form_.images()));
    if (!isWholeRound(round))
      both(is, less(at[0], tile_.images));
    if (form_.channels() % tile_.channels() != 0)
      both(is, less(k_.add(firstChannel_, channel), form_.channels()));
    both(is, less(k_.add(firstLine, at[1]), down_.size));
    Value behind = elementAt(at[0], at[1], place, channel, times32, [&](int64_t x) { return n(x); });
    Value element = k_.add(first, farther(behind));
    for (int64_t i = 0; i < 2; ++i) {
      Value isThere = k_.both(is, less(k_.add(firstPlace, add(place, i)), along_.size));
      llvm::append_range(words, wordsAt(isThere, k_.add(element, k_.number(i * form_.channels()))));
    }
  }
  return words;
}

/// To shared memory, each channel to its own plane.
void BandKernel::put(ValueRange words) {
  // Halves of two words as one: of both the lower, or the upper ones.
  auto halves = [&](Value x, Value y, bool areLower) {
    const char *text = areLower ? "prmt.b32 $0, $1, $2, 0x5410;" : "prmt.b32 $0, $1, $2, 0x7632;";
    return LLVM::InlineAsmOp::create(k_.b, k_.loc, word_, ValueRange{x, y}, text, "=r,r,r", /*has_side_effects=*/false,
                                     /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                     LLVM::AsmDialectAttr::get(k_.b.getContext(), LLVM::AsmDialect::AD_ATT),
                                     ArrayAttr())
        .getResult(0);
  };
  for (int64_t round = 0; round < geometry_.rounds(); ++round) {
    const Values at = pairAt(round);
    Value to = k_.add(mul(at[3], kVector * geometry_.plane),
                      k_.add(mul(at[0], geometry_.imagePitch), k_.add(mul(at[1], geometry_.pitch), mul(at[2], 2))));
    Value from = k_.at(arena_, element_, wide(to));
    const ValueRange here = words.slice(size_t(round * kVector), size_t(kVector));
    auto storeAll = [&] {
      for (int64_t i = 0; i < kVector; ++i) {
        Value x = here[size_t(i / 2)], y = here[size_t((kVector + i) / 2)];
        k_.store(halves(x, y, i % 2 == 0), k_.at(from, element_, k_.number(i * geometry_.plane)), 4);
      }
    };
    if (isWholeRound(round))
      storeAll();
    else
      k_.when(less(at[0], tile_.images), storeAll);
  }
}

/// Where a piece of the first line begins in a plane.
Value BandKernel::pieceAt(Value piece) {
  if (tile_.inLine() != tile_.ofLine())
    piece = k_.min(piece, n(tile_.inLine() - 1));
  const Values at = placeAlong(piece, {1, tile_.across});
  return k_.add(mul(at[0], geometry_.imagePitch), mul(at[1], geometry_.pieceStep));
}

/// Where a unit of a column of pieces begins behind that.
int64_t BandKernel::unitAt(int64_t unit) const {
  unit = std::min(unit, geometry_.patchUnits - 1); // behind the last the band has zeros
  return unit / geometry_.unitsOfRow * geometry_.pitch + unit % geometry_.unitsOfRow * 8;
}

Value BandKernel::sumAt(Value piece, Value inPiece, Value channel) {
  Value row = k_.div(inPiece, n(tile_.wide)), inRow = k_.rem(inPiece, n(tile_.wide));
  Value place = k_.add(mul(k_.rem(row, n(2)), geometry_.oddRow), mul(k_.div(row, n(2)), geometry_.rowPair));
  place = k_.add(place, k_.add(mul(piece, tile_.wide), inRow));
  return k_.at(sums_, k_.b.getF32Type(), wide(k_.add(mul(place, geometry_.sumPitch), channel)));
}

/// @return whether all sums of this lane are finite
Value BandKernel::sumOnCores() {
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(0));
  Value all = zero; // sums times zero: zero, or no number
  for (int64_t first = 0; first < tile_.ofLine(); first += BandTile::kRows)
    for (int64_t each = 0; each < tile_.perWarp; ++each)
      sumColumn(first, each, all);
  return arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::OEQ, all, zero);
}

/// 16 pieces of each line, of one of the warp's channels.
void BandKernel::sumColumn(int64_t first, int64_t each, Value &all) {
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(0));
  Value channel = add(mul(warp_, tile_.perWarp), each);
  Values pieces, starts;
  for (int64_t half = 0; half < 2; ++half) {
    pieces.push_back(add(row_, first + half * (BandTile::kRows / 2)));
    Value start = k_.add(pieceAt(pieces.back()), k_.add(mul(pair_, 2), mul(channel, geometry_.plane)));
    starts.push_back(k_.at(arena_, element_, wide(start)));
  }
  auto unitsAt = [&](int64_t unit) { // of two units
    Values left;
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t half = 0; half < 2; ++half)
        left.push_back(k_.load(word_, k_.at(starts[half], element_, k_.number(unitAt(unit + i))), 4));
    return left;
  };
  const Values none(4, bodies_.begin(form_.product.sum));
  SmallVector<Values> sums(size_t(tile_.lines), none);
  auto multiply = [&](int64_t line, int64_t step, ValueRange left) {
    Values &own = sums[size_t(line)];
    own = core_.multiply(left, ValueRange(bands_).slice(size_t((each * geometry_.steps + step) * 2), 2), own);
    if (step + 1 != geometry_.steps)
      return;
    for (int64_t i = 0; i < 4; ++i) {
      all = LLVM::FMAOp::create(k_.b, k_.loc, own[i], zero, all);
      k_.store(own[i], sumAt(add(pieces[i / 2], line * tile_.ofLine()), add(mul(pair_, 2), i % 2), channel),
               sizeof(float));
    }
  };
  if (geometry_.stepsToNext) {
    for (int64_t step = 0; 2 * step < geometry_.patchUnits; ++step) {
      const Values left = unitsAt(2 * step);
      for (int64_t line = 0; line < tile_.lines; ++line)
        if (const int64_t own = step - line * *geometry_.stepsToNext; own >= 0 && own < geometry_.steps)
          multiply(line, own, left);
    }
    return;
  }
  for (int64_t line = 0; line < tile_.lines; ++line)
    for (int64_t step = 0; step < geometry_.steps; ++step)
      multiply(line, step, unitsAt(line * geometry_.lineStep * geometry_.unitsOfRow + 2 * step));
}

/// All sums of a warp's channels, lane by lane.
void BandKernel::sumPlainly() {
  const int64_t pieces = tile_.ofLine();
  const Sum &kind = form_.product.sum.sum;
  k_.loop(
      lane_, n(tile_.perWarp * tile_.lines * pieces * BandTile::kColumns), n(32), {}, [&](Value number, ValueRange) {
        const Values at = placeAlong(number, {1, tile_.lines, pieces, BandTile::kColumns});
        Value channel = k_.add(mul(warp_, tile_.perWarp), at[0]), inPiece = at[3];
        Value start = k_.add(mul(channel, geometry_.plane), pieceAt(at[2]));
        Value line = k_.add(mul(at[1], geometry_.lineStep), mul(k_.div(inPiece, n(tile_.wide)), down_.step));
        start = k_.add(start, k_.add(mul(line, geometry_.pitch), mul(k_.rem(inPiece, n(tile_.wide)), along_.step)));
        Value own = k_.min(k_.add(firstChannel_, channel), n(form_.channels() - 1));
        const Values total = k_.loop(
            n(0), n(down_.window * along_.window), n(1), bodies_.begin(form_.product.sum),
            [&](Value window, ValueRange carried) {
              Bodies::Scope scope(bodies_);
              Value down = k_.div(window, n(along_.window)), along = k_.rem(window, n(along_.window));
              Value from = k_.add(start, k_.add(mul(down, down_.apart * geometry_.pitch), mul(along, along_.apart)));
              Value image = extended(k_, form_.product.left, k_.load(element_, k_.at(arena_, element_, wide(from)), 2),
                                     kind.type);
              Value filter = extended(k_, form_.product.right, filtersAt(down, along, own, 1).front(), kind.type);
              return Values{
                  combine(k_, kind, carried[0], arith::MulFOp::create(k_.b, k_.loc, image, filter).getResult())};
            });
        k_.store(total.front(), sumAt(k_.add(mul(at[1], pieces), at[2]), inPiece, channel), sizeof(float));
        return Values();
      });
}

void BandKernel::store(Value number) {
  const int64_t lines = std::min(tile_.lines * tile_.high, down_.results),
                across = std::min(tile_.across * tile_.wide, along_.results), vectors = tile_.channels() / width_;
  const Patch patch = patchAt(number);
  const RowSum &sum = form_.product.sum;
  auto storeAt = [&](const Values &at) { // image, line, place, vector
    Value piece = k_.add(mul(k_.div(at[1], n(tile_.high)), tile_.ofLine()),
                         k_.add(mul(at[0], tile_.across), k_.div(at[2], n(tile_.wide))));
    Value inPiece = k_.add(mul(k_.rem(at[1], n(tile_.high)), tile_.wide), k_.rem(at[2], n(tile_.wide)));
    Value inChunk = mul(at[3], width_), from = sumAt(piece, inPiece, inChunk);
    Values loops(form_.sizes.size());
    SmallVector<int64_t> outer;
    for (unsigned loop : form_.loops.outer)
      outer.push_back(form_.sizes[loop]);
    Value is;
    auto place = [&](unsigned loop, Value first, Value behind, int64_t size, int64_t each) {
      loops[loop] = k_.add(first, behind);
      if (size % each != 0)
        both(is, less(loops[loop], size));
    };
    Value image = k_.add(patch.image, at[0]);
    for (auto [loop, index] : llvm::zip_equal(form_.loops.outer, placeAlong(image, outer)))
      loops[loop] = index;
    if (form_.images() % tile_.images != 0)
      both(is, less(image, form_.images()));
    if (form_.loops.down)
      place(form_.loops.down->loop, patch.line, at[1], down_.results, lines);
    place(form_.loops.along.loop, patch.place, at[2], along_.results, across);
    place(form_.loops.channel, firstChannel_, inChunk, form_.channels(), tile_.channels());
    const Point point = pointAt(loops);
    auto storeOne = [&] {
      Values totals;
      for (uint32_t lane = 0; lane < width_; ++lane) {
        Value total = k_.load(sum.sum.type, k_.at(from, sum.sum.type, k_.number(lane)), sizeof(float));
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
  const int64_t count = tile_.images * lines * across * vectors;
  if (!isAligned_) {
    k_.loop(thread_, n(count), n(kBandThreads), {}, [&](Value number, ValueRange) {
      Bodies::Scope scope(bodies_);
      bodies_.setWidth(width_, isAligned_);
      storeAt(placeAlong(number, {1, lines, across, vectors}));
      return Values();
    });
    return;
  }
  // Where they lie is the same for all patches.
  for (int64_t first = 0; first < count; first += kBandThreads) {
    Bodies::Scope scope(bodies_);
    bodies_.setWidth(width_, isAligned_);
    Value number = add(thread_, first);
    auto storeOne = [&] { storeAt(placeAlong(number, {1, lines, across, vectors})); };
    if (first + kBandThreads > count)
      k_.when(less(number, count), storeOne);
    else
      storeOne();
  }
}

void BandKernel::run() {
  const int64_t ofBlock = patchesOfBlock(form_, tile_), all = tile_.patchesOf(form_);
  Value first = mul(k_.div(k_.word(k_.block()), n(tile_.chunksOf(form_))), ofBlock);
  Value last = k_.min(add(first, ofBlock), n(all));
  const Values begun = bring(first, k_.less(first, last));
  loadBands(); // while that is on its way
  k_.loop(first, last, n(1), begun, [&](Value number, ValueRange words) {
    put(words);
    k_.barrier();
    Value isFinite = sumOnCores();
    Value odd = k_.ballot(
        k_.exclusiveOr(isFinite, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true)).getResult()));
    k_.when(arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, odd, n(0)), [&] {
      k_.syncWarp(); // behind what other lanes stored
      sumPlainly();
    });
    k_.barrier();
    Value next = add(number, 1);
    Values ahead = bring(next, k_.less(next, last));
    store(number);
    return ahead;
  });
}

} // namespace

void writeBandSums(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                   Bodies &bodies, const BandForm &form) {
  space.vectorAxis = form.product.batch.front();
  const uint32_t width = vectorWidth(kernel, shape, space.vectorAxis);
  k.wantResident(kBandBlocks);
  auto write = [&](bool isAligned) {
    Bodies::Scope scope(bodies);
    BandKernel(kernel, shape, k, space, bodies, form, width, isAligned).run();
  };
  Value isAligned = k.both(bodies.isAligned(width, /*needsWhole=*/true), bodies.isAligned(form.image, kVector * 2));
  k.branch(isAligned, [&] { write(true); }, [&] { write(false); });
}

} // namespace tenon::compiler::codegen
