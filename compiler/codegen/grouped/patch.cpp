// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/patch.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kCopyBytes = 16;
constexpr int64_t kInFlight = 4; // quads of a thread

} // namespace

GroupedPatch::GroupedPatch(const GroupedForm &form, const GroupedGeometry &geometry, const GroupShape &shape,
                           KernelBuilder &k, GroupSpace &space, Bodies &bodies, TensorCore &core, Value block)
    : form_(form), geometry_(geometry), shape_(shape), k_(k), space_(space), bodies_(bodies), core_(core),
      word_(k.b.getIntegerType(form.elementBytes * 8)) {
  const GroupedTile &tile = geometry.tile;
  auto takePart = [&](int64_t count) { // of the block's number; neighbouring blocks have neighbouring groups
    Value part = k_.rem(block, k_.number(count));
    block = k_.div(block, k_.number(count));
    return part;
  };
  firstGroup_ = k_.mul(takePart(int64_t(llvm::divideCeil(form.groups, tile.groups))), k_.number(tile.groups));
  firstPlace_.resize(form.places.size());
  for (size_t i = form.places.size(); i-- > 0;)
    firstPlace_[i] =
        k_.mul(takePart(int64_t(llvm::divideCeil(form.places[i].results, tile.sides[i]))), k_.number(tile.sides[i]));
  origin_.index.assign(shape.axes.size(), k_.number(0));
  place(origin_, form.outer, block);
  int64_t stride = 1;
  strides_.resize(form.image->shape.size());
  for (size_t dimension = strides_.size(); dimension-- > 0;) {
    strides_[dimension] = stride;
    stride *= form.image->shape[dimension].size; // of the first one it may be unknown
  }
  Point first = origin_;
  first.id = space.newId();
  base_ = space.element(*form.image, form.product.op->op, first, 0);
  image_ = bodies.base(*form.image);
}

void GroupedPatch::place(Point &point, ArrayRef<unsigned> axes, Value number) {
  for (size_t i = axes.size(); i-- > 0;) {
    Value size = space_.size(axes[i]);
    point.index[axes[i]] = i == 0 ? number : k_.rem(number, size);
    if (i != 0)
      number = k_.div(number, size);
  }
}

void GroupedPatch::forEach(int64_t count, llvm::function_ref<void(ArrayRef<Value>)> body) {
  const int64_t rounds = int64_t(llvm::divideCeil(count, int64_t(k_.threads)));
  const int64_t atOnce = std::min(rounds, kInFlight);
  k_.loop(k_.thread(), k_.number(count), k_.number(atOnce * k_.threads), {}, [&](Value first, ValueRange) {
    Bodies::Scope scope(bodies_);
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < atOnce; ++i)
      numbers.push_back(k_.add(first, k_.number(i * k_.threads)));
    body(numbers);
    return SmallVector<Value>();
  });
}

GroupedPatch::Where GroupedPatch::positionAt(Value position) {
  Where where{base_, {}};
  for (size_t i = form_.places.size(); i-- > 0;) {
    const GroupedForm::Place &place = form_.places[i];
    Value extent = k_.number(geometry_.extents[i]), along = i == 0 ? position : k_.rem(position, extent);
    position = k_.div(position, extent);
    along = k_.add(along, k_.mul(firstPlace_[i], k_.number(place.step)));
    where.number = k_.add(where.number, k_.mul(along, k_.number(strides_[place.dimension])));
    const int64_t size = form_.image->shape[place.dimension].size;
    // Windows of the last tile's results that are none may lead out of any image.
    const int64_t last =
        (int64_t(llvm::divideCeil(place.results, geometry_.tile.sides[i])) * geometry_.tile.sides[i] - 1) * place.step +
        (place.length - 1) * place.apart + place.offset;
    if (place.offset >= 0 && last < size)
      continue;
    Value is = k_.less(k_.add(along, k_.number(place.offset)), k_.number(size)); // unsigned
    where.isInside = where.isInside ? k_.both(where.isInside, is) : is;
  }
  return where;
}

