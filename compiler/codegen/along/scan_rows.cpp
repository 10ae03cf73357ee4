// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scan_rows.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;

class RowScanner {
public:
  RowScanner(AlongWriter &w, const Sum &sum, int64_t dimension, bool isInclusive)
      : w_(w), k_(w.k), along_(w.kernel.along), sum_(sum), isInclusive_(isInclusive), lanes_(w.choice("lanes")),
        chunks_(w.choice("chunks")), width_(w.choice("width")), parts_(std::max<int64_t>(w.choiceOrZero("parts"), 1)),
        pass_(w.choiceOrZero("pass")), warps_(std::max<uint32_t>(lanes_ / kWarp, 1)),
        tile_(int64_t(lanes_) * chunks_ * width_), lines_(w, LineShape(along_.inputs[0], dimension)) {}

  void run();

private:
  using Tile = SmallVector<SmallVector<Value>>; // [chunks][width]

  bool isBlock() const { return lanes_ > kWarp; }
  void findOrigin();
  Value position(Value tile, unsigned chunk) {
    return k_.add(tile, k_.mul(k_.add(k_.number(int64_t(chunk) * lanes_), lane_), k_.number(width_)));
  }
  /// Of positions, which count from the origin: the element there, and whether `count` from there on are of the part.
  Value element(Value position) { return k_.add(origin_, position); }
  Value exists(Value position, int64_t count = 1);
  uint32_t vectorBytes(const KernelTensor &tensor) const {
    return width_ * uint32_t(dispatch::elementBytes(tensor.element));
  }
  Value isAligned(const KernelTensor &tensor);
  Tile load(Value tile);
  void store(Value tile, const Tile &values);
  Value pointer(const KernelTensor &tensor, Value element) {
    return k_.at(w_.arguments.pointers[tensor.binding], memoryType(tensor.element), element);
  }
  Value scratch(Value part) {
    return k_.at(w_.arguments.pointers[w_.kernel.scratch[0].binding], storedType(sum_.type),
                 k_.add(k_.mul(row_, k_.number(parts_)), part));
  }
  /// Inclusive, over `count` lanes, a power of two.
  Value scanLanes(Value value, Value lane, uint32_t count);
  Value scanTile(Value tile, Value carry);
  SmallVector<Value> scanPlaces(Value base, uint32_t places);
  Value valueAt(ArrayRef<Value> values, Value place);
  Value carriedIn();
  void combinePart();
  void scan();

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  Sum sum_;
  bool isInclusive_;
  uint32_t lanes_, chunks_, width_;
  int64_t parts_, pass_;
  uint32_t warps_;
  int64_t tile_;
  Lines lines_;
  Value row_, part_, lane_, warpLane_, warp_, totals_;
  Value begin_, size_; // of the part in its row
  Value origin_, skipped_, inputIsAligned_, resultIsAligned_;
};

void RowScanner::run() {
  const uint32_t rows = k_.threads / lanes_;
  Value thread = k_.thread(), block = k_.block();
  part_ = parts_ == 1 ? k_.number(0) : k_.rem(block, k_.number(parts_));
  row_ = parts_ == 1 ? block : k_.div(block, k_.number(parts_));
  lane_ = thread;
  if (rows > 1) {
    row_ = k_.add(k_.mul(row_, k_.number(rows)), k_.div(thread, k_.number(lanes_)));
    lane_ = k_.rem(thread, k_.number(lanes_));
  }
  warpLane_ = k_.rem(lane_, k_.number(kWarp));
  warp_ = k_.div(lane_, k_.number(kWarp));
  if (isBlock())
    totals_ = k_.shared(storedType(sum_.type), uint64_t(warps_) * chunks_ * 2);
  k_.when(k_.less(row_, lines_.count), [&] {
    // Parts are whole tiles.
    Value tile = k_.number(tile_);
    Value tiles = k_.div(k_.add(lines_.length, k_.number(tile_ - 1)), tile);
    Value piece = k_.mul(k_.div(k_.add(tiles, k_.number(parts_ - 1)), k_.number(parts_)), tile);
    begin_ = parts_ == 1 ? k_.number(0) : k_.min(k_.mul(piece, part_), lines_.length);
    size_ = parts_ == 1 ? lines_.length : k_.sub(k_.min(k_.add(begin_, piece), lines_.length), begin_);
    findOrigin();
    if (pass_ == 1)
      combinePart();
    else
      scan();
  });
}

