// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/filter_sums.h"

#include "compiler/codegen/grouped/filter_operands.h"
#include "compiler/codegen/grouped/filter_patch.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kElementBytes = 2, kStep = 16; // places of an mma.sync, and filters
constexpr int64_t kFragmentChannels = 8, kMatrixBytes = 16;

class GroupedFiltersKernel {
public:
  GroupedFiltersKernel(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                       Bodies &bodies, const GroupedFilterForm &form, const abi::TargetArch &target)
      : kernel_(kernel), shape_(shape), k_(k), space_(space), bodies_(bodies), form_(form),
        tile_(*FilterTile::of(form)), units_(form), hasCores_(hasTensorCoresFor(form.product, target)),
        core_(k, hasCores_ ? form.product.warpElement() : k.b.getF16Type(), {}, target.number),
        line_(k.rem(k.block(), k.number(form.lines()))), parts_(partsOf(k.div(k.block(), k.number(form.lines())))),
        patch_(form_, tile_, k, bodies, core_, line_, parts_),
        arena_(k.shared(k.b.getI8Type(), tile_.sharedBytes(), 128)), lane_(k.rem(k.thread(), k.number(32))),
        warp_(k.div(k.thread(), k.number(32))) {}

  void run() {
    clearZeros();
    if (hasCores_) {
      k_.wantResident(2);
      multiplyOnCores();
    } else {
      multiply();
    }
  }

private:
  using Values = SmallVector<Value>;

  Values partsOf(Value number) {
    SmallVector<int64_t> sizes;
    for (unsigned loop : form_.loops.parts)
      sizes.push_back(form_.sizes[loop]);
    return placeAlong(k_, number, sizes);
  }
  Value byteAt(Value base, Value offset) { return k_.at(base, k_.b.getI8Type(), offset); }
  void clearZeros();
  /// Sums over all tiles of the block; `multiply` adds those of one, which is in shared memory.
  Values sumTiles(size_t count, llvm::function_ref<Values(ValueRange)> multiply);
  void multiplyOnCores();
  Values multiplyStep(int64_t step, Value block, Value firstFragment, ArrayRef<Value> offsets, Values sums);
  void multiply();
  /// Stores sums of a filter of the line and of neighbouring channels from `channel` on, where they are of one group.
  void storeWhere(Value filter, Value channel, Value window, ArrayRef<Value> sums, Value exists);

  const KernelFunction &kernel_;
  const GroupShape &shape_;
  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  const GroupedFilterForm &form_;
  const FilterTile tile_;
  const FilterUnits units_;
  const bool hasCores_;
  TensorCore core_;
  Value line_;
  Values parts_;
  FilterPatch patch_;
  Value arena_, lane_, warp_;
  Value stage_; // where the tile that is multiplied begins in it
};

void GroupedFiltersKernel::clearZeros() {
  auto words = VectorType::get(4, k_.b.getI32Type());
  Value zeros = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(words));
  k_.when(k_.less(k_.thread(), k_.number(tile_.imageLine / kMatrixBytes)), [&] {
    Value at = k_.add(k_.number(tile_.zerosAt()), k_.mul(k_.thread(), k_.number(kMatrixBytes)));
    k_.store(zeros, byteAt(arena_, at), kMatrixBytes);
  });
}

GroupedFiltersKernel::Values GroupedFiltersKernel::sumTiles(size_t count,
                                                            llvm::function_ref<Values(ValueRange)> multiply) {
  const Values none(count, neutral(k_, form_.product.sum.sum));
  const int64_t tiles = tile_.tilesOf(form_);
  auto stageOf = [&](Value number) { return k_.mul(k_.rem(number, k_.number(2)), k_.number(tile_.stageBytes())); };
  auto bring = [&](Value number) {
    patch_.setTile(number);
    patch_.bring(byteAt(arena_, stageOf(number)));
  };
  bring(k_.number(0));
  return k_.loop(k_.number(0), k_.number(tiles), k_.number(1), none, [&](Value number, ValueRange carried) {
    patch_.wait();
    k_.barrier(); // the tile is there, and everybody has read the one before, whose place the next one takes
    Value next = k_.add(number, k_.number(1));
    if (tiles > 1)
      k_.when(k_.less(next, k_.number(tiles)), [&] { bring(next); });
    patch_.setTile(number);
    stage_ = stageOf(number);
    return multiply(carried);
  });
}