/// Lines whose channels lie side by side, 16 bytes at a time.
void GroupedPatch::bringLines(Value patch) {
  const GroupedTile &tile = geometry_.tile;
  const int64_t each = kCopyBytes / form_.elementBytes, inLine = tile.groups * form_.channels / each;
  Value first = k_.mul(firstGroup_, k_.number(form_.channels)), all = k_.number(form_.groups * form_.channels);
  forEach(geometry_.positions * inLine, [&](ArrayRef<Value> numbers) {
    for (Value number : numbers) {
      Value position = k_.div(number, k_.number(inLine)), chunk = k_.rem(number, k_.number(inLine));
      k_.when(k_.less(position, k_.number(geometry_.positions)), [&] {
        Where where = positionAt(position);
        Value channel = k_.add(first, k_.mul(chunk, k_.number(each)));
        if (form_.groups % tile.groups != 0) {
          Value is = k_.less(channel, all);
          where.isInside = where.isInside ? k_.both(where.isInside, is) : is;
        }
        Value from = k_.add(where.number, channel);
        if (where.isInside)
          from = k_.select(where.isInside, from, k_.number(0));
        Value to = k_.add(k_.mul(position, k_.number(geometry_.lineBytes)), k_.mul(chunk, k_.number(kCopyBytes)));
        core_.copyAsync(k_.at(patch, k_.b.getI8Type(), to), k_.at(image_, word_, from), where.isInside);
      });
    }
  });
}

Value GroupedPatch::quadOf(ArrayRef<Value> values) {
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(kGroupedQuad, word_));
  for (auto [lane, value] : llvm::enumerate(values))
    all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, value, k_.number(lane));
  return all;
}

/// Elements wherever they lie, four channels of a position at a time; neighbouring threads have neighbouring ones.
void GroupedPatch::bringQuads(Value patch) {
  const GroupedTile &tile = geometry_.tile;
  const int64_t ofGroup = geometry_.channels / kGroupedQuad, ofPosition = tile.groups * ofGroup;
  const bool isLast = form_.isLastInMemory();
  auto strideOf = [&](unsigned axis) {
    linalg::GenericOp op = form_.product.op->op;
    const SmallVector<unsigned> groupAxes = shape_.group.axisOf.lookup(op);
    for (auto [dimension, expr] : llvm::enumerate(form_.image->map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && groupAxes[loop.getPosition()] == shape_.axes[axis].axes.front())
        return strides_[dimension];
    return int64_t(0);
  };
  Value ofGroups = k_.number(strideOf(form_.group)), ofChannels = k_.number(strideOf(form_.channel));
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(word_));
  forEach(geometry_.positions * ofPosition, [&](ArrayRef<Value> numbers) {
    SmallVector<Value> isThere, to, quads;
    for (Value number : numbers) {
      const int64_t inner = isLast ? ofPosition : geometry_.positions;
      Value quotient = k_.div(number, k_.number(inner)), rest = k_.rem(number, k_.number(inner));
      Value position = isLast ? quotient : rest, quad = isLast ? rest : quotient;
      Where where = positionAt(position);
      Value exists = k_.less(number, k_.number(geometry_.positions * ofPosition));
      isThere.push_back(exists);
      if (where.isInside)
        exists = k_.both(exists, where.isInside);
      Value group = k_.add(firstGroup_, k_.div(quad, k_.number(ofGroup)));
      if (form_.groups % tile.groups != 0)
        exists = k_.both(exists, k_.less(group, k_.number(form_.groups)));
      Value channel = k_.mul(k_.rem(quad, k_.number(ofGroup)), k_.number(kGroupedQuad));
      Value first = k_.add(where.number, k_.mul(group, ofGroups));
      SmallVector<Value> values;
      for (int64_t lane = 0; lane < kGroupedQuad; ++lane) {
        Value own = k_.add(channel, k_.number(lane)), is = exists;
        if (form_.channels % kGroupedQuad != 0)
          is = k_.both(is, k_.less(own, k_.number(form_.channels)));
        Value from = k_.select(is, k_.add(first, k_.mul(own, ofChannels)), k_.number(0));
        values.push_back(k_.select(is, k_.load(word_, k_.at(image_, word_, from), form_.elementBytes), zero));
      }
      quads.push_back(quadOf(values));
      to.push_back(k_.add(k_.mul(position, k_.number(geometry_.lineBytes)),
                          k_.mul(quad, k_.number(kGroupedQuad * form_.elementBytes))));
    }
    for (auto [exists, offset, quad] : llvm::zip_equal(isThere, to, quads))
      k_.when(exists, [&, offset = offset, quad = quad] {
        k_.store(quad, k_.at(patch, k_.b.getI8Type(), offset), kGroupedQuad * form_.elementBytes);
      });
  });
}