/// Vectors are counted from the one in which the part begins: what it holds before that is skipped. Not where that
/// would take one tile more, as of a row of exactly one.
void RowScanner::findOrigin() {
  const KernelTensor &input = along_.inputs[0];
  Value first = k_.add(k_.mul(row_, lines_.length), begin_), width = k_.number(width_), tile = k_.number(tile_);
  Value address = LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), pointer(input, first));
  Value before = k_.rem(k_.div(address, k_.number(dispatch::elementBytes(input.element))), width);
  auto tiles = [&](Value size) { return k_.div(k_.add(size, k_.number(tile_ - 1)), tile); };
  Value isMore = k_.less(tiles(size_), tiles(k_.add(size_, before)));
  skipped_ = k_.select(isMore, k_.number(0), before);
  origin_ = k_.sub(first, skipped_);
  inputIsAligned_ = isAligned(input);
  if (along_.outputs[0].isStored)
    resultIsAligned_ = isAligned(along_.outputs[0].tensor);
}

Value RowScanner::isAligned(const KernelTensor &tensor) {
  Value address = LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), pointer(tensor, origin_));
  return k_.equal(k_.rem(address, k_.number(vectorBytes(tensor))), k_.number(0));
}

Value RowScanner::exists(Value position, int64_t count) {
  Value from = k_.sub(position, skipped_); // of what is skipped a large number
  Value isThere = k_.less(from, size_);
  if (count == 1)
    return isThere;
  Value last = k_.sub(k_.add(from, k_.number(count)), k_.number(1));
  return k_.both(isThere, k_.less(last, size_));
}

RowScanner::Tile RowScanner::load(Value tile) {
  const KernelTensor &input = along_.inputs[0];
  Type memory = memoryType(input.element);
  auto vector = [&](unsigned chunk) {
    SmallVector<Value> values;
    Value from = pointer(input, element(position(tile, chunk)));
    Value all = k_.load(VectorType::get(width_, memory), from, vectorBytes(input));
    for (unsigned i = 0; i < width_; ++i) {
      Value one = LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(i));
      if (memory != input.element)
        one = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, one,
                                    arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI8IntegerAttr(0)));
      values.push_back(widen(k_, sum_, one));
    }
    return values;
  };
  auto ones = [&](unsigned chunk) {
    SmallVector<Value> values;
    for (unsigned i = 0; i < width_; ++i) {
      Value at = k_.add(position(tile, chunk), k_.number(i));
      values.push_back(k_.choose(
                             exists(at), sum_.type,
                             [&] { return SmallVector<Value>{widen(k_, sum_, w_.load(input, element(at)))}; },
                             [&] { return SmallVector<Value>{neutral(k_, sum_)}; })
                           .front());
    }
    return values;
  };
  const SmallVector<Type> chunkTypes(width_, sum_.type), tileTypes(size_t(chunks_) * width_, sum_.type);
  auto each = [&](llvm::function_ref<SmallVector<Value>(unsigned)> read) {
    SmallVector<Value> values;
    for (unsigned chunk = 0; chunk < chunks_; ++chunk)
      llvm::append_range(values, read(chunk));
    return values;
  };
  SmallVector<Value> flat = k_.choose(
      k_.both(inputIsAligned_, exists(tile, tile_)), tileTypes, [&] { return each(vector); },
      [&] {
        return each([&](unsigned chunk) {
          return k_.choose(
              k_.both(inputIsAligned_, exists(position(tile, chunk), width_)), chunkTypes,
              [&] { return vector(chunk); }, [&] { return ones(chunk); });
        });
      });
  Tile result;
  for (unsigned chunk = 0; chunk < chunks_; ++chunk)
    result.emplace_back(llvm::ArrayRef(flat).slice(size_t(chunk) * width_, width_));
  return result;
}

