// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/tile_transform.h"

#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 128;
// Of a block whose tiles lie across in the image and in planes, and how far rows of channels are apart in shared
// memory: neighbours write to banks of their own, and read from such.
constexpr int64_t kTilesAcross = 8;
int64_t channelsAcross(int64_t side) {
  return side > 6 ? 16 : 32;
}
int64_t rowAcross(int64_t side) {
  return channelsAcross(side) + 4;
}
constexpr int64_t kWordBytes = 4;

enum Letter : uint8_t { kImages, kRows, kColumns, kChannels };

class TileWriter {
public:
  explicit TileWriter(AlongWriter &w)
      : w_(w), k_(w.k), op_(cast<linalg_ext::TileTransformOp>(w.kernel.along.op)), f32_(k_.b.getF32Type()),
        makesPlanes_(op_.makesPlanes()), rows_(int64_t(op_.getRows())), columns_(op_.columns()),
        from_(w.kernel.along.inputs[0]), to_(w.kernel.along.outputs[0].tensor), image_(makesPlanes_ ? from_ : to_) {
    int64_t stride = 1;
    for (int64_t dimension = 4; dimension-- > 0;) {
      strides_[dimension] = stride;
      stride *= image_.shape[dimension].size;
    }
    tiles_ = sizeOf(kImages) * op_.getTiles()[0] * op_.getTiles()[1];
    const int64_t side = makesPlanes_ ? columns_ : rows_;
    isPacked_ = llvm::equal(op_.getOrder(), ArrayRef<int64_t>{0, 2, 3, 1}) && !op_.getTurned() &&
                sizeOf(kRows) == side && sizeOf(kColumns) == side &&
                llvm::equal(op_.getTiles(), ArrayRef<int64_t>{1, 1}) &&
                llvm::equal(op_.getLow(), ArrayRef<int64_t>{0, 0});
  }

  void run();

private:
  int64_t sizeOf(Letter letter) const { return image_.shape[op_.getOrder()[letter]].size; }
  int64_t strideOf(Letter letter) const { return strides_[op_.getOrder()[letter]]; }
  int64_t ofPlane() const { return tiles_ * sizeOf(kChannels); }
  Value pointer(const KernelTensor &tensor) { return w_.arguments.pointers[tensor.binding]; }
  /// May lie outside of the tensor, where nothing is read then.
  Value around(Value base, Value elements) {
    return LLVM::GEPOp::create(k_.b, k_.loc, base.getType(), f32_, base,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(elements)});
  }

  void findPlace();
  void findTile(Value tile);
  /// Whether a place that lies `offset` behind the tile's begin is one of the image's.
  Value isInside(Value begin, int64_t offset, Letter letter);
  SmallVector<Value> readImage();
  void copyPacked(Value shared, bool isIn);
  void runAcross();
  SmallVector<Value> readPlanes();
  SmallVector<Value> multiply(ArrayRef<Value> tile);
  void writePlanes(ArrayRef<Value> made);
  void writeImage(ArrayRef<Value> made);
  Value behind(Value sum, Value y, Value x);
  Value sum(ArrayRef<double> factors, ArrayRef<Value> values);

  AlongWriter &w_;
  KernelBuilder &k_;
  mutable linalg_ext::TileTransformOp op_; // accessors of operations are not const
  Type f32_;
  const bool makesPlanes_;
  const int64_t rows_, columns_;
  const KernelTensor &from_, &to_, &image_;
  std::array<int64_t, 4> strides_;
  int64_t tiles_;
  bool isPacked_; // tiles are all that the image holds, one behind another, as filters whose window comes last
  Value plane_;   // which element of a plane is this thread's
  Value imageNumber_, y_, x_, c_; // where its tile begins in the image
};

void TileWriter::findPlace() {
  Value channels = k_.number(sizeOf(kChannels)), all = k_.number(tiles_);
  c_ = op_.getTurned() ? k_.div(plane_, all) : k_.rem(plane_, channels);
  findTile(op_.getTurned() ? k_.rem(plane_, all) : k_.div(plane_, channels));
}

void TileWriter::findTile(Value tile) {
  const int64_t down = op_.getTiles()[0], across = op_.getTiles()[1];
  imageNumber_ = k_.div(tile, k_.number(down * across));
  Value inImage = k_.rem(tile, k_.number(down * across)), step = k_.number(int64_t(op_.getStep()));
  y_ = k_.sub(k_.mul(k_.div(inImage, k_.number(across)), step), k_.number(op_.getLow()[0]));
  x_ = k_.sub(k_.mul(k_.rem(inImage, k_.number(across)), step), k_.number(op_.getLow()[1]));
}

