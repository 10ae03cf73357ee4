// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/window_rows.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMostBytes = 16, kWordBytes = 4; // of what is read at once; of what is there where lanes are several
// Results of a column, and of a thread (measured on an H200: 4 x 8 lanes of bf16 take 18.4 and 22.4 us where 8 x 8 take
// 19.7 and 24.9: 112 x 112, 32 channels, and 56 x 56, 144); what a thread combines in all, which is straight-line code;
// threads that keep a large device busy; results in all for each that there is, since the last tiles of a column
// compute some again.
constexpr int64_t kMostOfColumn = 8, kMostOfThread = 32, kMostSlid = 1600, kEnoughThreads = 40'000;
constexpr double kMostWaste = 1.2;
// Instructions of a piece of a row, beside one for each of its elements: where it lies, and whether it is there.
constexpr double kPiece = 5;

/// So many elements at a multiple of their bytes; zeros where `is`, if anything, does not hold: then nothing is read,
/// or, of one element, which is faster so, the image's first.
SmallVector<Value> loadPiece(KernelBuilder &k, Value is, Value from, Value first, int64_t count, Type element) {
  const auto bits = unsigned(count * dispatch::elementBytes(element) * 8);
  Type type = count == 1 ? element : Type(VectorType::get(count, element));
  Value all;
  if (!is) {
    all = k.load(type, from, bits / 8);
  } else if (count == 1) {
    Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(element));
    all = k.select(is, k.load(type, k.select(is, from, first), bits / 8), zero);
  } else if (bits <= 64) {
    all = LLVM::BitcastOp::create(k.b, k.loc, type, k.loadWhere(is, k.b.getIntegerType(bits), from));
  } else {
    const SmallVector<Value> words = k.loadWordsWhere(is, from);
    Value vector = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(words.size(), k.b.getI32Type()));
    for (auto [number, word] : llvm::enumerate(words))
      vector = LLVM::InsertElementOp::create(k.b, k.loc, vector, word, k.number(number));
    all = LLVM::BitcastOp::create(k.b, k.loc, type, vector);
  }
  if (count == 1)
    return {all};
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, all, k.number(i)));
  return elements;
}

/// Whether each loop is part of one dimension alone.
bool hasLoopsOnce(AffineMap map) {
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (llvm::count_if(map.getResults(), [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); }) > 1)
      return false;
  return true;
}

} // namespace

std::optional<Slide> Slide::of(const GroupShape &shape, linalg::GenericOp op, AffineMap map, unsigned dimension,
                               unsigned along) {
  if (dimension >= map.getNumResults() || along >= shape.parallel)
    return std::nullopt;
  const std::optional<dispatch::LinearExpr> linear =
      dispatch::LinearExpr::of(map.getResult(dimension), map.getNumDims());
  if (!linear)
    return std::nullopt;
  Slide slide;
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool isAlong = false, hasWindow = false;
  for (auto [loop, factor] : llvm::enumerate(linear->factors)) {
    if (factor == 0)
      continue;
    const auto *axis = llvm::find_if(
        shape.axes, [&](const SpaceAxis &each) { return llvm::is_contained(each.axes, groupAxes[loop]); });
    if (axis == shape.axes.end() || axis->axes.size() != 1 || !axis->size)
      return std::nullopt;
    const auto number = unsigned(axis - shape.axes.begin());
    if (number == along && !isAlong && factor > 0) {
      slide.step = factor;
      slide.results = *axis->size;
      isAlong = true;
    } else if (axis->isReduced && !hasWindow) {
      slide.length = sizes[loop];
      slide.apart = std::abs(factor);
      slide.isBackwards = factor < 0;
      slide.axis = number;
      hasWindow = true;
    } else {
      return std::nullopt;
    }
  }
  slide.offset = linear->offset - (slide.isBackwards ? (slide.length - 1) * slide.apart : 0);
  return isAlong && hasWindow ? std::optional(slide) : std::nullopt;
}