/// `values` are accumulators.
void RowScanner::store(Value tile, const Tile &values) {
  const KernelTensor &result = along_.outputs[0].tensor;
  Type memory = memoryType(result.element);
  auto vector = [&](unsigned chunk) {
    Value all = LLVM::UndefOp::create(k_.b, k_.loc, VectorType::get(width_, memory));
    for (unsigned i = 0; i < width_; ++i) {
      Value one = narrow(k_, sum_, values[chunk][i]);
      if (memory != result.element)
        one = arith::ExtUIOp::create(k_.b, k_.loc, memory, one);
      all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, one, k_.number(i));
    }
    k_.store(all, pointer(result, element(position(tile, chunk))), vectorBytes(result));
  };
  auto ones = [&](unsigned chunk) {
    for (unsigned i = 0; i < width_; ++i) {
      Value at = k_.add(position(tile, chunk), k_.number(i));
      k_.when(exists(at), [&] { w_.store(result, element(at), narrow(k_, sum_, values[chunk][i])); });
    }
  };
  auto each = [&](llvm::function_ref<void(unsigned)> write) {
    for (unsigned chunk = 0; chunk < chunks_; ++chunk)
      write(chunk);
  };
  if (along_.outputs[0].isStored)
    k_.branch(
        k_.both(resultIsAligned_, exists(tile, tile_)), [&] { each(vector); },
        [&] {
          each([&](unsigned chunk) {
            k_.branch(
                k_.both(resultIsAligned_, exists(position(tile, chunk), width_)), [&] { vector(chunk); },
                [&] { ones(chunk); });
          });
        });
  if (!along_.outputs[1].isStored)
    return;
  // Where the row's last element is, if it is one of the part.
  Value last = k_.sub(k_.add(skipped_, size_), k_.number(1));
  Value isLastPart = k_.equal(k_.add(begin_, size_), lines_.length);
  Value endsHere = k_.both(k_.less(last, k_.add(tile, k_.number(tile_))), isLastPart);
  k_.when(endsHere, [&] {
    for (unsigned chunk = 0; chunk < chunks_; ++chunk)
      for (unsigned i = 0; i < width_; ++i)
        k_.when(k_.equal(k_.add(position(tile, chunk), k_.number(i)), last),
                [&] { w_.store(along_.outputs[1].tensor, row_, narrow(k_, sum_, values[chunk][i])); });
  });
}

Value RowScanner::scanLanes(Value value, Value lane, uint32_t count) {
  for (uint32_t delta = 1; delta < count; delta *= 2) {
    Value before = k_.shuffleUp(value, delta);
    value = k_.select(k_.less(lane, k_.number(delta)), value, combine(k_, sum_, before, value));
  }
  return value;
}

/// What the block's warps have left, up to each place: of as many neighbouring places as there are for a lane.
SmallVector<Value> RowScanner::scanPlaces(Value base, uint32_t places) {
  const uint32_t each = std::max(1u, places / kWarp);
  Value first = k_.mul(k_.rem(warpLane_, k_.number(places / each)), k_.number(each));
  SmallVector<Value> values;
  for (uint32_t i = 0; i < each; ++i) {
    Value place = k_.add(base, k_.add(first, k_.number(i)));
    Value value = loadShared(k_, sum_.type, k_.at(totals_, storedType(sum_.type), place));
    values.push_back(i == 0 ? value : combine(k_, sum_, values.back(), value));
  }
  Value all = scanLanes(values.back(), warpLane_, places / each);
  if (each == 1)
    return {all};
  Value before = k_.select(k_.equal(warpLane_, k_.number(0)), neutral(k_, sum_), k_.shuffleUp(all, 1));
  for (Value &value : values)
    value = combine(k_, sum_, before, value);
  return values;
}

/// Of such values, that of a place.
Value RowScanner::valueAt(ArrayRef<Value> values, Value place) {
  Value each = k_.number(int64_t(values.size())), lane = k_.div(place, each), inLane = k_.rem(place, each);
  Value found = k_.shuffleFrom(values.front(), lane);
  for (size_t i = 1; i < values.size(); ++i)
    found = k_.select(k_.equal(inLane, k_.number(int64_t(i))), k_.shuffleFrom(values[i], lane), found);
  return found;
}