Value TileWriter::isInside(Value begin, int64_t offset, Letter letter) {
  const int64_t low = op_.getLow()[letter == kRows ? 0 : 1], step = int64_t(op_.getStep()),
                last = (op_.getTiles()[letter == kRows ? 0 : 1] - 1) * step - low + offset;
  if (offset >= low && last < sizeOf(letter))
    return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  return k_.less(k_.add(begin, k_.number(offset)), k_.number(sizeOf(letter)));
}

/// What lies outside of it is 0.
SmallVector<Value> TileWriter::readImage() {
  Value first =
      k_.add(k_.add(k_.mul(imageNumber_, k_.number(strideOf(kImages))), k_.mul(c_, k_.number(strideOf(kChannels)))),
             k_.add(k_.mul(y_, k_.number(strideOf(kRows))), k_.mul(x_, k_.number(strideOf(kColumns)))));
  Value base = around(pointer(from_), first);
  SmallVector<Value> across, tile;
  for (int64_t q = 0; q < columns_; ++q)
    across.push_back(isInside(x_, q, kColumns));
  for (int64_t p = 0; p < columns_; ++p) {
    Value isRow = isInside(y_, p, kRows);
    for (int64_t q = 0; q < columns_; ++q) {
      Value at = around(base, k_.number(p * strideOf(kRows) + q * strideOf(kColumns)));
      Value isThere = k_.both(isRow, across[q]);
      tile.push_back(
          KernelBuilder::known(isThere) == true
              ? k_.load(f32_, at, kWordBytes, /*isStreamed=*/false, /*isWhole=*/true)
              : LLVM::BitcastOp::create(k_.b, k_.loc, f32_, k_.loadWhere(isThere, k_.b.getI32Type(), at)).getResult());
    }
  }
  return tile;
}

SmallVector<Value> TileWriter::readPlanes() {
  Value base = k_.at(pointer(from_), f32_, plane_);
  SmallVector<Value> tile;
  const int64_t places = columns_ * columns_, parts = from_.shape[0].size / places;
  for (int64_t place = 0; place < places; ++place) {
    Value sum;
    for (int64_t part = 0; part < parts; ++part) {
      Value one = k_.load(f32_, k_.at(base, f32_, k_.number((place * parts + part) * ofPlane())), kWordBytes);
      sum = sum ? arith::AddFOp::create(k_.b, k_.loc, sum, one).getResult() : one;
    }
    tile.push_back(sum);
  }
  return tile;
}

Value TileWriter::sum(ArrayRef<double> factors, ArrayRef<Value> values) {
  Value total;
  for (auto [factor, value] : llvm::zip_equal(factors, values)) {
    if (factor == 0)
      continue;
    if (total && (factor == 1 || factor == -1)) {
      total = factor == 1 ? arith::AddFOp::create(k_.b, k_.loc, total, value).getResult()
                          : arith::SubFOp::create(k_.b, k_.loc, total, value).getResult();
      continue;
    }
    if (factor == 1) {
      total = value;
      continue;
    }
    Value number = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(float(factor)));
    total = total ? LLVM::FMAOp::create(k_.b, k_.loc, value, number, total).getResult()
                  : arith::MulFOp::create(k_.b, k_.loc, value, number).getResult();
  }
  return total ? total : arith::ConstantOp::create(k_.b, k_.loc, k_.b.getF32FloatAttr(0)).getResult();
}

/// L tile L^T, row by row.
SmallVector<Value> TileWriter::multiply(ArrayRef<Value> tile) {
  const ArrayRef<double> matrix = op_.getMatrix();
  SmallVector<SmallVector<Value>> left(rows_);
  for (int64_t q = 0; q < columns_; ++q) {
    SmallVector<Value> column;
    for (int64_t p = 0; p < columns_; ++p)
      column.push_back(tile[p * columns_ + q]);
    for (int64_t i = 0; i < rows_; ++i)
      left[i].push_back(sum(matrix.slice(i * columns_, columns_), column));
  }
  SmallVector<Value> made;
  for (int64_t i = 0; i < rows_; ++i)
    for (int64_t j = 0; j < rows_; ++j)
      made.push_back(sum(matrix.slice(j * columns_, columns_), left[i]));
  return made;
}

void TileWriter::writePlanes(ArrayRef<Value> made) {
  Value base = k_.at(pointer(to_), f32_, plane_);
  for (auto [place, value] : llvm::enumerate(made))
    k_.store(value, k_.at(base, f32_, k_.number(int64_t(place) * ofPlane())), kWordBytes);
}