std::optional<ImageRows> ImageRows::of(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<ImageRows> found;
  for (const KernelOp &op : kernel.ops) {
    linalg::GenericOp generic = op.op;
    if (generic.getNumReductionLoops() == 0)
      continue;
    auto take = [&](ImageRows rows) {
      const std::optional<Slide> slide =
          Slide::of(shape, generic, rows.image.map, rows.image.map.getNumResults() - 1, shape.parallel - 1);
      if (!slide)
        return true;
      static_cast<Slide &>(rows) = *slide;
      // What neighbours share is where it lies: a loop that says so twice, as the gradient of im2col does, moves it.
      if (!hasLoopsOnce(rows.image.map))
        return false;
      // Where a row lies does not depend on how many images there are.
      if (found ||
          llvm::any_of(llvm::drop_begin(rows.image.shape), [](const Extent &extent) { return bool(extent.value); }))
        return false;
      rows.op = &op;
      found = std::move(rows);
      return true;
    };
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        if (ImageRows rows;
            !take((rows.image = input.tensor, rows.leaves.assign(input.tensor.shape.size(), false), rows)))
          return std::nullopt;
    for (auto select : generic.getBody()->getOps<arith::SelectOp>()) {
      std::optional<dispatch::Border> border = dispatch::borderOfUnknown(
          select.getResult(), generic, Builder(generic.getContext()).getZeroAttr(select.getType()));
      const auto *image = border ? kernel.gathered.find(border->image) : kernel.gathered.end();
      if (image == kernel.gathered.end())
        continue;
      ImageRows rows;
      rows.border = select.getResult();
      rows.image = image->second;
      rows.image.map = border->map;
      rows.leaves = border->mayLeave;
      if (!take(rows))
        return std::nullopt;
    }
  }
  if (!found || found->op->borders.size() != 0)
    return std::nullopt;
  const uint32_t bytes = dispatch::elementBytes(found->image.element);
  const bool isFloat = isa<FloatType>(found->image.element);
  return isFloat && (bytes == 2 || bytes == 4) ? found : std::nullopt;
}

uint32_t ImageRows::lanes(const GroupShape &shape) const {
  const auto bytes = int64_t(dispatch::elementBytes(image.element));
  const int64_t results = *shape.axes[shape.parallel - 1].size, inRow = image.shape.back().size;
  int64_t lanes = kMostBytes / bytes;
  while (lanes > 1 && (results % lanes != 0 || inRow % (kWordBytes / bytes) != 0))
    lanes /= 2;
  return uint32_t(lanes);
}

SmallVector<ImageRows::Piece> ImageRows::pieces(uint32_t lanes) const {
  const auto bytes = int64_t(dispatch::elementBytes(image.element));
  // Lanes begin at a multiple of how many they are.
  const int64_t ofWord = lanes == 1 ? 1 : kWordBytes / bytes;
  int64_t most = ofWord;
  while (lanes > 1 && 2 * most * bytes <= kMostBytes && int64_t(lanes) * step % (2 * most) == 0 &&
         image.shape.back().size % (2 * most) == 0)
    most *= 2;
  const int64_t end = offset + met(lanes);
  SmallVector<Piece> pieces;
  for (int64_t first = offset - (offset % ofWord + ofWord) % ofWord; first < end; first += pieces.back().elements) {
    int64_t elements = most;
    while (elements > ofWord && (first % elements != 0 || first + elements >= end + ofWord))
      elements /= 2;
    pieces.push_back({first, elements});
  }
  return pieces;
}

int64_t ImageRows::alignment(uint32_t lanes) const {
  int64_t most = 1;
  for (const Piece &piece : pieces(lanes))
    most = std::max(most, piece.elements);
  return most * int64_t(dispatch::elementBytes(image.element));
}

