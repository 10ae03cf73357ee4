// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/filter_patch.h"

#include "compiler/codegen/grouped/filter_operands.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kElementBytes = 2, kVector = 8, kVectorBytes = 16;

} // namespace

FilterPatch::FilterPatch(const GroupedFilterForm &form, const FilterTile &tile, KernelBuilder &k, Bodies &bodies,
                         TensorCore &core, Value line, ArrayRef<Value> parts)
    : form_(form), tile_(tile), k_(k), bodies_(bodies), core_(core), line_(line), parts_(parts) {}

void FilterPatch::setTile(Value number) {
  first_.assign(form_.loops.summed.size(), Value());
  for (size_t i = first_.size(); i-- > 0;) {
    const auto count = int64_t(llvm::divideCeil(form_.sizes[form_.loops.summed[i]], tile_.sides[i]));
    first_[i] = k_.mul(i == 0 ? number : k_.rem(number, k_.number(count)), k_.number(tile_.sides[i]));
    number = k_.div(number, k_.number(count));
  }
}

Value FilterPatch::exists(Value place, bool isOfTile) {
  Value is;
  if (!isOfTile)
    is = k_.less(place, k_.number(tile_.places));
  const SmallVector<Value> along = placeAlong(k_, place, tile_.sides);
  for (size_t i = first_.size(); i-- > 0;)
    if (const int64_t size = form_.sizes[form_.loops.summed[i]]; size % tile_.sides[i] != 0)
      both(is, k_.less(k_.add(first_[i], along[i]), k_.number(size)));
  return is;
}

Value FilterPatch::positionOf(Value place) {
  const SmallVector<Value> along = placeAlong(k_, place, tile_.sides);
  Value position = k_.number(0);
  int64_t inner = 1;
  for (size_t dimension = form_.loops.places.size(); dimension-- > 0;) {
    if (const auto &own = form_.loops.places[dimension]; own.loop) {
      const size_t i = llvm::find(form_.loops.summed, *own.loop) - form_.loops.summed.begin();
      position = k_.add(position, k_.mul(along[i], k_.number(own.step * inner)));
    }
    inner *= tile_.extents[dimension];
  }
  return position;
}

SmallVector<Value> FilterPatch::windowsAt(Value window) {
  SmallVector<int64_t> lengths;
  for (unsigned loop : form_.loops.windows)
    lengths.push_back(form_.sizes[loop]);
  return placeAlong(k_, window, lengths);
}

Value FilterPatch::positionOfWindow(Value window) {
  const SmallVector<Value> along = windowsAt(window);
  Value position = k_.number(0);
  int64_t inner = 1;
  for (size_t dimension = form_.loops.places.size(); dimension-- > 0;) {
    if (const auto &own = form_.loops.places[dimension]; own.window) {
      const size_t i = llvm::find(form_.loops.windows, *own.window) - form_.loops.windows.begin();
      position = k_.add(position, k_.mul(along[i], k_.number(own.apart * inner)));
    }
    inner *= tile_.extents[dimension];
  }
  return position;
}

FilterPatch::Where FilterPatch::imageAt(Value position) {
  Where where{k_.number(0), {}};
  const SmallVector<int64_t> strides = stridesOf(form_.image);
  for (size_t dimension = form_.loops.places.size(); dimension-- > 0;) {
    const auto &own = form_.loops.places[dimension];
    if (dimension == form_.loops.groupDimension || dimension == form_.loops.groupDimension + 1)
      continue;
    const int64_t extent = tile_.extents[dimension];
    Value at = k_.number(own.offset);
    int64_t last = own.offset + extent - 1;
    if (extent > 1) {
      at = k_.add(at, k_.rem(position, k_.number(extent)));
      position = k_.div(position, k_.number(extent));
    }
    for (auto [loop, step] : own.parts) {
      const size_t part = llvm::find(form_.loops.parts, loop) - form_.loops.parts.begin();
      at = k_.add(at, k_.mul(parts_[part], k_.number(step)));
      last += (form_.sizes[loop] - 1) * step;
    }
    if (own.loop) {
      const size_t i = llvm::find(form_.loops.summed, *own.loop) - form_.loops.summed.begin();
      at = k_.add(at, k_.mul(first_[i], k_.number(own.step)));
      const auto tiles = int64_t(llvm::divideCeil(form_.sizes[*own.loop], tile_.sides[i]));
      last += (tiles - 1) * tile_.sides[i] * own.step;
    }
    const int64_t size = form_.image.shape[dimension].size;
    if (own.offset < 0 || last >= size)
      both(where.isInside, k_.less(at, k_.number(size))); // unsigned
    where.number = k_.add(where.number, k_.mul(at, k_.number(strides[dimension])));
  }
  return where;
}

