// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/channel_sums.h"

#include "compiler/codegen/grouped/filter_operands.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Numbers of each thread that are added up at once: 32 KB of a block.
constexpr int64_t kAddedAtOnce = 32;
// Lines whose loads are on their way while one is multiplied.
constexpr size_t kAhead = 2;

class ChannelFiltersKernel {
public:
  ChannelFiltersKernel(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                       Bodies &bodies, const ChannelForm &form)
      : kernel_(kernel), shape_(shape), k_(k), space_(space), bodies_(bodies), form_(form),
        tile_(ChannelTile::of(form)), down_(form.down()), along_(form.along()),
        bytes_(dispatch::elementBytes(form.image.element)), chunk_(k.rem(k.block(), k.number(tile_.chunks(form)))),
        inTeam_(k.rem(k.thread(), k.number(tile_.across))), team_(k.div(k.thread(), k.number(tile_.across))),
        firstChannel_(
            k.add(k.mul(chunk_, k.number(tile_.across * tile_.lanes)), k.mul(inTeam_, k.number(tile_.lanes)))) {
    SmallVector<int64_t> sides;
    for (unsigned loop : form.loops.parts)
      sides.push_back(form.sizes[loop]);
    parts_ = placeAlong(k, k.div(k.block(), k.number(tile_.chunks(form))), sides);
    if (tile_.teams() * tile_.across != kChannelThreads)
      isOfTeam_ = k.less(team_, k.number(tile_.teams()));
  }

  void run();

private:
  using Values = SmallVector<Value>;
  /// Where an index of the image is, and whether that is inside; null: it is known to be.
  struct Index {
    Value at, isInside;
  };
  /// A line of the image as it lies in memory, and the lines of the gradient whose windows begin there.
  struct Line {
    SmallVector<Values> image;                                     // [columns][words]
    SmallVector<std::pair<int64_t, SmallVector<Values>>> gradient; // number, [run][words]
  };

  static void both(KernelBuilder &k, Value &is, Value more) {
    if (more)
      is = is ? k.both(is, more) : more;
  }
  void placePatch(Value number);
  Index indexOf(unsigned dimension, int64_t met, int64_t neighbours);
  Values load(Value from, Value isInside);
  Values widened(ArrayRef<Value> words, const Operand &operand);
  Value gradientAt(int64_t line);
  Line bring(int64_t met);
  Values sumPatch(ValueRange carried);
  Values sum(ChannelTile tile, bool isVector);
  void addUp(ArrayRef<Value> sums);

  const KernelFunction &kernel_;
  const GroupShape &shape_;
  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  const ChannelForm &form_;
  const ChannelTile tile_;
  const ChannelForm::Slide down_, along_;
  const int64_t bytes_; // of an element
  Value chunk_, inTeam_, team_, firstChannel_;
  Values parts_;
  Value isOfTeam_; // null: all threads are

  ChannelTile patch_; // of which sumPatch() sums one
  bool isVector_ = true;
  Values loops_;            // [loops] where it begins; of the window 0
  Value imageBase_;         // pointer, of all dimensions but those that windows slide along
  Value isOuterInside_;     // of these
  Value firstColumn_;       // that its windows meet along a line; it may lie outside, as others of them
  Values areColumnsInside_; // [met of along_]
};