/// Of a row of the filters, those of one group behind those of the one before.
Point GroupedPatch::filterAt(Value row, Value quad, int64_t inQuad) {
  const int64_t ofPlace = geometry_.channels / kGroupedQuad;
  Point point = origin_;
  Value group = k_.add(firstGroup_, k_.div(row, k_.number(geometry_.columns)));
  point.index[form_.group] = k_.min(group, k_.number(form_.groups - 1));
  place(point, form_.product.columns, k_.min(k_.rem(row, k_.number(geometry_.columns)), k_.number(form_.columns - 1)));
  Value inWindow = k_.min(k_.div(quad, k_.number(ofPlace)), k_.number(form_.windowPlaces() - 1));
  for (size_t i = form_.places.size(); i-- > 0;) {
    const GroupedForm::Place &along = form_.places[i];
    if (!along.window)
      continue;
    point.index[*along.window] = k_.rem(inWindow, k_.number(along.length));
    inWindow = k_.div(inWindow, k_.number(along.length));
  }
  Value channel = k_.add(k_.mul(k_.rem(quad, k_.number(ofPlace)), k_.number(kGroupedQuad)), k_.number(inQuad));
  point.index[form_.channel] = k_.min(channel, k_.number(form_.channels - 1));
  point.id = space_.newId();
  return point;
}

bool GroupedPatch::filtersAreRuns() const {
  linalg::GenericOp op = form_.product.op->op;
  const SmallVector<unsigned> groupAxes = shape_.group.axisOf.lookup(op);
  SmallVector<unsigned> wanted; // the last dimensions: places of the window in their order, then channels
  for (const GroupedForm::Place &place : form_.places)
    if (place.window)
      wanted.push_back(*place.window);
  wanted.push_back(form_.channel);
  const ArrayRef<AffineExpr> indices = form_.filters->map.getResults();
  if (indices.size() < wanted.size() || form_.channels % kGroupedQuad != 0 ||
      geometry_.quads * kGroupedQuad * form_.elementBytes % kCopyBytes != 0)
    return false;
  for (auto [expr, axis] : llvm::zip_equal(indices.take_back(wanted.size()), wanted)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || groupAxes[loop.getPosition()] != shape_.axes[axis].axes.front())
      return false;
  }
  return true;
}