/// What the program computes from a result.
Value TileWriter::behind(Value sum, Value y, Value x) {
  if (op_.getRegion().empty())
    return sum;
  std::array<Value, 4> place; // by dimension of the image
  for (auto [letter, value] : llvm::enumerate(std::array<Value, 4>{imageNumber_, y, x, c_}))
    place[op_.getOrder()[letter]] = value;
  SmallVector<Value> arguments = {sum};
  for (auto [map, input] : llvm::zip_equal(op_.getMaps().getAsValueRange<AffineMapAttr>(),
                                           llvm::ArrayRef(w_.kernel.along.inputs).drop_front())) {
    Value element = k_.number(0);
    for (auto [expr, extent] : llvm::zip_equal(map.getResults(), input.shape)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      element = k_.add(k_.mul(element, k_.number(extent.size)), dim ? place[dim.getPosition()] : k_.number(0));
    }
    arguments.push_back(w_.load(input, element));
  }
  return w_.region(arguments).front();
}

void TileWriter::writeImage(ArrayRef<Value> made) {
  const bool hasRows = strideOf(kColumns) == 1 && rows_ % 2 == 0 && sizeOf(kColumns) % rows_ == 0;
  Value first = k_.add(k_.mul(imageNumber_, k_.number(strideOf(kImages))), k_.mul(c_, k_.number(strideOf(kChannels))));
  for (int64_t i = 0; i < rows_; ++i) {
    Value y = k_.add(y_, k_.number(i)), row = k_.add(first, k_.mul(y, k_.number(strideOf(kRows))));
    k_.when(isInside(y_, i, kRows), [&] {
      if (hasRows) {
        SmallVector<Value> values;
        for (int64_t j = 0; j < rows_; ++j)
          values.push_back(behind(made[i * rows_ + j], y, k_.add(x_, k_.number(j))));
        return storeRun(k_, w_.arguments, to_, k_.add(row, x_), values);
      }
      for (int64_t j = 0; j < rows_; ++j) {
        Value x = k_.add(x_, k_.number(j));
        k_.when(isInside(x_, j, kColumns), [&] {
          w_.store(to_, k_.add(row, k_.mul(x, k_.number(strideOf(kColumns)))), behind(made[i * rows_ + j], y, x));
        });
      }
    });
  }
}

/// The block's tiles, from memory or to it, so that neighbours have neighbouring elements.
void TileWriter::copyPacked(Value shared, bool isIn) {
  const int64_t places = sizeOf(kRows) * sizeOf(kColumns);
  Value first = k_.mul(k_.block(), k_.number(int64_t(k_.threads) * places));
  for (int64_t i = 0; i < places; ++i) {
    Value at = k_.add(k_.number(i * k_.threads), k_.thread()), element = k_.add(first, at);
    k_.when(k_.less(element, k_.number(ofPlane() * places)), [&] {
      Value staged = k_.at(shared, f32_, at);
      if (isIn)
        k_.store(w_.load(from_, element), staged, kWordBytes);
      else
        w_.store(to_, element, k_.load(f32_, staged, kWordBytes));
    });
  }
}

/// Neighbours have neighbouring tiles as they read, and neighbouring channels as they write.
void TileWriter::runAcross() {
  const int64_t channels = channelsAcross(rows_), row = rowAcross(rows_), ofPlace = kTilesAcross * row;
  Value blocks = k_.number(int64_t(llvm::divideCeil(uint64_t(tiles_), uint64_t(kTilesAcross))));
  Value firstTile = k_.mul(k_.rem(k_.block(), blocks), k_.number(kTilesAcross)),
        firstChannel = k_.mul(k_.div(k_.block(), blocks), k_.number(channels));
  Value shared = k_.shared(f32_, uint64_t(rows_ * rows_ * ofPlace));
  auto whereThere = [&](Value tile, Value channel, llvm::function_ref<void()> body) {
    k_.when(k_.both(k_.less(tile, k_.number(tiles_)), k_.less(channel, k_.number(sizeOf(kChannels)))), body);
  };
  auto staged = [&](Value tile, Value channel, size_t place) {
    return k_.at(shared, f32_,
                 k_.add(k_.add(k_.mul(tile, k_.number(row)), channel), k_.number(int64_t(place) * ofPlace)));
  };
  Value tile = k_.rem(k_.thread(), k_.number(kTilesAcross)), channel = k_.div(k_.thread(), k_.number(kTilesAcross));
  c_ = k_.add(firstChannel, channel);
  whereThere(k_.add(firstTile, tile), c_, [&] {
    findTile(k_.add(firstTile, tile));
    for (auto [place, value] : llvm::enumerate(multiply(readImage())))
      k_.store(value, staged(tile, channel, place), kWordBytes);
  });
  k_.barrier();
  tile = k_.div(k_.thread(), k_.number(channels));
  channel = k_.rem(k_.thread(), k_.number(channels));
  Value writtenTile = k_.add(firstTile, tile), writtenChannel = k_.add(firstChannel, channel);
  whereThere(writtenTile, writtenChannel, [&] {
    plane_ = k_.add(k_.mul(writtenTile, k_.number(sizeOf(kChannels))), writtenChannel);
    SmallVector<Value> made;
    for (int64_t place = 0; place < rows_ * rows_; ++place)
      made.push_back(k_.load(f32_, staged(tile, channel, size_t(place)), kWordBytes));
    writePlanes(made);
  });
}