void ChannelFiltersKernel::placePatch(Value number) {
  loops_.assign(form_.sizes.size(), k_.number(0));
  for (auto [loop, part] : llvm::zip_equal(form_.loops.parts, parts_))
    loops_[loop] = part;
  SmallVector<int64_t> counts;
  auto sideOf = [&](unsigned loop) {
    return loop == form_.loops.places[*along_.dimension].loop                     ? patch_.run
           : down_.dimension && loop == form_.loops.places[*down_.dimension].loop ? patch_.lines
                                                                                  : 1;
  };
  for (unsigned loop : form_.loops.summed)
    counts.push_back(form_.sizes[loop] / sideOf(loop));
  for (auto [loop, at] : llvm::zip_equal(form_.loops.summed, placeAlong(k_, number, counts)))
    loops_[loop] = k_.mul(at, k_.number(sideOf(loop)));

  const SmallVector<int64_t> strides = stridesOf(form_.image);
  Value outer = firstChannel_;
  isOuterInside_ = Value();
  for (unsigned dimension = 0; dimension < form_.loops.along(); ++dimension)
    if (down_.dimension != dimension) {
      const Index index = indexOf(dimension, 0, 1);
      both(k_, isOuterInside_, index.isInside);
      outer = k_.add(outer, k_.mul(index.at, k_.number(strides[dimension])));
    }
  imageBase_ = k_.at(bodies_.base(form_.image), form_.image.element, outer);
  areColumnsInside_.clear();
  for (int64_t met : along_.met(patch_.run)) {
    const Index index = indexOf(*along_.dimension, met, patch_.run);
    areColumnsInside_.push_back(index.isInside);
    if (met == 0)
      firstColumn_ = index.at;
  }
}

/// @param met places behind the first that the patch meets @param neighbours of the patch along the dimension
ChannelFiltersKernel::Index ChannelFiltersKernel::indexOf(unsigned dimension, int64_t met, int64_t neighbours) {
  const dispatch::FilterPlace &place = form_.loops.places[dimension];
  Index index{k_.number(0), {}};
  int64_t last = place.offset + met; // of all parts and patches
  for (auto [loop, step] : place.parts) {
    index.at = k_.add(index.at, k_.mul(loops_[loop], k_.number(step)));
    last += (form_.sizes[loop] - 1) * step;
  }
  if (place.loop) {
    index.at = k_.add(index.at, k_.mul(loops_[*place.loop], k_.number(place.step)));
    last += (form_.sizes[*place.loop] - neighbours) * place.step;
  }
  index.at = k_.add(index.at, k_.number(place.offset + met));
  const int64_t size = form_.image.shape[dimension].size;
  if (place.offset + met < 0 || last >= size)
    index.isInside = k_.less(index.at, k_.number(size)); // unsigned
  return index;
}

/// The thread's channels of a place, in words; zeros outside.
ChannelFiltersKernel::Values ChannelFiltersKernel::load(Value from, Value isInside) {
  Values words;
  const int64_t together = isVector_ ? tile_.lanes : 1;
  for (int64_t lane = 0; lane < tile_.lanes; lane += together) {
    IntegerType word = k_.b.getIntegerType(unsigned(together * bytes_ * 8));
    Value at = k_.at(from, form_.image.element, k_.number(lane));
    words.push_back(isInside ? k_.loadWhere(isInside, word, at) : k_.load(word, at, uint32_t(together * bytes_)));
  }
  return words;
}

/// Each of them as f32.
ChannelFiltersKernel::Values ChannelFiltersKernel::widened(ArrayRef<Value> words, const Operand &operand) {
  Type element = form_.image.element, wide = form_.product.sum.sum.type;
  Values elements;
  for (Value word : words) {
    const unsigned count = word.getType().getIntOrFloatBitWidth() / unsigned(bytes_ * 8);
    if (count == 2 && element.isBF16()) {
      // A bf16 is the upper half of an f32.
      auto constant = [&](int64_t value) {
        return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getIntegerAttr(word.getType(), value));
      };
      Value low = arith::ShLIOp::create(k_.b, k_.loc, word, constant(16)),
            high = arith::AndIOp::create(k_.b, k_.loc, word, constant(0xffff0000));
      for (Value bits : {low, high})
        elements.push_back(arith::BitcastOp::create(k_.b, k_.loc, wide, bits));
      continue;
    }
    Value all = LLVM::BitcastOp::create(k_.b, k_.loc, count == 1 ? element : VectorType::get(count, element), word);
    for (unsigned i = 0; i < count; ++i) {
      Value each = count == 1 ? all : LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(i)).getResult();
      elements.push_back(extended(k_, operand, each, wide));
    }
  }
  return elements;
}

