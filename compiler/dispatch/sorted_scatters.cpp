// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/sorted_scatters.h"

#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/prepare/narrow_indices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Fewer updates take less time in order than a sort does (50 us on an H200).
constexpr int64_t kManyUpdates = 8192;

class ScatterSorter {
public:
  explicit ScatterSorter(linalg_ext::ScatterOp op)
      : op_(op), b_(op), loc_(op.getLoc()), indices_(cast<RankedTensorType>(op.getInputs()[1].getType())),
        whole_(cast<RankedTensorType>(op.getOutputs()[0].getType())),
        batchRank_(linalg_ext::batchRankOf(indices_, cast<RankedTensorType>(op.getInputs()[0].getType()), whole_,
                                           int64_t(op.getDimensionMap().size()), /*mayOverlap=*/true)) {}

  bool takes();
  void sort();

private:
  /// How many there are; nothing where that is unknown.
  std::optional<int64_t> updates() { return product(indices_.getShape().take_front(batchRank_)); }
  static std::optional<int64_t> product(ArrayRef<int64_t> sizes) {
    if (llvm::any_of(sizes, ShapedType::isDynamic))
      return std::nullopt;
    return llvm::product_of(sizes);
  }
  SmallVector<int64_t> namedDimensions() {
    SmallVector<int64_t> named(op_.getDimensionMap());
    llvm::sort(named);
    return named;
  }
  IntegerType keyType();
  IntegerType numberType();
  Value keys();
  Value flattened(Value tensor);
  Value numbers(Value like);

  linalg_ext::ScatterOp op_;
  OpBuilder b_;
  Location loc_;
  RankedTensorType indices_, whole_;
  int64_t batchRank_;
};

bool ScatterSorter::takes() {
  if (op_.getUniqueIndices() || op_.getInputs().size() != 2 || batchRank_ == 0 || combinesAtomically(op_) ||
      linalg_ext::slicesMayOverlap(op_))
    return false;
  // What combines updates with each other first has to be associative.
  if (!keepsTheLast(op_) && !combinerOf(op_.getRegion().front()))
    return false;
  return updates().value_or(kManyUpdates) >= kManyUpdates;
}

/// Unsigned, with place for one more than there are slices. Fewer bytes are fewer digits to sort by.
IntegerType ScatterSorter::keyType() {
  SmallVector<int64_t> sizes;
  for (int64_t dimension : op_.getDimensionMap())
    sizes.push_back(whole_.getDimSize(dimension));
  const int64_t slices = product(sizes).value_or(std::numeric_limits<int64_t>::max());
  const unsigned bits = slices < (int64_t(1) << 16) ? 16 : slices < (int64_t(1) << 32) ? 32 : 64;
  return b_.getIntegerType(bits);
}

IntegerType ScatterSorter::numberType() {
  const unsigned bits = updates().value_or(std::numeric_limits<int64_t>::max()) < (int64_t(1) << 31) ? 32 : 64;
  return b_.getIntegerType(bits);
}

