// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations on tensors ask of sizes and places: that parts to be put side by side are as long as each other, that
// a slice lies in its tensor. What the types say was compared when the operation was verified; what a call says is
// asserted in front of it, and what is sure is left out. Places are numbers of the host, so an assertion costs no
// kernel anything.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// For certain: the same constant, the same value, or the same dimension of the same tensor.
bool isEqual(OpFoldResult a, OpFoldResult b) {
  if (isEqualConstantIntOrValue(a, b))
    return true;
  auto dimOf = [](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  };
  tensor::DimOp first = dimOf(a), second = dimOf(b);
  return first && second && first.getSource() == second.getSource() && first.getConstantIndex() &&
         first.getConstantIndex() == second.getConstantIndex();
}

/// What a number of the host lies between, as far as its bounds say it: exporters bring the begin of a slice inside.
struct Range {
  static constexpr int64_t kFar = int64_t(1) << 48; // sums of such do not wrap
  int64_t least = INT64_MIN, most = INT64_MAX;
  bool isNear() const { return least >= -kFar && most <= kFar; }
};

Range rangeOf(Value value, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 8;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return {*known, *known};
  Operation *by = value.getDefiningOp();
  if (!by || depth == kMostDepth)
    return {};
  auto operand = [&](unsigned number) { return rangeOf(by->getOperand(number), depth + 1); };
  if (isa<arith::MaxSIOp>(by)) {
    const Range a = operand(0), b = operand(1);
    return {std::max(a.least, b.least), std::max(a.most, b.most)};
  }
  if (isa<arith::MinSIOp>(by)) {
    const Range a = operand(0), b = operand(1);
    return {std::min(a.least, b.least), std::min(a.most, b.most)};
  }
  if (isa<arith::AddIOp>(by)) {
    const Range a = operand(0), b = operand(1);
    return a.isNear() && b.isNear() && value.getType().isIndex() ? Range{a.least + b.least, a.most + b.most} : Range();
  }
  // Of a narrow number in a wide one: an index has 64 bits.
  if (auto cast = dyn_cast<arith::IndexCastOp>(by); cast && value.getType().isIndex())
    return operand(0);
  return {};
}

Range rangeOf(OpFoldResult value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return {*known, *known};
  return rangeOf(cast<Value>(value));
}

/// The assertions of one operation.
class PlaceChecks {
public:
  explicit PlaceChecks(Operation *op) : b_(op), loc_(op->getLoc()), name_(op->getName().getStringRef()) {}

  void check(tensor::ConcatOp op) {
    const SmallVector<OpFoldResult> first = sizesOf(op.getInputs().front());
    for (auto [number, part] : llvm::enumerate(op.getInputs().drop_front()))
      for (auto [dimension, sizes] : llvm::enumerate(llvm::zip_equal(sizesOf(part), first)))
        if (dimension != op.getDim())
          requireEqual(std::get<0>(sizes), std::get<1>(sizes),
                       "dimension " + Twine(dimension) + " of part " + Twine(number + 1) + " of " + name_ +
                           " is not that of part 0");
  }

  /// Slices of the source at the places that the indices name, one behind the other in the output.
  void check(linalg_ext::GatherOp op) {
    Value source = op.getInputs()[0], indices = op.getInputs()[1], output = op.getOutputs()[0];
    auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
    const int64_t depth = int64_t(op.getDimensionMap().size());
    const int64_t batch =
        linalg_ext::batchRankOf(typeOf(indices), typeOf(output), typeOf(source), depth, /*mayOverlap=*/false);
    SmallVector<OpFoldResult> wanted = llvm::to_vector(llvm::ArrayRef(sizesOf(indices)).take_front(batch));
    for (auto [dimension, size] : llvm::enumerate(sizesOf(source)))
      if (!llvm::is_contained(op.getDimensionMap(), int64_t(dimension)))
        wanted.push_back(size);
    for (auto [dimension, sizes] : llvm::enumerate(llvm::zip_equal(sizesOf(output), wanted)))
      requireEqual(std::get<0>(sizes), std::get<1>(sizes),
                   "dimension " + Twine(dimension) + " of the output of " + name_ +
                       (int64_t(dimension) < batch ? " is not that of the indices" : " is not that of the slices"));
    checkMask(op);
  }

  void check(linalg_ext::ScatterOp op) { checkMask(op); }