/// Pointer to the first place of a line of the patch.
Value ChannelFiltersKernel::gradientAt(int64_t line) {
  const SmallVector<int64_t> strides = stridesOf(form_.gradient);
  Value at = firstChannel_;
  int64_t behind = 0;
  for (auto [dimension, expr] : llvm::enumerate(form_.loops.gradientMap.getResults().drop_back())) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    at = k_.add(at, k_.mul(loops_[loop], k_.number(strides[dimension])));
    if (down_.dimension && loop == form_.loops.places[*down_.dimension].loop)
      behind = line * strides[dimension];
  }
  return k_.at(k_.at(bodies_.base(form_.gradient), form_.gradient.element, at), form_.gradient.element,
               k_.number(behind));
}

/// @param met of the places that windows meet down the image
ChannelFiltersKernel::Line ChannelFiltersKernel::bring(int64_t met) {
  Type element = form_.image.element;
  Value start = imageBase_, isInside = isOuterInside_;
  if (down_.dimension) {
    const Index index = indexOf(*down_.dimension, met, patch_.lines);
    start = k_.at(start, element, k_.mul(index.at, k_.number(stridesOf(form_.image)[*down_.dimension])));
    both(k_, isInside, index.isInside);
  }
  Line line;
  const int64_t stride = stridesOf(form_.image)[*along_.dimension];
  start = k_.at(start, element, k_.mul(firstColumn_, k_.number(stride)));
  for (auto [column, isColumnInside] : llvm::zip_equal(along_.met(patch_.run), areColumnsInside_)) {
    Value is = isInside;
    both(k_, is, isColumnInside);
    line.image.push_back(load(k_.at(start, element, k_.number(column * stride)), is));
  }
  AffineMap map = form_.loops.gradientMap;
  const unsigned place =
      *map.getResultPosition(getAffineDimExpr(*form_.loops.places[*along_.dimension].loop, map.getContext()));
  if (met % down_.step == 0 && met / down_.step < patch_.lines) {
    Value own = gradientAt(met / down_.step);
    SmallVector<Values> &read = line.gradient.emplace_back(met / down_.step, SmallVector<Values>()).second;
    for (int64_t i = 0; i < patch_.run; ++i)
      read.push_back(load(k_.at(own, element, k_.number(i * stridesOf(form_.gradient)[place])), {}));
  }
  return line;
}

ChannelFiltersKernel::Values ChannelFiltersKernel::sumPatch(ValueRange carried) {
  Values sums = llvm::to_vector(carried); // [places of the window][lanes]
  const SmallVector<int64_t> lines = down_.met(patch_.lines), columns = along_.met(patch_.run);
  SmallVector<SmallVector<Values>> gradient(patch_.lines); // [lines][run][lanes], once it was read
  std::vector<Line> brought;
  for (auto [number, met] : llvm::enumerate(lines)) {
    while (brought.size() < std::min(lines.size(), number + 1 + kAhead))
      brought.push_back(bring(lines[brought.size()]));
    for (const auto &[own, places] : brought[number].gradient)
      for (const Values &words : places)
        gradient[own].push_back(widened(words, form_.product.right));
    const SmallVector<Values> image = llvm::map_to_vector(
        brought[number].image, [&](const Values &words) { return widened(words, form_.product.left); });
    for (int64_t own = 0; own < patch_.lines; ++own)
      for (int64_t y = 0; y < down_.window; ++y) {
        if (own * down_.step + y * down_.apart != met)
          continue;
        for (int64_t place = 0; place < patch_.run; ++place)
          for (int64_t x = 0; x < along_.window; ++x) {
            const size_t column = llvm::find(columns, place * along_.step + x * along_.apart) - columns.begin();
            for (int64_t lane = 0; lane < tile_.lanes; ++lane) {
              Value &sum = sums[(y * along_.window + x) * tile_.lanes + lane];
              Value product = arith::MulFOp::create(k_.b, k_.loc, image[column][lane], gradient[own][place][lane]);
              sum = combine(k_, form_.product.sum.sum, sum, product);
            }
          }
      }
  }
  return sums;
}

