// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/multiply_tiles.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dialect/tile_side.h"
#include "compiler/dispatch/winograd/tile_choice.h"
#include "compiler/dispatch/winograd/tile_matrices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class TileMultiplier {
public:
  TileMultiplier(const Convolution &convolution, const WindowLayer &layer, const TileMatrices &matrices)
      : op_(convolution.op), layer_(layer), matrices_(matrices), b_(op_), loc_(op_.getLoc()) {}

  Value multiply() { return layer_.isOfFilters ? multiplyOfFilters() : multiplyForward(); }

private:
  RankedTensorType typeOf(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, b_.getF32Type()); }
  Value transform(Value from, ArrayRef<int64_t> to, ArrayRef<double> matrix, int64_t rows, ArrayRef<int64_t> order,
                  ArrayRef<int64_t> tiles, ArrayRef<int64_t> low, int64_t step, bool isTurned);
  /// Letters name the dimensions: p planes, s parts of a sum, t tiles, c channels, k filters. The last loop is summed.
  Value product(Value left, Value right, StringRef leftLoops, StringRef rightLoops, StringRef loops);
  /// Whether an image has its channels in front of its places, side by side.
  static bool isTurned(const std::array<int64_t, 4> &order) { return order[3] != 3; }
  int64_t planes() const { return matrices_.side * matrices_.side; }
  SmallVector<int64_t> planesShape(int64_t tiles, int64_t channels, bool isTurned) const {
    return {planes(), isTurned ? channels : tiles, isTurned ? tiles : channels};
  }
  /// Planes whose tiles are several runs, and sums of such, each a plane.
  Value inParts(Value planes, int64_t parts, bool isTurned) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(planes.getType()).getShape());
    const unsigned tiles = isTurned ? 2 : 1;
    shape[tiles] /= parts;
    shape.insert(shape.begin() + tiles, parts);
    const SmallVector<ReassociationIndices> last{{0}, {1}, {2, 3}}, middle{{0}, {1, 2}, {3}};
    return tensor::ExpandShapeOp::create(b_, loc_, typeOf(shape), planes, isTurned ? last : middle);
  }
  Value joined(Value sums) {
    const SmallVector<ReassociationIndices> groups{{0, 1}, {2}, {3}};
    return tensor::CollapseShapeOp::create(b_, loc_, sums, groups);
  }
  Value multiplyForward();
  Value multiplyOfFilters();

  linalg::GenericOp op_;
  const WindowLayer &layer_;
  const TileMatrices &matrices_;
  OpBuilder b_;
  Location loc_;
};

Value TileMultiplier::transform(Value from, ArrayRef<int64_t> to, ArrayRef<double> matrix, int64_t rows,
                                ArrayRef<int64_t> order, ArrayRef<int64_t> tiles, ArrayRef<int64_t> low, int64_t step,
                                bool isTurned) {
  Value empty = tensor::EmptyOp::create(b_, loc_, to, b_.getF32Type());
  return linalg_ext::TileTransformOp::create(b_, loc_, typeOf(to), ValueRange(from), empty, matrix, uint64_t(rows),
                                             order, tiles, low, uint64_t(step), isTurned, b_.getArrayAttr({}))
      .getResult();
}