Value ScatterSorter::keys() {
  const ArrayRef<int64_t> map = op_.getDimensionMap();
  SmallVector<std::pair<int64_t, Value>> named; // which of an update's indices it is, and the size of its dimension
  for (int64_t dimension : namedDimensions()) {
    Value size =
        getValueOrCreateConstantIndexOp(b_, loc_, tensor::getMixedSize(b_, loc_, op_.getOutputs()[0], dimension));
    named.push_back(
        {llvm::find(map, dimension) - map.begin(), arith::IndexCastOp::create(b_, loc_, b_.getI64Type(), size)});
  }
  Value indices = op_.getInputs()[1];
  SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b_, loc_, indices);
  shape.resize(size_t(batchRank_));
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, keyType());
  const bool isUnsigned = op_->hasAttr(kUnsignedAttr), hasDepth = indices_.getRank() > batchRank_;
  auto generic = linalg::GenericOp::create(
      b_, loc_, empty.getType(), ValueRange(), empty, b_.getMultiDimIdentityMap(unsigned(batchRank_)),
      SmallVector<utils::IteratorType>(size_t(batchRank_), utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        Type i64 = b.getI64Type();
        SmallVector<Value> place;
        for (int64_t dimension = 0; dimension < batchRank_; ++dimension)
          place.push_back(linalg::IndexOp::create(b, loc, dimension));
        if (hasDepth)
          place.push_back(nullptr);
        Value key, slices, isInside;
        for (auto [number, size] : named) {
          if (hasDepth)
            place.back() = arith::ConstantIndexOp::create(b, loc, number);
          Value index = tensor::ExtractOp::create(b, loc, indices, place);
          Value at = index.getType() == i64      ? index
                     : index.getType().isIndex() ? arith::IndexCastOp::create(b, loc, i64, index).getResult()
                     : isUnsigned                ? arith::ExtUIOp::create(b, loc, i64, index).getResult()
                                                 : arith::ExtSIOp::create(b, loc, i64, index).getResult();
          Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, size); // none below 0
          isInside = isInside ? arith::AndIOp::create(b, loc, isInside, fits).getResult() : fits;
          key = key ? arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, key, size), at).getResult() : at;
          slices = slices ? arith::MulIOp::create(b, loc, slices, size).getResult() : size;
        }
        key = arith::SelectOp::create(b, loc, isInside, key, slices);
        if (keyType() != i64)
          key = arith::TruncIOp::create(b, loc, keyType(), key);
        linalg::YieldOp::create(b, loc, key);
      });
  return flattened(generic.getResult(0));
}

Value ScatterSorter::flattened(Value tensor) {
  const int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank == 1)
    return tensor;
  ReassociationIndices all;
  llvm::append_range(all, llvm::seq<int64_t>(rank));
  return tensor::CollapseShapeOp::create(b_, loc_, tensor, SmallVector<ReassociationIndices>{all});
}

/// 0, 1, 2, ...
Value ScatterSorter::numbers(Value like) {
  Value empty = tensor::EmptyOp::create(b_, loc_, tensor::getMixedSizes(b_, loc_, like), numberType());
  return linalg::GenericOp::create(b_, loc_, empty.getType(), ValueRange(), empty, b_.getMultiDimIdentityMap(1),
                                   utils::IteratorType::parallel,
                                   [&](OpBuilder &b, Location loc, ValueRange) {
                                     Value number = arith::IndexCastOp::create(b, loc, numberType(),
                                                                               linalg::IndexOp::create(b, loc, 0));
                                     linalg::YieldOp::create(b, loc, number);
                                   })
      .getResult(0);
}

void ScatterSorter::sort() {
  Value keys = this->keys(), numbers = this->numbers(keys);
  auto sorted = linalg_ext::SortOp::create(b_, loc_, TypeRange{keys.getType(), numbers.getType()}, ValueRange(),
                                           ValueRange{keys, numbers}, /*dimension=*/0);
  Block *body = b_.createBlock(&sorted.getRegion(), {}, {keyType(), keyType(), numberType(), numberType()},
                               SmallVector<Location>(4, loc_));
  Value isFirst =
      arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, body->getArgument(0), body->getArgument(1));
  linalg_ext::YieldOp::create(b_, loc_, isFirst);
  op_->setAttr(linalg_ext::kSortedAttr, b_.getUnitAttr());
  op_.getInputsMutable().append(sorted->getResults());
}

} // namespace

bool combinesAtomically(linalg_ext::ScatterOp scatter) {
  Block &body = scatter.getRegion().front();
  Type type = body.getArgument(1).getType();
  const std::optional<Combiner> combiner = combinerOf(body);
  return (type.isInteger(32) || type.isInteger(64)) && combiner && *combiner != Combiner::MulI;
}

bool keepsTheLast(linalg_ext::ScatterOp scatter) {
  return scatter.getRegion().front().getArgument(1).use_empty();
}

void sortScatters(func::FuncOp function) {
  SmallVector<linalg_ext::ScatterOp> scatters;
  function.walk([&](linalg_ext::ScatterOp scatter) { scatters.push_back(scatter); });
  for (linalg_ext::ScatterOp scatter : scatters)
    if (ScatterSorter sorter(scatter); sorter.takes())
      sorter.sort();
}

} // namespace tenon::compiler::dispatch