void GroupedPatch::bringRuns(Value filters) {
  const int64_t rows = geometry_.tile.groups * geometry_.columns, each = kCopyBytes / form_.elementBytes;
  const int64_t ofRow = geometry_.quads * kGroupedQuad / each,
                rowBytes = geometry_.filterQuads * kGroupedQuad * form_.elementBytes;
  const KernelOp &op = *form_.product.op;
  forEach(rows * ofRow, [&](ArrayRef<Value> numbers) {
    for (Value number : numbers) {
      Value row = k_.div(number, k_.number(ofRow)), chunk = k_.rem(number, k_.number(ofRow));
      k_.when(k_.less(row, k_.number(rows)), [&] {
        Value from = bodies_.address(op, *form_.filters, filterAt(row, k_.number(0), 0));
        Value to = k_.add(k_.mul(row, k_.number(rowBytes)), k_.mul(chunk, k_.number(kCopyBytes)));
        core_.copyAsync(k_.at(filters, k_.b.getI8Type(), to), k_.at(from, word_, k_.mul(chunk, k_.number(each))),
                        Value());
      });
    }
  });
  // Zeros behind the last quad, in the last step.
  const int64_t behind = form_.elementBytes == 4 ? 0 : geometry_.steps * kGroupedQuad - geometry_.quads;
  if (behind == 0)
    return;
  auto vector = VectorType::get(kGroupedQuad, word_);
  Value zeros = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(vector));
  k_.loop(k_.thread(), k_.number(rows * behind), k_.number(k_.threads), {}, [&](Value number, ValueRange) {
    Value at = k_.add(k_.mul(k_.div(number, k_.number(behind)), k_.number(geometry_.filterQuads)),
                      k_.add(k_.number(geometry_.quads), k_.rem(number, k_.number(behind))));
    k_.store(zeros, k_.at(filters, vector, at), kGroupedQuad * form_.elementBytes);
    return SmallVector<Value>();
  });
}

void GroupedPatch::bringFilters(Value filters, bool isVector) {
  const bool isWide = form_.elementBytes == 4;
  const int64_t rows = geometry_.tile.groups * geometry_.columns;
  const int64_t ofRow = isWide ? geometry_.quads : geometry_.steps * kGroupedQuad;
  const int64_t ofPlace = geometry_.channels / kGroupedQuad;
  const KernelOp &op = *form_.product.op;
  auto vector = VectorType::get(kGroupedQuad, word_);
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(word_)),
        zeros = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(vector));
  // Neighbouring threads have neighbours in memory: quads of a filter, or filters, as a gradient by the image has them.
  const bool isAcross =
      !isVector && shape_.along(*form_.filters, op.op, form_.product.columns.back()) == GroupShape::Along::Adjacent;
  auto rowOf = [&](Value number) {
    return isAcross ? k_.rem(number, k_.number(rows)) : k_.div(number, k_.number(ofRow));
  };
  auto quadIn = [&](Value number) {
    return isAcross ? k_.div(number, k_.number(rows)) : k_.rem(number, k_.number(ofRow));
  };
  forEach(rows * ofRow, [&](ArrayRef<Value> numbers) {
    SmallVector<Value> quads;
    for (Value number : numbers) {
      Value row = k_.min(rowOf(number), k_.number(rows - 1)), quad = k_.min(quadIn(number), k_.number(ofRow - 1));
      Value value;
      if (isVector) {
        value = k_.load(vector, bodies_.address(op, *form_.filters, filterAt(row, quad, 0)),
                        kGroupedQuad * form_.elementBytes);
      } else {
        SmallVector<Value> values;
        for (int64_t lane = 0; lane < kGroupedQuad; ++lane) {
          Value each =
              k_.load(word_, bodies_.address(op, *form_.filters, filterAt(row, quad, lane)), form_.elementBytes);
          if (form_.channels % kGroupedQuad != 0) {
            Value channel = k_.add(k_.mul(k_.rem(quad, k_.number(ofPlace)), k_.number(kGroupedQuad)), k_.number(lane));
            each = k_.select(k_.less(channel, k_.number(form_.channels)), each, zero);
          }
          values.push_back(each);
        }
        value = quadOf(values);
      }
      if (ofRow != geometry_.quads)
        value = k_.select(k_.less(quad, k_.number(geometry_.quads)), value, zeros);
      quads.push_back(value);
    }
    for (auto [number, quad] : llvm::zip_equal(numbers, quads))
      k_.when(k_.less(number, k_.number(rows * ofRow)), [&, number = number, quad = quad] {
        Value at = k_.add(k_.mul(rowOf(number), k_.number(geometry_.filterQuads)), quadIn(number));
        k_.store(quad, k_.at(filters, vector, at), kGroupedQuad * form_.elementBytes);
      });
  });
}

