// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/window_rows.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kMostLanes = 4;
// Results of a column; what a thread combines in all, which is straight-line code; threads that keep a large device
// busy; results in all for each that there is, since the last tiles of a column compute some again.
constexpr int64_t kMostOfColumn = 8, kMostSlid = 1600, kEnoughThreads = 40'000;
constexpr double kMostWaste = 1.2;

/// How the last index of a map slides along the last parallel axis; nothing where it does not, or by more than a loop
/// of the window.
bool slidesAlongLast(ImageRows &rows, const GroupShape &shape, linalg::GenericOp op, AffineMap map) {
  if (map.getNumResults() == 0 || shape.parallel == 0)
    return false;
  const std::optional<dispatch::LinearExpr> linear =
      dispatch::LinearExpr::of(map.getResults().back(), map.getNumDims());
  if (!linear)
    return false;
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool isAlong = false, hasWindow = false;
  for (auto [loop, factor] : llvm::enumerate(linear->factors)) {
    if (factor == 0)
      continue;
    const auto *axis = llvm::find_if(
        shape.axes, [&](const SpaceAxis &each) { return llvm::is_contained(each.axes, groupAxes[loop]); });
    if (factor < 0 || axis == shape.axes.end() || axis->axes.size() != 1 || !axis->size)
      return false;
    const auto number = unsigned(axis - shape.axes.begin());
    if (number == shape.parallel - 1 && !isAlong) {
      rows.step = factor;
      isAlong = true;
    } else if (axis->isReduced && !hasWindow) {
      rows.length = sizes[loop];
      rows.apart = factor;
      rows.axis = number;
      hasWindow = true;
    } else {
      return false;
    }
  }
  rows.offset = linear->offset;
  return isAlong && hasWindow;
}

} // namespace

std::optional<ImageRows> ImageRows::of(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<ImageRows> found;
  for (const KernelOp &op : kernel.ops) {
    linalg::GenericOp generic = op.op;
    if (generic.getNumReductionLoops() == 0)
      continue;
    auto take = [&](ImageRows rows) {
      if (!slidesAlongLast(rows, shape, generic, rows.image.map))
        return true;
      if (found || llvm::any_of(rows.image.shape, [](const Extent &extent) { return bool(extent.value); }))
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
      std::optional<dispatch::Border> border = dispatch::borderOf(select.getResult(), generic);
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
  const bool isNarrow = dispatch::elementBytes(image.element) == 2;
  const int64_t results = *shape.axes[shape.parallel - 1].size, inRow = image.shape.back().size;
  int64_t lanes = kMostLanes;
  while (lanes > 1 && (results % lanes != 0 || (isNarrow && inRow % 2 != 0)))
    lanes /= 2;
  return uint32_t(lanes);
}

SmallVector<Value> ImageRows::read(KernelBuilder &k, GroupSpace &space, const Bodies &bodies, const Point &point,
                                   uint32_t lanes) const {
  const auto bytes = int64_t(dispatch::elementBytes(image.element));
  const int64_t met = (int64_t(lanes) - 1) * step + (length - 1) * apart + 1;
  // Lanes begin at a multiple of how many they are, an even number, so it is known where words do.
  const int64_t ofWord = lanes == 1 ? 1 : kWordBytes / bytes, before = (offset % ofWord + ofWord) % ofWord;
  const unsigned last = image.map.getNumResults() - 1;
  Value inRow = space.position(image.map.getResult(last), op->op, point, 0), row = k.number(0), isRow;
  int64_t stride = image.shape[last].size;
  for (unsigned dimension = last; dimension-- > 0;) {
    Value at = space.position(image.map.getResult(dimension), op->op, point, 0);
    if (leaves[dimension]) {
      Value is = k.less(at, k.number(image.shape[dimension].size)); // unsigned
      isRow = isRow ? k.both(isRow, is) : is;
    }
    row = k.add(row, k.mul(at, k.number(stride)));
    stride *= image.shape[dimension].size;
  }
  Type word = k.b.getIntegerType(unsigned(ofWord * bytes * 8));
  Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(word));
  SmallVector<Value> elements;
  for (int64_t first = -before; first < met; first += ofWord) {
    Value at = k.add(inRow, k.number(first)), is = isRow;
    if (leaves[last]) {
      Value inside = k.less(at, k.number(image.shape[last].size));
      is = is ? k.both(is, inside) : inside;
    }
    Value from = k.add(row, at);
    Value bits = k.load(word, k.at(bodies.base(image), image.element, is ? k.select(is, from, k.number(0)) : from),
                        uint32_t(ofWord * bytes));
    if (is)
      bits = k.select(is, bits, zero);
    if (ofWord == 1) {
      elements.push_back(LLVM::BitcastOp::create(k.b, k.loc, image.element, bits));
      continue;
    }
    Value both = LLVM::BitcastOp::create(k.b, k.loc, VectorType::get(ofWord, image.element), bits);
    for (int64_t i = 0; i < ofWord; ++i)
      if (first + i >= 0 && first + i < met)
        elements.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, both, k.number(i)));
  }
  return elements;
}

SmallVector<Value> ImageRows::at(ArrayRef<Value> row, int64_t place, uint32_t lanes) const {
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < int64_t(lanes); ++lane)
    values.push_back(row[lane * step + place * apart]);
  return values;
}

bool slidesDownColumns(const KernelFunction &kernel, const GroupShape &shape, size_t sums) {
  const int64_t window = GroupShape::sizeOf(shape.reducedAxes()).value_or(0);
  if (!canRun(shape) || sums != 1 || shape.reducedAxes().size() != 2 || window == 0 || window >= kLongWindow)
    return false;
  const std::optional<ImageRows> rows = ImageRows::of(kernel, shape);
  const std::optional<WindowAlong> down = windowAlong(kernel, shape, shape.parallel - 2);
  // Rows of the window one after the other, and nothing else that is summed over.
  return rows && down && down->axis == shape.parallel && rows->axis == down->axis + 1;
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
    for (int64_t run = 2; run <= std::min(column, kMostOfColumn); ++run) {
      const WindowTile tile{1, run, lanes};
      const double all = double(tilesOf(shape, tile) * run);
      if (window * run * lanes > kMostSlid || tilesOf(shape, tile) / lanes < kEnoughThreads ||
          all > kMostWaste * double(results))
        continue;
      const int64_t met = (int64_t(lanes) - 1) * rows.step + (rows.length - 1) * rows.apart + 1;
      // What is combined, and what is read, with where it lies.
      const double read = double(down.placesOf(run)) * double(met) / double(run * lanes);
      const double cost = all * (double(window) + 2.5 * read);
      if (!best || cost < least)
        best = tile, least = cost;
    }
  return best;
}

} // namespace tenon::compiler::codegen