SmallVector<Value> ImageRows::read(KernelBuilder &k, GroupSpace &space, const Bodies &bodies, const Point &point,
                                   uint32_t lanes) const {
  const unsigned last = image.map.getNumResults() - 1;
  const int64_t inRow = image.shape[last].size;
  Value place = space.position(image.map.getResult(last), op->op, point, 0), row = k.number(0), isRow;
  if (isBackwards) // it is the last element of the first lane's window
    place = k.sub(place, k.number((length - 1) * apart));
  int64_t stride = inRow;
  for (unsigned dimension = last; dimension-- > 0;) {
    Value at = space.position(image.map.getResult(dimension), op->op, point, 0);
    if (leaves[dimension]) {
      Value is = k.less(at, k.number(image.shape[dimension].size)); // unsigned
      isRow = isRow ? k.both(isRow, is) : is;
    }
    row = k.add(row, k.mul(at, k.number(stride)));
    stride *= image.shape[dimension].size;
  }
  SmallVector<Value> elements;
  for (const Piece &piece : pieces(lanes)) {
    Value at = k.add(place, k.number(piece.first - offset)), is = isRow;
    // The last lanes' place is known, so that of most pieces nobody has to ask.
    const int64_t farthest = (results - int64_t(lanes)) * step + piece.first + piece.elements;
    if (leaves[last] && (piece.first < 0 || farthest > inRow)) {
      Value inside = k.less(at, k.number(inRow));
      is = is ? k.both(is, inside) : inside;
    }
    Value base = bodies.base(image), from = k.at(base, image.element, k.add(row, at));
    for (auto [i, element] : llvm::enumerate(loadPiece(k, is, from, base, piece.elements, image.element)))
      if (const int64_t which = piece.first + int64_t(i) - offset; which >= 0 && which < met(lanes))
        elements.push_back(element);
  }
  return elements;
}

SmallVector<Value> ImageRows::at(ArrayRef<Value> row, int64_t place, uint32_t lanes) const {
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < int64_t(lanes); ++lane)
    values.push_back(row[lane * step + (isBackwards ? length - 1 - place : place) * apart]);
  return values;
}

bool slidesDownColumns(const KernelFunction &kernel, const GroupShape &shape, size_t sums) {
  const int64_t window = GroupShape::sizeOf(shape.reducedAxes()).value_or(0);
  if (!canRun(shape) || sums != 1 || shape.reducedAxes().size() != 2 || window == 0 || window >= kLongWindow)
    return false;
  const std::optional<ImageRows> rows = ImageRows::of(kernel, shape);
  const std::optional<WindowAlong> down = windowAlong(kernel, shape, shape.parallel - 2);
  if (!rows || !down)
    return false;
  // Rows of the window one after the other, and nothing else that is summed over; they are the image's own.
  const AffineMap map = rows->image.map;
  const bool isOfImage = llvm::any_of(llvm::seq(map.getNumResults() - 1), [&](unsigned dimension) {
    const std::optional<Slide> slide = Slide::of(shape, rows->op->op, map, dimension, shape.parallel - 2);
    return slide && slide->axis == down->axis && slide->step == down->step && slide->length == down->length &&
           slide->apart == std::abs(down->apart) && slide->isBackwards == (down->apart < 0);
  });
  return isOfImage && down->axis == shape.parallel && rows->axis == down->axis + 1;
}

std::optional<WindowTile> tileOfRows(const KernelFunction &kernel, const GroupShape &shape, size_t sums) {
  if (!slidesDownColumns(kernel, shape, sums))
    return std::nullopt;
  const int64_t window = *GroupShape::sizeOf(shape.reducedAxes()), results = *GroupShape::sizeOf(shape.parallelAxes());
  const ImageRows rows = *ImageRows::of(kernel, shape);
  const WindowAlong down = *windowAlong(kernel, shape, shape.parallel - 2);
  std::optional<WindowTile> best;
  double least = 0;
  const int64_t column = *shape.axes[shape.parallel - 2].size;
  for (uint32_t lanes = rows.lanes(shape); lanes != 0; lanes /= 2)
    for (int64_t run = 2; run <= std::min({column, kMostOfColumn, kMostOfThread / lanes}); ++run) {
      const WindowTile tile{1, run, lanes};
      const double all = double(tilesOf(shape, tile) * run);
      if (window * run * lanes > kMostSlid || tilesOf(shape, tile) / lanes < kEnoughThreads ||
          all > kMostWaste * double(results))
        continue;
      // What is combined, and what is read, with where it lies.
      const double row = kPiece * double(rows.pieces(lanes).size()) + double(rows.met(lanes));
      const double cost = all * (double(window) + double(down.placesOf(run)) * row / double(run * lanes));
      if (!best || cost < least)
        best = tile, least = cost;
    }
  return best;
}

} // namespace tenon::compiler::codegen