FilterPatch::Where FilterPatch::gradientAt(Value place) {
  Where where{k_.number(0), exists(place, tile_.places % 16 == 0)};
  const SmallVector<int64_t> strides = stridesOf(form_.gradient);
  for (size_t i = first_.size(); i-- > 0;) {
    Value side = k_.number(tile_.sides[i]), along = i == 0 ? place : k_.rem(place, side);
    place = k_.div(place, side);
    const unsigned dimension = *form_.loops.gradientMap.getResultPosition(
        getAffineDimExpr(form_.loops.summed[i], form_.loops.gradientMap.getContext()));
    where.number = k_.add(where.number, k_.mul(k_.add(first_[i], along), k_.number(strides[dimension])));
  }
  for (auto [loop, part] : llvm::zip_equal(form_.loops.parts, parts_))
    if (const auto dimension =
            form_.loops.gradientMap.getResultPosition(getAffineDimExpr(loop, form_.loops.gradientMap.getContext())))
      where.number = k_.add(where.number, k_.mul(part, k_.number(strides[*dimension])));
  return where;
}

/// Eight channels of a line at a time; neighbouring threads have neighbours in memory.
void FilterPatch::bringLines(Value to, const KernelTensor &tensor, unsigned channelAt, int64_t ofGroup, int64_t lines,
                             int64_t lineBytes, bool isImage, bool isVector) {
  const int64_t ofLine = form_.lineGroups * ofGroup / kVector, all = form_.groups * ofGroup;
  const int64_t stride = stridesOf(tensor)[channelAt];
  const bool isAcross = form_.isLastInMemory(tensor), isRagged = form_.groups % form_.lineGroups != 0;
  Type word = k_.b.getIntegerType(kElementBytes * 8);
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(word));
  Value base = bodies_.base(tensor), firstChannel = k_.mul(line_, k_.number(form_.lineGroups * ofGroup));
  k_.loop(k_.thread(), k_.number(lines * ofLine), k_.number(k_.threads), {}, [&](Value number, ValueRange) {
    Value count = k_.number(isAcross ? ofLine : lines), quotient = k_.div(number, count), rest = k_.rem(number, count);
    Value line = isAcross ? quotient : rest, vector = isAcross ? rest : quotient;
    const Where where = isImage ? imageAt(line) : gradientAt(line);
    Value channel = k_.add(firstChannel, k_.mul(vector, k_.number(kVector)));
    Value target = k_.at(to, k_.b.getI8Type(),
                         k_.add(k_.mul(line, k_.number(lineBytes)), k_.mul(vector, k_.number(kVectorBytes))));
    if (isVector) {
      Value is = where.isInside, from = k_.add(where.number, channel);
      if (isRagged)
        both(is, k_.less(channel, k_.number(all)));
      core_.copyAsync(target, k_.at(base, word, is ? k_.select(is, from, k_.number(0)) : from), is);
      return SmallVector<Value>();
    }
    Value together = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(kVector, word));
    for (int64_t lane = 0; lane < kVector; ++lane) {
      Value own = k_.add(channel, k_.number(lane)), is = where.isInside;
      if (isRagged)
        both(is, k_.less(own, k_.number(all)));
      Value from = k_.add(where.number, k_.mul(own, k_.number(stride)));
      Value value = k_.load(word, k_.at(base, word, is ? k_.select(is, from, k_.number(0)) : from), kElementBytes);
      together = LLVM::InsertElementOp::create(k_.b, k_.loc, together, is ? k_.select(is, value, zero) : value,
                                               k_.number(lane));
    }
    k_.store(together, target, kVectorBytes);
    return SmallVector<Value>();
  });
}

void FilterPatch::bring(Value to, const KernelTensor &tensor, unsigned channelAt, int64_t ofGroup, int64_t lines,
                        int64_t lineBytes, bool isImage) {
  auto bringAs = [&](bool isVector) {
    bringLines(to, tensor, channelAt, ofGroup, lines, lineBytes, isImage, isVector);
  };
  if (form_.isLastInMemory(tensor) && form_.groups * ofGroup % kVector == 0)
    k_.branch(bodies_.isAligned(tensor, kVectorBytes), [&] { bringAs(true); }, [&] { bringAs(false); });
  else
    bringAs(false);
}

void FilterPatch::bring(Value stage) {
  const unsigned filterAt = *form_.loops.gradientMap.getResultPosition(
      getAffineDimExpr(form_.loops.filter, form_.loops.gradientMap.getContext()));
  bring(stage, form_.image, form_.loops.groupDimension + 1, form_.channels, tile_.positions, tile_.imageLine,
        /*isImage=*/true);
  bring(k_.at(stage, k_.b.getI8Type(), k_.number(tile_.imageBytes())), form_.gradient, filterAt, form_.filters,
        tile_.wholePlaces(), tile_.gradientLine, /*isImage=*/false);
  core_.closeGroup();
}

} // namespace tenon::compiler::codegen