/// What the thread's team has of all patches.
ChannelFiltersKernel::Values ChannelFiltersKernel::sum(ChannelTile tile, bool isVector) {
  patch_ = tile;
  isVector_ = isVector;
  const Values none(size_t(form_.windowPlaces() * tile_.lanes), neutral(k_, form_.product.sum.sum));
  Value patches = k_.number(tile.patches(form_));
  if (isOfTeam_)
    patches = k_.select(isOfTeam_, patches, k_.number(0));
  return k_.loop(team_, patches, k_.number(tile.teams()), none, [&](Value number, ValueRange carried) {
    placePatch(number);
    return sumPatch(carried);
  });
}

/// The teams' sums become one, which is stored: some places of the window after the other.
void ChannelFiltersKernel::addUp(ArrayRef<Value> sums) {
  const int64_t ofBlock = tile_.across * tile_.lanes, window = form_.windowPlaces();
  const int64_t atOnce = std::min(window, kAddedAtOnce / tile_.lanes);
  Type type = form_.product.sum.sum.type;
  Value shared = k_.shared(type, uint64_t(atOnce * tile_.teams() * ofBlock));
  auto at = [&](Value place, Value team, Value channel) {
    Value line = k_.add(k_.mul(place, k_.number(tile_.teams())), team);
    return k_.at(shared, type, k_.add(k_.mul(line, k_.number(ofBlock)), channel));
  };
  for (int64_t first = 0; first < window; first += atOnce) {
    const int64_t count = std::min(atOnce, window - first);
    if (first != 0)
      k_.barrier(); // everybody has read what was there
    auto write = [&] {
      for (int64_t place = 0; place < count; ++place)
        for (int64_t lane = 0; lane < tile_.lanes; ++lane)
          storeShared(k_, sums[(first + place) * tile_.lanes + lane],
                      at(k_.number(place), team_, k_.add(k_.mul(inTeam_, k_.number(tile_.lanes)), k_.number(lane))));
    };
    if (isOfTeam_)
      k_.when(isOfTeam_, write);
    else
      write();
    k_.barrier();
    k_.loop(k_.thread(), k_.number(count * ofBlock), k_.number(kChannelThreads), {}, [&](Value number, ValueRange) {
      Value place = k_.div(number, k_.number(ofBlock)), channel = k_.rem(number, k_.number(ofBlock));
      const Values total =
          k_.loop(k_.number(1), k_.number(tile_.teams()), k_.number(1),
                  loadShared(k_, type, at(place, k_.number(0), channel)), [&](Value team, ValueRange carried) {
                    return Values{
                        combine(k_, form_.product.sum.sum, carried[0], loadShared(k_, type, at(place, team, channel)))};
                  });
      Values loops(form_.sizes.size(), k_.number(0));
      for (auto [loop, part] : llvm::zip_equal(form_.loops.parts, parts_))
        loops[loop] = part;
      loops[form_.loops.channel] = k_.add(k_.mul(chunk_, k_.number(ofBlock)), channel);
      place = k_.add(place, k_.number(first));
      auto setWindow = [&](const ChannelForm::Slide &slide, Value window) {
        if (slide.dimension)
          if (const auto loop = form_.loops.places[*slide.dimension].window)
            loops[*loop] = window;
      };
      setWindow(down_, k_.div(place, k_.number(along_.window)));
      setWindow(along_, k_.rem(place, k_.number(along_.window)));
      SumStore{kernel_, shape_, k_, space_, bodies_, form_.product}.store(loops, total.front());
      return Values();
    });
  }
}

void ChannelFiltersKernel::run() {
  k_.wantResident(kChannelBlocks);
  if (tile_.lanes == 1)
    return addUp(sum(tile_, /*isVector=*/true));
  Value isAligned = k_.both(bodies_.isAligned(form_.image, tile_.lanes * bytes_),
                            bodies_.isAligned(form_.gradient, tile_.lanes * bytes_));
  ChannelTile places = tile_;
  places.lines = places.run = 1;
  const SmallVector<Type> types(size_t(form_.windowPlaces() * tile_.lanes), form_.product.sum.sum.type);
  addUp(k_.choose(isAligned, types, [&] { return sum(tile_, true); }, [&] { return sum(places, false); }));
}

} // namespace

void writeChannelFilters(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const ChannelForm &form) {
  ChannelFiltersKernel(kernel, shape, k, space, bodies, form).run();
}

} // namespace tenon::compiler::codegen