/// 16 places: of the left side once, of the right side for each place of the window.
GroupedFiltersKernel::Values GroupedFiltersKernel::multiplyStep(int64_t step, Value block, Value firstFragment,
                                                                ArrayRef<Value> offsets, Values sums) {
  // Of four matrices the second is 8 filters, or 8 places, further, the third 8 places, or channels.
  Value row = k_.rem(lane_, k_.number(8)), second = k_.rem(k_.div(lane_, k_.number(8)), k_.number(2)),
        third = k_.div(lane_, k_.number(16));
  Value first = k_.number(step * kStep);
  Value ofGradient = k_.add(first, k_.add(row, k_.mul(third, k_.number(8))));
  Value at = k_.add(k_.mul(ofGradient, k_.number(tile_.gradientLine)),
                    k_.add(k_.mul(block, k_.number(kStep * kElementBytes)), k_.mul(second, k_.number(kMatrixBytes))));
  at = k_.add(k_.add(stage_, k_.number(tile_.imageBytes())), at);
  const Values left = core_.loadMatrices(byteAt(arena_, at), /*isTransposed=*/true);

  Value place = k_.add(first, k_.add(row, k_.mul(second, k_.number(8))));
  Value exists = patch_.exists(place, (step + 1) * kStep <= tile_.places);
  if ((step + 1) * kStep > tile_.places)
    place = k_.min(place, k_.number(tile_.places - 1));
  Value fragment = k_.add(firstFragment, units_.fragments == 1 ? k_.number(0) : third);
  Value inLine = k_.mul(fragment, k_.number(kMatrixBytes));
  Value start = k_.add(stage_, k_.add(k_.mul(patch_.positionOf(place), k_.number(tile_.imageLine)), inLine));
  Value nothing = k_.add(k_.number(tile_.zerosAt()), inLine);
  for (auto [window, offset] : llvm::enumerate(offsets)) {
    Value from = k_.add(start, offset);
    if (exists)
      from = k_.select(exists, from, nothing);
    const Values right = core_.loadMatrices(byteAt(arena_, from), /*isTransposed=*/true);
    for (int64_t half = 0; half < std::min<int64_t>(2, units_.fragments); ++half) {
      Value *own = sums.begin() + (window * 2 + half) * 4;
      llvm::copy(core_.multiply(left, ArrayRef<Value>(right).slice(2 * half, 2), ArrayRef<Value>(own, 4)), own);
    }
  }
  return sums;
}

void GroupedFiltersKernel::multiplyOnCores() {
  // Warps without results compute those of the last one again.
  Value unit = k_.min(warp_, k_.number(units_.count() - 1)), rest = unit;
  Value block = k_.rem(rest, k_.number(units_.blocks));
  rest = k_.div(rest, k_.number(units_.blocks));
  Value pair = k_.rem(rest, k_.number(units_.pairs)), chunk = k_.div(rest, k_.number(units_.pairs));
  Value firstGroup = k_.div(k_.mul(block, k_.number(kStep)), k_.number(form_.filters));
  Value firstFragment = k_.add(k_.div(k_.mul(firstGroup, k_.number(form_.channels)), k_.number(kFragmentChannels)),
                               k_.mul(pair, k_.number(2)));
  Values windows, offsets;
  for (int64_t i = 0; i < units_.places; ++i) {
    windows.push_back(k_.add(k_.mul(chunk, k_.number(units_.places)), k_.number(i)));
    Value known = k_.min(windows.back(), k_.number(form_.windowPlaces() - 1));
    offsets.push_back(k_.mul(patch_.positionOfWindow(known), k_.number(tile_.imageLine)));
  }
  const Values sums = sumTiles(size_t(units_.places) * 2 * 4, [&](ValueRange carried) {
    Values next = llvm::to_vector(carried);
    for (int64_t step = 0; step < tile_.wholePlaces() / kStep; ++step)
      next = multiplyStep(step, block, firstFragment, offsets, std::move(next));
    return next;
  });

  Value isUnit = k_.less(warp_, k_.number(units_.count()));
  Value row = k_.div(lane_, k_.number(4)), column = k_.mul(k_.rem(lane_, k_.number(4)), k_.number(2));
  for (int64_t i = 0; i < units_.places; ++i)
    for (int64_t half = 0; half < std::min<int64_t>(2, units_.fragments); ++half)
      for (int64_t lower = 0; lower < 2; ++lower) {
        Value exists = k_.both(isUnit, k_.less(windows[i], k_.number(form_.windowPlaces())));
        Value filter = k_.add(k_.mul(block, k_.number(kStep)), k_.add(row, k_.number(8 * lower)));
        Value channel = k_.add(k_.mul(k_.add(firstFragment, k_.number(half)), k_.number(kFragmentChannels)), column);
        storeWhere(filter, channel, windows[i], ArrayRef<Value>(sums).slice((i * 2 + half) * 4 + 2 * lower, 2), exists);
      }
}