Value TileMultiplier::product(Value left, Value right, StringRef leftLoops, StringRef rightLoops, StringRef loops) {
  SmallVector<int64_t> sizes(loops.size());
  auto mapOf = [&](StringRef letters) {
    SmallVector<AffineExpr> exprs;
    for (char letter : letters)
      exprs.push_back(b_.getAffineDimExpr(unsigned(loops.find(letter))));
    return AffineMap::get(loops.size(), 0, exprs, b_.getContext());
  };
  for (auto [operand, letters] : {std::pair(left, leftLoops), std::pair(right, rightLoops)})
    for (auto [letter, size] : llvm::zip_equal(letters, cast<RankedTensorType>(operand.getType()).getShape()))
      sizes[loops.find(letter)] = size;
  const RankedTensorType type = typeOf(ArrayRef(sizes).drop_back());
  SmallVector<utils::IteratorType> iterators(loops.size(), utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(b_, loc_, type.getShape(), b_.getF32Type());
  Value start = linalg::FillOp::create(b_, loc_, zero, empty).getResult(0);
  const AffineMap maps[] = {mapOf(leftLoops), mapOf(rightLoops), mapOf(loops.drop_back())};
  return linalg::GenericOp::create(b_, loc_, type, ValueRange{left, right}, start, maps, iterators,
                                   [](OpBuilder &b, Location loc, ValueRange values) {
                                     Value product = arith::MulFOp::create(b, loc, values[0], values[1]);
                                     Value sum = arith::AddFOp::create(b, loc, values[2], product);
                                     linalg::YieldOp::create(b, loc, sum);
                                   })
      .getResult(0);
}

Value TileMultiplier::multiplyForward() {
  const int64_t step = matrices_.results, side = matrices_.side, none[] = {0, 0}, one[] = {1, 1};
  const int64_t tiles[] = {int64_t(llvm::divideCeil(layer_.places[0], step)),
                           int64_t(llvm::divideCeil(layer_.places[1], step))};
  const int64_t count = layer_.images * tiles[0] * tiles[1];
  const bool isImageTurned = isTurned(layer_.ofImage), isOutTurned = isTurned(layer_.ofOut);
  Value data = transform(layer_.image, planesShape(count, layer_.channels, isImageTurned), matrices_.data, side,
                         layer_.ofImage, tiles, layer_.low, step, isImageTurned);
  const bool isSummedFirst = layer_.isFirstSummed;
  Value filters = transform(
      layer_.other,
      {planes(), isSummedFirst ? layer_.channels : layer_.filters, isSummedFirst ? layer_.filters : layer_.channels},
      layer_.isBackwards ? matrices_.backwards() : matrices_.filter, side, layer_.ofOther, one, none, 1, false);
  Value sums = product(data, filters, isImageTurned ? "pct" : "ptc", isSummedFirst ? "pck" : "pkc",
                       isOutTurned ? "pktc" : "ptkc");
  auto out = cast<RankedTensorType>(op_->getResult(0).getType());
  return transform(sums, out.getShape(), matrices_.result, step, layer_.ofOut, tiles, none, step, isOutTurned);
}

Value TileMultiplier::multiplyOfFilters() {
  const int64_t step = matrices_.taps, side = matrices_.side, none[] = {0, 0}, one[] = {1, 1};
  const int64_t tiles[] = {int64_t(llvm::divideCeil(layer_.places[0], step)),
                           int64_t(llvm::divideCeil(layer_.places[1], step))};
  const int64_t count = layer_.images * tiles[0] * tiles[1];
  // Products of two sides that lie along their results are the fastest.
  const bool isAcross = areChannelsLast(layer_, matrices_), isImageTurned = !isAcross && isTurned(layer_.ofImage),
             isOtherTurned = !isAcross && isTurned(layer_.ofOther);
  Value data = transform(layer_.image, planesShape(count, layer_.channels, isImageTurned), matrices_.data, side,
                         layer_.ofImage, tiles, layer_.low, step, isImageTurned);
  Value other = transform(layer_.other, planesShape(count, layer_.filters, isOtherTurned), matrices_.filter, side,
                          layer_.ofOther, tiles, none, step, isOtherTurned);
  const int64_t parts = partsOfSum(layer_, matrices_);
  Value sums;
  if (parts == 1)
    sums = product(data, other, isImageTurned ? "pct" : "ptc", isOtherTurned ? "pkt" : "ptk",
                   layer_.isFirstOfImage ? "pckt" : "pkct");
  else
    sums = joined(product(inParts(data, parts, isImageTurned), inParts(other, parts, isOtherTurned),
                          isImageTurned ? "pcst" : "pstc", isOtherTurned ? "pkst" : "pstk",
                          layer_.isFirstOfImage ? "psckt" : "pskct"));
  auto out = cast<RankedTensorType>(op_->getResult(0).getType());
  return transform(sums, out.getShape(), matrices_.result, matrices_.results, layer_.ofOut, one, none,
                   matrices_.results, false);
}

} // namespace

void warnOfTileSide(Location loc, IntegerAttr side) {
  emitWarning(loc) << '\'' << kTileSideAttr << "' is " << side.getInt() << " and has no effect: tiles of side 4 or 6 "
                   << "(windows of 3 x 3), 6 or 8 (5 x 5) are for f32 in steps of one over all of an image, of sums "
                   << "that start from 0, of known sizes";
}

bool multiplyTiles(const Convolution &convolution, bool print) {
  linalg::GenericOp op = convolution.op;
  if (tilePinOf(op)) // of a direct one
    return false;
  const std::optional<WindowLayer> layer = WindowLayer::of(convolution);
  auto said = op->getAttrOfType<IntegerAttr>(kTileSideAttr);
  const std::optional<TileMatrices> matrices =
      layer ? tilesOf(*layer, said ? std::optional(said.getInt()) : std::nullopt) : std::nullopt;
  if (said && !matrices)
    warnOfTileSide(op.getLoc(), said);
  if (!matrices) {
    if (print)
      op.emitRemark() << "this convolution is computed directly, not by Winograd's: "
                      << (!layer ? "tiles are for f32, windows of 3 x 3 and 5 x 5 in steps of one over all of an image"
                          : said ? "tiles have no such side"
                                 : "that would take longer");
    return false;
  }
  if (print)
    op.emitRemark() << "this convolution is computed by Winograd's F(" << matrices->results << " x "
                    << matrices->results << ", " << matrices->taps << " x " << matrices->taps << ')';
  Value made = TileMultiplier(convolution, *layer, *matrices).multiply();
  op->getResult(0).replaceAllUsesWith(made);
  op.erase();
  return true;
}

} // namespace tenon::compiler::dispatch