void TileWriter::run() {
  auto all = [&] {
    if (w_.choiceOrZero("across"))
      return runAcross();
    plane_ = k_.add(k_.mul(k_.block(), k_.number(k_.threads)), k_.thread());
    Value isThere = k_.less(plane_, k_.number(ofPlane()));
    const int64_t places = sizeOf(kRows) * sizeOf(kColumns);
    Value shared = isPacked_ ? k_.shared(f32_, uint64_t(k_.threads) * places) : Value();
    auto stagedAt = [&](int64_t place) {
      return k_.at(shared, f32_, k_.add(k_.mul(k_.thread(), k_.number(places)), k_.number(place)));
    };
    if (isPacked_ && makesPlanes_) {
      copyPacked(shared, /*isIn=*/true);
      k_.barrier();
    }
    k_.when(isThere, [&] {
      findPlace();
      SmallVector<Value> tile;
      if (isPacked_ && makesPlanes_)
        for (int64_t place = 0; place < places; ++place)
          tile.push_back(k_.load(f32_, stagedAt(place), kWordBytes));
      else
        tile = makesPlanes_ ? readImage() : readPlanes();
      const SmallVector<Value> made = multiply(tile);
      if (makesPlanes_)
        return writePlanes(made);
      if (!isPacked_)
        return writeImage(made);
      for (auto [place, value] : llvm::enumerate(made))
        k_.store(behind(value, k_.number(int64_t(place) / rows_), k_.number(int64_t(place) % rows_)),
                 stagedAt(int64_t(place)), kWordBytes);
    });
    if (isPacked_ && !makesPlanes_) {
      k_.barrier();
      copyPacked(shared, /*isIn=*/false);
    }
  };
  // Words count all of both tensors.
  auto elementsOf = [](const KernelTensor &tensor) {
    double count = 1;
    for (const Extent &extent : tensor.shape)
      count *= double(extent.size);
    return count;
  };
  if (elementsOf(from_) < double(1 << 30) && elementsOf(to_) < double(1 << 30))
    k_.inWords(all);
  else
    all();
}

} // namespace

bool TileTransform::takes(Operation *op) const {
  return isa<linalg_ext::TileTransformOp>(op);
}

AlongPlans TileTransform::plans(const KernelFunction &kernel) const {
  auto op = cast<linalg_ext::TileTransformOp>(kernel.along.op);
  const KernelTensor &planes = op.makesPlanes() ? kernel.along.outputs[0].tensor : kernel.along.inputs[0];
  Plan plan;
  plan.strategy = name();
  plan.threads = kThreads;
  plan.grid = {{{planes.shape[1], planes.shape[2]}, int64_t(kThreads)}};
  // Places of the image lie side by side, and channels of the planes.
  const bool isOfOne = llvm::equal(op.getTiles(), ArrayRef<int64_t>{1, 1});
  if (op.makesPlanes() && !op.getTurned() && op.getOrder()[kColumns] == 3 && !isOfOne) {
    const int64_t channels = channelsAcross(int64_t(op.getRows()));
    plan.threads = uint32_t(kTilesAcross * channels);
    plan.grid = {{{planes.shape[1]}, kTilesAcross}, {{planes.shape[2]}, channels}};
    plan.choices.push_back({"across", 1});
  }
  AlongPlans result;
  result.kernels.push_back(plan);
  return result;
}

void TileTransform::write(AlongWriter &writer) const {
  TileWriter(writer).run();
}

} // namespace tenon::compiler::codegen