/// A thread has some filters, each with a channel of its group, and all places of the window.
void GroupedFiltersKernel::multiply() {
  const int64_t pairs = form_.lineGroups * form_.filters * form_.channels, window = form_.windowPlaces();
  const int64_t rounds = llvm::divideCeil(pairs, int64_t(k_.threads));
  Type element = form_.product.left.value.getType(), wide = form_.product.sum.sum.type;
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(wide));
  Values filters, channels, numbers;
  for (int64_t round = 0; round < rounds; ++round) {
    Value number = k_.add(k_.thread(), k_.number(round * k_.threads));
    numbers.push_back(number);
    number = k_.min(number, k_.number(pairs - 1));
    Value filter = k_.div(number, k_.number(form_.channels));
    Value group = k_.div(filter, k_.number(form_.filters));
    filters.push_back(filter);
    channels.push_back(k_.add(k_.mul(group, k_.number(form_.channels)), k_.rem(number, k_.number(form_.channels))));
  }
  auto read = [&](int64_t first, Value line, int64_t lineBytes, Value inLine, const Operand &operand) {
    Value at = k_.add(k_.mul(line, k_.number(lineBytes)), k_.mul(inLine, k_.number(kElementBytes)));
    at = k_.add(k_.add(stage_, k_.number(first)), at);
    return extended(k_, operand, k_.load(element, byteAt(arena_, at), kElementBytes), wide);
  };
  const Values sums = sumTiles(size_t(rounds * window), [&](ValueRange carried) {
    return k_.loop(k_.number(0), k_.number(tile_.places), k_.number(1), carried, [&](Value place, ValueRange before) {
      Values next = llvm::to_vector(before);
      Value exists = patch_.exists(place, /*isOfTile=*/true), position = patch_.positionOf(place);
      for (int64_t round = 0; round < rounds; ++round) {
        Value own = read(tile_.imageBytes(), place, tile_.gradientLine, filters[round], form_.product.right);
        for (int64_t i = 0; i < window; ++i) {
          Value line = k_.add(position, patch_.positionOfWindow(k_.number(i)));
          Value image = read(0, line, tile_.imageLine, channels[round], form_.product.left);
          if (exists)
            image = k_.select(exists, image, zero);
          Value product = arith::MulFOp::create(k_.b, k_.loc, image, own);
          Value &sum = next[round * window + i];
          sum = combine(k_, form_.product.sum.sum, sum, product);
        }
      }
      return next;
    });
  });
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t i = 0; i < window; ++i)
      storeWhere(filters[round], channels[round], k_.number(i), sums[round * window + i],
                 k_.less(numbers[round], k_.number(pairs)));
}

void GroupedFiltersKernel::storeWhere(Value filter, Value channel, Value window, ArrayRef<Value> sums, Value exists) {
  Value group = k_.div(filter, k_.number(form_.filters));
  exists = k_.both(exists, k_.equal(group, k_.div(channel, k_.number(form_.channels))));
  Value inAll = k_.add(k_.mul(line_, k_.number(form_.lineGroups)), group);
  if (form_.groups % form_.lineGroups != 0)
    exists = k_.both(exists, k_.less(inAll, k_.number(form_.groups)));
  k_.when(exists, [&] {
    Values loops(form_.sizes.size(), k_.number(0));
    loops[form_.loops.group] = inAll;
    loops[form_.loops.filter] = k_.rem(filter, k_.number(form_.filters));
    for (auto [loop, part] : llvm::zip_equal(form_.loops.parts, parts_))
      loops[loop] = part;
    for (auto [loop, at] : llvm::zip_equal(form_.loops.windows, patch_.windowsAt(window)))
      loops[loop] = at;
    for (auto [number, sum] : llvm::enumerate(sums)) {
      loops[form_.loops.channel] = k_.rem(k_.add(channel, k_.number(int64_t(number))), k_.number(form_.channels));
      SumStore{kernel_, shape_, k_, space_, bodies_, form_.product}.store(loops, sum);
    }
  });
}

} // namespace

void writeGroupedFilters(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const GroupedFilterForm &form, const abi::TargetArch &target) {
  GroupedFiltersKernel(kernel, shape, k, space, bodies, form, target).run();
}

} // namespace tenon::compiler::codegen