  /// Groups of 2^stage elements, for half of each of which there are factors.
  void check(linalg_ext::FftOp op) {
    requireSame(op.getOutputs()[1], op.getOutputs()[0], std::nullopt);
    Value one = valueOf(b_.getIndexAttr(1));
    Value group = b_.createOrFold<arith::ShLIOp>(loc_, one, op.getInputs()[0]);
    Value rest = b_.createOrFold<arith::RemUIOp>(loc_, valueOf(sizesOf(op.getOutputs()[0]).back()), group);
    requireEqual(getAsOpFoldResult(rest), b_.getIndexAttr(0),
                 "the last dimension of " + name_ + " is no multiple of two to the number of the stage");
    for (Value factors : op.getInputs().drop_front()) {
      Value twice =
          b_.createOrFold<arith::MulIOp>(loc_, valueOf(sizesOf(factors).front()), valueOf(b_.getIndexAttr(2)));
      requireBelow(difference(group, b_.getIndexAttr(1)), getAsOpFoldResult(twice),
                   name_ + " has fewer factors than its stage takes");
    }
  }

  template <typename Topk> void checkBest(Topk op) {
    for (Value input : op.getInputs().drop_front())
      requireSame(input, op.getInputs()[0], std::nullopt);
    requireSame(op.getOutputs()[0], op.getInputs()[0], op.getDimension());
    for (Value output : op.getOutputs().drop_front())
      requireSame(output, op.getOutputs()[0], std::nullopt);
  }
  void check(linalg_ext::TopkOp op) { checkBest(op); }
  void check(linalg_ext::TopkV2Op op) { checkBest(op); }

  void check(linalg::PackOp op) {
    checkTiles(op, op.getSource(), op.getDest(), /*mayBePartial=*/!!op.getPaddingValue());
  }
  void check(linalg::UnPackOp op) { checkTiles(op, op.getDest(), op.getSource(), /*mayBePartial=*/true); }

  void check(tensor::ExtractSliceOp op) {
    checkSlice(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides(), op.getSource());
  }