void GroupedPatch::bring(Value patch, Value filters) {
  const int64_t group = form_.channels * form_.elementBytes, line = geometry_.tile.groups * group;
  const bool mayBeLines = form_.isLastInMemory() && form_.channels % kGroupedQuad == 0 && line % kCopyBytes == 0 &&
                          form_.groups * group % kCopyBytes == 0;
  if (mayBeLines)
    k_.branch(bodies_.isAligned(*form_.image, kCopyBytes), [&] { bringLines(patch); }, [&] { bringQuads(patch); });
  else
    bringQuads(patch);
  const bool mayBeVectors =
      form_.channels % kGroupedQuad == 0 &&
      shape_.along(*form_.filters, form_.product.op->op, form_.channel) == GroupShape::Along::Adjacent;
  if (filtersAreRuns())
    k_.branch(
        bodies_.isAligned(*form_.filters, kCopyBytes), [&] { bringRuns(filters); },
        [&] { bringFilters(filters, false); });
  else if (mayBeVectors)
    k_.branch(
        bodies_.isAligned(*form_.filters, kGroupedQuad * form_.elementBytes), [&] { bringFilters(filters, true); },
        [&] { bringFilters(filters, false); });
  else
    bringFilters(filters, false);
  core_.closeGroup();
  core_.waitForGroups(0);
}

Point GroupedPatch::resultAt(Value inTile, Value group, Value column) {
  Point point = origin_;
  for (size_t i = form_.places.size(); i-- > 0;) {
    Value side = k_.number(geometry_.tile.sides[i]);
    point.index[form_.places[i].axis] = k_.add(firstPlace_[i], i == 0 ? inTile : k_.rem(inTile, side));
    inTile = k_.div(inTile, side);
  }
  point.index[form_.group] = k_.add(firstGroup_, group);
  place(point, form_.product.columns, column);
  point.id = space_.newId();
  return point;
}

Value GroupedPatch::isResult(const Point &point) {
  Value is;
  auto below = [&](unsigned axis, int64_t size, int64_t side) {
    if (size % side == 0)
      return;
    Value each = k_.less(point.index[axis], k_.number(size));
    is = is ? k_.both(is, each) : each;
  };
  for (auto [place, side] : llvm::zip_equal(form_.places, geometry_.tile.sides))
    below(place.axis, place.results, side);
  below(form_.group, form_.groups, geometry_.tile.groups);
  return is;
}

Value GroupedPatch::positionOf(Value inTile) {
  Value position = k_.number(0);
  int64_t ofPlace = 1;
  for (size_t i = form_.places.size(); i-- > 0;) {
    Value side = k_.number(geometry_.tile.sides[i]), along = i == 0 ? inTile : k_.rem(inTile, side);
    inTile = k_.div(inTile, side);
    position = k_.add(position, k_.mul(along, k_.number(form_.places[i].step * ofPlace)));
    ofPlace *= geometry_.extents[i];
  }
  return position;
}

Value GroupedPatch::positionOfWindow(Value inWindow) {
  Value position = k_.number(0);
  int64_t ofPlace = 1;
  for (size_t i = form_.places.size(); i-- > 0;) {
    Value length = k_.number(form_.places[i].length), along = i == 0 ? inWindow : k_.rem(inWindow, length);
    inWindow = k_.div(inWindow, length);
    position = k_.add(position, k_.mul(along, k_.number(form_.places[i].apart * ofPlace)));
    ofPlace *= geometry_.extents[i];
  }
  return position;
}

} // namespace tenon::compiler::codegen