/// Scans and stores a tile. @return what comes before the next one
Value RowScanner::scanTile(Value tile, Value carry) {
  Tile values = load(tile);
  SmallVector<Value> ends, before; // [chunks] of the warp up to this lane, and up to the one before it
  Value isFirstLane = k_.equal(warpLane_, k_.number(0));
  for (SmallVector<Value> &chunk : values) {
    for (unsigned i = 1; i < width_; ++i)
      chunk[i] = combine(k_, sum_, chunk[i - 1], chunk[i]);
    ends.push_back(scanLanes(chunk.back(), warpLane_, kWarp));
    before.push_back(k_.select(isFirstLane, neutral(k_, sum_), k_.shuffleUp(ends.back(), 1)));
  }
  SmallVector<Value> starts; // [chunks] what comes before this warp's part of the chunk
  Value next = carry;
  if (!isBlock()) {
    for (unsigned chunk = 0; chunk < chunks_; ++chunk) {
      starts.push_back(next);
      next = combine(k_, sum_, next, k_.shuffleFrom(ends[chunk], k_.number(kWarp - 1)));
    }
  } else {
    // Two sets of places, in turn: a tile's are read while the next one's are written.
    const uint32_t places = warps_ * chunks_;
    Type stored = storedType(sum_.type);
    Value turn = k_.rem(k_.div(tile, k_.number(tile_)), k_.number(2));
    Value base = k_.mul(turn, k_.number(places));
    k_.when(k_.equal(warpLane_, k_.number(kWarp - 1)), [&] {
      for (unsigned chunk = 0; chunk < chunks_; ++chunk)
        storeShared(k_, ends[chunk],
                    k_.at(totals_, stored, k_.add(base, k_.add(k_.number(int64_t(chunk) * warps_), warp_))));
    });
    k_.barrier();
    const SmallVector<Value> upTo = scanPlaces(base, places);
    for (unsigned chunk = 0; chunk < chunks_; ++chunk) {
      Value place = k_.add(k_.number(int64_t(chunk) * warps_), warp_);
      Value isFirst = k_.equal(place, k_.number(0));
      Value previous = valueAt(upTo, k_.select(isFirst, place, k_.sub(place, k_.number(1))));
      starts.push_back(k_.select(isFirst, carry, combine(k_, sum_, carry, previous)));
    }
    next = combine(k_, sum_, carry, valueAt(upTo, k_.number(places - 1)));
  }
  Tile results = values;
  for (unsigned chunk = 0; chunk < chunks_; ++chunk) {
    Value start = combine(k_, sum_, starts[chunk], before[chunk]);
    for (unsigned i = 0; i < width_; ++i) {
      if (isInclusive_)
        results[chunk][i] = combine(k_, sum_, start, values[chunk][i]);
      else
        results[chunk][i] = i == 0 ? start : combine(k_, sum_, start, values[chunk][i - 1]);
    }
  }
  store(tile, results);
  return next;
}

/// What comes before this part: the parts before it, added up by all threads.
Value RowScanner::carriedIn() {
  Value start = isInclusive_ ? neutral(k_, sum_) : widen(k_, sum_, w_.start(along_.outputs[1], row_));
  if (parts_ == 1)
    return start;
  Value mine = k_.loop(lane_, part_, k_.number(lanes_), neutral(k_, sum_), [&](Value part, ValueRange now) {
                   return SmallVector<Value>{combine(k_, sum_, now[0], loadShared(k_, sum_.type, scratch(part)))};
                 }).front();
  return combine(k_, sum_, start, combineLanes(k_, {sum_}, {mine}, lanes_).front());
}

void RowScanner::combinePart() {
  Value mine = k_.loop(k_.number(0), k_.add(skipped_, size_), k_.number(tile_), neutral(k_, sum_),
                       [&](Value tile, ValueRange now) {
                         SmallVector<Value> values;
                         for (const SmallVector<Value> &chunk : load(tile))
                           llvm::append_range(values, chunk);
                         return SmallVector<Value>{combine(k_, sum_, now[0], combineAll(k_, sum_, values))};
                       })
                   .front();
  Value all = combineLanes(k_, {sum_}, {mine}, lanes_).front();
  k_.when(k_.equal(lane_, k_.number(0)), [&] { storeShared(k_, all, scratch(part_)); });
}

void RowScanner::scan() {
  k_.loop(k_.number(0), k_.add(skipped_, size_), k_.number(tile_), carriedIn(),
          [&](Value tile, ValueRange now) { return SmallVector<Value>{scanTile(tile, now[0])}; });
  if (!along_.outputs[1].isStored)
    return;
  Value isEmpty = k_.equal(lines_.length, k_.number(0));
  Value isOne = k_.both(k_.equal(lane_, k_.number(0)), k_.equal(part_, k_.number(0)));
  k_.when(k_.both(isEmpty, isOne),
          [&] { w_.store(along_.outputs[1].tensor, row_, w_.start(along_.outputs[1], row_)); });
}

} // namespace

void writeScanRows(AlongWriter &writer, const Sum &sum, int64_t dimension, bool isInclusive) {
  RowScanner(writer, sum, dimension, isInclusive).run();
}

} // namespace tenon::compiler::codegen