  void check(tensor::InsertSliceOp op) {
    for (auto [dimension, stride] : llvm::enumerate(op.getMixedStrides()))
      if (!getConstantIntValue(stride))
        requireBelow(b_.getIndexAttr(0), stride,
                     "stride of dimension " + Twine(dimension) + " of " + name_ + " is not positive");
    checkSlice(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides(), op.getDest());
    const SmallVector<OpFoldResult> given = sizesOf(op.getSource());
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    unsigned next = 0;
    for (auto [dimension, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped.test(dimension)) {
        requireEqual(given[next], size,
                     "dimension " + Twine(next) + " of the source of " + name_ + " is not as long as its slice");
        ++next;
      }
  }

  void check(tensor::InsertOp op) {
    for (auto [dimension, parts] : llvm::enumerate(llvm::zip_equal(op.getIndices(), sizesOf(op.getDest())))) {
      const OpFoldResult place = getAsOpFoldResult(std::get<0>(parts));
      requireNotNegative(place, "index " + Twine(dimension) + " of " + name_ + " is negative");
      requireBelow(place, std::get<1>(parts),
                   "index " + Twine(dimension) + " of " + name_ + " is not below the size of the dimension");
    }
  }

private:
  void requireSame(Value tensor, Value other, std::optional<int64_t> butFor) {
    for (auto [dimension, sizes] : llvm::enumerate(llvm::zip_equal(sizesOf(tensor), sizesOf(other))))
      if (int64_t(dimension) != butFor)
        requireEqual(std::get<0>(sizes), std::get<1>(sizes),
                     "dimension " + Twine(dimension) + " of an operand of " + name_ + " is not that of another");
  }

  /// Of tensors as they are and in tiles: which tiles there are, and how large. They hold all elements, and where
  /// nothing else may stand in the last of them, no more.
  template <typename Op> void checkTiles(Op op, Value plain, Value tiled, bool mayBePartial) {
    const SmallVector<OpFoldResult> sizes = sizesOf(plain), tiles = sizesOf(tiled), inner = op.getMixedTiles();
    for (auto [dimension, size] : llvm::enumerate(sizes)) {
      ArrayRef<int64_t> order = op.getOuterDimsPerm(), tiledDimensions = op.getInnerDimsPos();
      const auto outer = order.empty() ? dimension : size_t(llvm::find(order, int64_t(dimension)) - order.begin());
      const auto *number = llvm::find(tiledDimensions, int64_t(dimension));
      if (number == tiledDimensions.end()) {
        requireEqual(tiles[outer], size,
                     "dimension " + Twine(outer) + " of the tiles of " + name_ +
                         " is not as long as the dimension it holds");
        continue;
      }
      const OpFoldResult tile = inner[number - tiledDimensions.begin()];
      const size_t within = sizes.size() + (number - tiledDimensions.begin());
      requireEqual(tiles[within], tile,
                   "dimension " + Twine(within) + " of the tiles of " + name_ + " is not the size of a tile");
      const OpFoldResult held = product(tiles[outer], tile);
      if (mayBePartial)
        requireBelow(difference(size, b_.getIndexAttr(1)), held,
                     "the tiles of " + name_ + " hold less than dimension " + Twine(dimension));
      else
        requireEqual(size, held,
                     "dimension " + Twine(dimension) + " does not fill the tiles of " + name_ +
                         ", which has no padding_value");
    }
  }

  SmallVector<OpFoldResult> sizesOf(Value tensor) {
    SmallVector<OpFoldResult> sizes;
    auto type = cast<RankedTensorType>(tensor.getType());
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      sizes.push_back(type.isDynamicDim(dimension)
                          ? getAsOpFoldResult(b_.createOrFold<tensor::DimOp>(loc_, tensor, dimension))
                          : OpFoldResult(b_.getIndexAttr(type.getDimSize(dimension))));
    return sizes;
  }

  /// First and last element of each dimension. A slice of no elements may stand right behind the tensor.
  void checkSlice(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides,
                  Value tensor) {
    for (auto [dimension, whole] : llvm::enumerate(sizesOf(tensor))) {
      const OpFoldResult offset = offsets[dimension], size = sizes[dimension], stride = strides[dimension];
      requireNotNegative(offset, "offset of dimension " + Twine(dimension) + " of " + name_ + " is negative");
      if (isZeroInteger(offset) && isOneInteger(stride) && isEqual(size, whole))
        continue;
      const OpFoldResult last = sum(offset, product(difference(size, b_.getIndexAttr(1)), stride));
      requireBelow(last, whole, name_ + " ends behind the end of dimension " + Twine(dimension));
      if (getConstantIntValue(stride))
        continue;
      requireBelow(offset, whole,
                   "offset of dimension " + Twine(dimension) + " of " + name_ + " is not below its size");
      requireNotNegative(last, name_ + " ends before the begin of dimension " + Twine(dimension));
    }
  }

  Value valueOf(OpFoldResult index) { return getValueOrCreateConstantIndexOp(b_, loc_, index); }

  OpFoldResult sum(OpFoldResult a, OpFoldResult b) { return combined<arith::AddIOp>(a, b); }
  OpFoldResult difference(OpFoldResult a, OpFoldResult b) { return combined<arith::SubIOp>(a, b); }
  OpFoldResult product(OpFoldResult a, OpFoldResult b) { return combined<arith::MulIOp>(a, b); }

  template <typename Operation> OpFoldResult combined(OpFoldResult a, OpFoldResult b) {
    return getAsOpFoldResult(b_.createOrFold<Operation>(loc_, valueOf(a), valueOf(b)));
  }

  void requireNotNegative(OpFoldResult value, const Twine &message) {
    if (rangeOf(value).least < 0)
      require(arith::CmpIPredicate::slt, b_.getIndexAttr(-1), value, message);
  }

  void requireBelow(OpFoldResult value, OpFoldResult end, const Twine &message) {
    if (rangeOf(value).most >= rangeOf(end).least)
      require(arith::CmpIPredicate::slt, value, end, message);
  }

  void requireEqual(OpFoldResult a, OpFoldResult b, const Twine &message) {
    if (!isEqual(a, b))
      require(arith::CmpIPredicate::eq, a, b, message);
  }

  /// A mask, where there is one, is the third input: an i1 for each slice.
  template <typename Op> void checkMask(Op op) {
    if (op.getInputs().size() != 3)
      return;
    for (auto [dimension, sizes] : llvm::enumerate(llvm::zip(sizesOf(op.getInputs()[2]), sizesOf(op.getInputs()[1]))))
      requireEqual(std::get<0>(sizes), std::get<1>(sizes),
                   "dimension " + Twine(dimension) + " of the mask of " + name_ + " is not that of the indices");
  }

  void require(arith::CmpIPredicate predicate, OpFoldResult a, OpFoldResult b, const Twine &message) {
    Value holds = arith::CmpIOp::create(b_, loc_, predicate, valueOf(a), valueOf(b));
    cf::AssertOp::create(b_, loc_, holds, message.str());
  }

  OpBuilder b_;
  const Location loc_;
  const StringRef name_;
};

} // namespace

void checkPlaces(func::FuncOp function) {
  function.walk([](Operation *op) {
    // A kernel cannot fail.
    if (isInsideOfBody(op) || isa<tensor::GenerateOp>(op->getParentOp()))
      return;
    llvm::TypeSwitch<Operation *>(op)
        .Case<linalg::PackOp, linalg::UnPackOp, linalg_ext::FftOp, linalg_ext::GatherOp, linalg_ext::ScatterOp,
              linalg_ext::TopkOp, linalg_ext::TopkV2Op, tensor::ConcatOp, tensor::ExtractSliceOp, tensor::InsertOp,
              tensor::InsertSliceOp>([](auto found) { PlaceChecks(found).check(found); });
  });
}

} // namespace tenon::compiler::input
