// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of the operations: what their operands measure, what their regions take and give.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/linalg_ext/verify.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::linalg_ext {

LogicalResult verifyCounts(Operation *op, OperandRange inputs, size_t fewest, size_t most, OperandRange outputs,
                           size_t fewestOut, size_t mostOut) {
  auto range = [](size_t from, size_t to) {
    return from == to       ? std::to_string(from)
           : to == SIZE_MAX ? std::to_string(from) + " or more"
                            : std::to_string(from) + " to " + std::to_string(to);
  };
  if (inputs.size() < fewest || inputs.size() > most)
    return op->emitOpError() << "found " << inputs.size() << " ins, " << range(fewest, most) << " are wanted";
  if (outputs.size() < fewestOut || outputs.size() > mostOut)
    return op->emitOpError() << "found " << outputs.size() << " outs, " << range(fewestOut, mostOut) << " are wanted";
  if (op->getNumResults() != outputs.size())
    return op->emitOpError() << "found " << op->getNumResults() << " results, one for each of " << outputs.size()
                             << " outs is wanted: it takes tensors and returns new ones, no memrefs";
  for (auto [result, output] : llvm::zip_equal(op->getResults(), outputs))
    if (result.getType() != output.getType())
      return op->emitOpError() << "found a result of type " << result.getType() << ", that of its out, "
                               << output.getType() << ", is wanted";
  return success();
}

LogicalResult verifyDimension(Operation *op, int64_t dimension, int64_t rank) {
  if (dimension < 0 || dimension >= rank)
    return op->emitOpError() << "found dimension " << dimension << ", 0 to " << rank - 1 << " is wanted: the rank is "
                             << rank;
  return success();
}

namespace {

Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// The same sizes, where both are known, but along `except`.
LogicalResult verifySizes(Operation *op, StringRef what, RankedTensorType found, ArrayRef<int64_t> wanted,
                          int64_t except = -1) {
  bool same = found.getRank() == int64_t(wanted.size());
  for (int64_t dimension = 0; same && dimension < found.getRank(); ++dimension)
    same = dimension == except || ShapedType::isDynamic(wanted[dimension]) || found.isDynamicDim(dimension) ||
           wanted[dimension] == found.getDimSize(dimension);
  if (same)
    return success();
  auto error = op->emitOpError() << "found " << found << " as " << what << ", sizes ";
  llvm::interleave(
      wanted, error, [&](int64_t size) { ShapedType::isDynamic(size) ? error << "?" : error << size; }, "x");
  error << " are wanted";
  if (except >= 0)
    error << " but for dimension " << except;
  return error;
}

LogicalResult verifyRegion(Operation *op, ArrayRef<Type> arguments, ArrayRef<Type> yielded) {
  Block &body = op->getRegion(0).front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments)) {
    auto error = op->emitOpError() << "found a region that takes (" << body.getArgumentTypes() << "), (";
    llvm::interleaveComma(arguments, error);
    return error << ") is wanted";
  }
  auto yield = dyn_cast_or_null<YieldOp>(body.empty() ? nullptr : &body.back());
  if (!yield)
    return op->emitOpError() << "found a region without 'iree_linalg_ext.yield' at its end";
  if (TypeRange(yield.getOperandTypes()) != TypeRange(yielded)) {
    auto error = op->emitOpError() << "found a region that yields (" << yield.getOperandTypes() << "), (";
    llvm::interleaveComma(yielded, error);
    return error << ") is wanted";
  }
  return success();
}

Type truth(Operation *op) {
  return IntegerType::get(op->getContext(), 1);
}

template <typename Op> LogicalResult verifyTopk(Op op, size_t fewestOut) {
  if (failed(verifyCounts(op, op.getInputs(), 1, 2, op.getOutputs(), fewestOut, 2)))
    return failure();
  RankedTensorType values = tensorType(op.getInputs()[0]);
  if (failed(verifyDimension(op, op.getDimension(), values.getRank())))
    return failure();
  if (op.getInputs().size() == 2 &&
      failed(verifySizes(op, "indices", tensorType(op.getInputs()[1]), values.getShape())))
    return failure();
  for (Value output : op.getOutputs())
    if (failed(verifySizes(op, "an out", tensorType(output), values.getShape(), op.getDimension())))
      return failure();
  if (elementOf(op.getOutputs()[0]) != values.getElementType())
    return op.emitOpError() << "found values of " << elementOf(op.getOutputs()[0]) << " as a result of values of "
                            << values.getElementType() << ", the same type is wanted";
  if (op.getOutputs().size() == 2) {
    Type index = elementOf(op.getOutputs()[1]);
    if (!index.isIntOrIndex() || (op.getInputs().size() == 2 && elementOf(op.getInputs()[1]) != index))
      return op.emitOpError() << "found indices of " << index << ", "
                              << "integers of the type of the indices that it takes are wanted";
    if (failed(verifySizes(op, "the second out", tensorType(op.getOutputs()[1]),
                           tensorType(op.getOutputs()[0]).getShape())))
      return failure();
  }
  Type value = values.getElementType();
  return verifyRegion(op, {value, value}, {truth(op)});
}

/// Slices that `indices` name: [batch..., depth], or [batch...] where one coordinate is named.
LogicalResult verifyPlaces(Operation *op, RankedTensorType indices, RankedTensorType slices, RankedTensorType whole,
                           ArrayRef<int64_t> map, bool smallerSlices) {
  const int64_t depth = int64_t(map.size());
  if (!indices.getElementType().isIntOrIndex())
    return op->emitOpError() << "found indices of " << indices.getElementType() << ", integers are wanted";
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dimension : map)
    if (dimension < 0 || dimension >= whole.getRank() || !seen.insert(dimension).second)
      return op->emitOpError() << "found " << dimension << " in dimension_map, a dimension of " << whole
                               << " that it names once is wanted";
  const int64_t batch = batchRankOf(indices, slices, whole, depth, smallerSlices);
  if (batch == indices.getRank() && depth != 1)
    return op->emitOpError() << "found " << indices << " as indices, " << depth
                             << " in the last dimension is wanted: dimension_map has so many entries";
  const int64_t sliceRank = slices.getRank() - batch;
  const bool fits = smallerSlices
                        ? sliceRank >= 0 && sliceRank <= whole.getRank() && sliceRank + depth >= whole.getRank()
                        : sliceRank == whole.getRank() - depth;
  if (!fits)
    return op->emitOpError() << "found " << slices << " for " << batch << " dimensions of indices into " << whole
                             << ", slices of rank " << whole.getRank() - depth << (smallerSlices ? " or more" : "")
                             << " behind them are wanted";
  for (int64_t dimension = 0; dimension < batch; ++dimension)
    if (!indices.isDynamicDim(dimension) && !slices.isDynamicDim(dimension) &&
        indices.getDimSize(dimension) != slices.getDimSize(dimension))
      return op->emitOpError() << "found " << slices << " for indices " << indices << ", the same sizes are wanted in "
                               << "the first " << batch << " dimensions";
  return success();
}

/// Which slices there are: an i1 for each, where there are three ins.
template <typename Op>
LogicalResult verifyMask(Op op, RankedTensorType slices, RankedTensorType whole, bool mayOverlap) {
  if (op.getInputs().size() != 3)
    return success();
  const RankedTensorType indices = tensorType(op.getInputs()[1]), mask = tensorType(op.getInputs()[2]);
  const int64_t depth = int64_t(op.getDimensionMap().size());
  int64_t batch = batchRankOf(indices, slices, whole, depth, mayOverlap);
  // A last dimension of 1 may be one more of the batch, or the only coordinate: of scatters it is the same.
  if (mayOverlap && depth == 1 && mask.getRank() == indices.getRank())
    batch = indices.getRank();
  if (!mask.getElementType().isInteger(1))
    return op.emitOpError() << "found a mask of " << mask.getElementType() << ", i1 is wanted";
  return verifySizes(op, "a mask", mask, indices.getShape().take_front(batch));
}

} // namespace

LogicalResult ScanOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 1, 1, getOutputs(), 2, 2)))
    return failure();
  RankedTensorType input = tensorType(getInputs()[0]);
  if (failed(verifyDimension(*this, getDimension(), input.getRank())) ||
      failed(verifySizes(*this, "the first out", tensorType(getOutputs()[0]), input.getShape())))
    return failure();
  SmallVector<int64_t> rows(input.getShape());
  rows.erase(rows.begin() + getDimension());
  if (failed(verifySizes(*this, "the accumulator", tensorType(getOutputs()[1]), rows)))
    return failure();
  Type element = input.getElementType();
  for (Value output : getOutputs())
    if (elementOf(output) != element)
      return emitOpError() << "found an out of " << elementOf(output) << ", " << element
                           << " is wanted, the type of the input";
  return verifyRegion(*this, {element, element}, {element});
}

LogicalResult RouteOp::verify() {
  RankedTensorType table = tensorType(getOutput());
  Type named = elementOf(getNamed());
  if (!named.isInteger(32) && !named.isInteger(64))
    return emitOpError() << "found experts of type " << named << ", i32 or i64 is wanted";
  if (!table.getElementType().isInteger(32) || getResult().getType() != table)
    return emitOpError() << "found a table of type " << table << " and a result of type " << getResult().getType()
                         << ", i32 is wanted, and the same type";
  if (table.getRank() != 2 || table.getDimSize(1) != 4)
    return emitOpError() << "found a table of type " << table << ", rows of 4 are wanted";
  if (getExperts() < 1 || getExperts() > uint64_t(kMostExperts))
    return emitOpError() << "found " << int64_t(getExperts()) << " experts, 1 to " << kMostExperts << " are wanted";
  return success();
}

/// Tiles and channels as planes have them, for each place of a tile, or for each of its parts.
static LogicalResult verifyPlanes(TileTransformOp op, RankedTensorType image, RankedTensorType planes, int64_t side) {
  const ArrayRef<int64_t> order = op.getOrder(), tiles = op.getTiles();
  const int64_t count = image.getDimSize(order[0]) * tiles[0] * tiles[1], channels = image.getDimSize(order[3]);
  const int64_t parts = op.makesPlanes() ? 1 : std::max<int64_t>(planes.getDimSize(0) / (side * side), 1);
  const int64_t wanted[] = {parts * side * side, op.getTurned() ? channels : count, op.getTurned() ? count : channels};
  return verifySizes(op, "planes", planes, wanted);
}

/// Whether it finds an element of the input from each place of the image: by dimensions that are as large, or at 0.
static bool findsElements(AffineMap map, RankedTensorType image, RankedTensorType input) {
  if (map.getNumDims() != 4 || map.getNumSymbols() != 0 || int64_t(map.getNumResults()) != input.getRank())
    return false;
  return llvm::all_of(llvm::zip_equal(map.getResults(), input.getShape()), [&](auto each) {
    const auto &[expr, size] = each;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return image.getDimSize(dim.getPosition()) == size;
    auto number = dyn_cast<AffineConstantExpr>(expr);
    return number && number.getValue() == 0 && size > 0;
  });
}

LogicalResult TileTransformOp::verify() {
  if (getInputs().empty() || getResult().getType() != getOutput().getType())
    return emitOpError() << "found " << getInputs().size() << " inputs and a result of type " << getResult().getType()
                         << ", an input at least and a result like the out are wanted";
  RankedTensorType from = tensorType(getInputs()[0]), to = tensorType(getOutput());
  for (Value operand : getOperands())
    if (!tensorType(operand).hasStaticShape() || !elementOf(operand).isF32())
      return emitOpError() << "found a tensor of type " << operand.getType() << ", f32 of known sizes are wanted";
  if (from.getRank() + to.getRank() != 7 || (from.getRank() != 4 && to.getRank() != 4))
    return emitOpError() << "found tensors of types " << from << " and " << to << ", an image and planes are wanted";
  SmallVector<int64_t> places(getOrder());
  llvm::sort(places);
  if (!llvm::equal(places, llvm::seq<int64_t>(0, 4)) || getTiles().size() != 2 || getLow().size() != 2 ||
      getMatrix().empty() || int64_t(getRows()) < 1 || getMatrix().size() % getRows() != 0 || int64_t(getStep()) < 1 ||
      llvm::any_of(getTiles(), [](int64_t count) { return count < 0; }))
    return emitOpError() << "found no order of four dimensions, no tiles in two, no matrix or no step";
  if (makesPlanes()) {
    if (getInputs().size() != 1 || !getRegion().empty() || !getMaps().empty())
      return emitOpError() << "found a region, or inputs for one, where planes are made: none are wanted";
    return verifyPlanes(*this, from, to, int64_t(getRows()));
  }
  if (llvm::any_of(getLow(), [](int64_t low) { return low != 0; }) || getStep() != getRows())
    return emitOpError() << "found tiles that overlap, or begin outside: an image of tiles side by side is wanted";
  if (failed(verifyPlanes(*this, to, from, columns())))
    return failure();
  if (getMaps().size() + 1 != getInputs().size() || (getRegion().empty() && getInputs().size() > 1))
    return emitOpError() << "found " << getMaps().size() << " maps and " << getInputs().size()
                         << " inputs: a map for each but the first is wanted, and a region that takes them";
  for (auto [map, input] : llvm::zip_equal(getMaps().getAsValueRange<AffineMapAttr>(), getInputs().drop_front()))
    if (!findsElements(map, to, tensorType(input)))
      return emitOpError() << "found " << AffineMapAttr::get(map) << ", a map from an image of type " << to << " to "
                           << input.getType() << " is wanted, by dimensions that are as large, or 0";
  if (getRegion().empty())
    return success();
  Type element = to.getElementType();
  return verifyRegion(*this, SmallVector<Type>(getInputs().size(), element), {element});
}

LogicalResult SortOp::verify() {
  if (!getInputs().empty() && getInputs().getTypes() != getOutputs().getTypes())
    return emitOpError() << "found ins of types " << getInputs().getTypes() << ", those of the outs, "
                         << getOutputs().getTypes() << ", are wanted";
  if (failed(verifyCounts(*this, getInputs(), 0, SIZE_MAX, getOutputs(), 1, SIZE_MAX)))
    return failure();
  RankedTensorType first = tensorType(getOutputs()[0]);
  SmallVector<Type> arguments;
  for (Value output : getOutputs()) {
    if (failed(verifySizes(*this, "an out", tensorType(output), first.getShape())))
      return failure();
    arguments.append(2, elementOf(output));
  }
  if (failed(verifyDimension(*this, getDimension(), first.getRank())))
    return failure();
  return verifyRegion(*this, arguments, {truth(*this)});
}

LogicalResult TopkOp::verify() {
  return verifyTopk(*this, 1);
}
LogicalResult TopkV2Op::verify() {
  return verifyTopk(*this, 1);
}

LogicalResult ScatterOp::verify() {
  // Two more are keys and numbers of its updates (dispatch/sorted_scatters.h).
  const bool isSorted = (*this)->hasAttr(kSortedAttr);
  if (failed(verifyCounts(*this, getInputs(), isSorted ? 4 : 2, isSorted ? 4 : 3, getOutputs(), 1, 1)))
    return failure();
  RankedTensorType original = tensorType(getOutputs()[0]);
  if (failed(verifyPlaces(*this, tensorType(getInputs()[1]), tensorType(getInputs()[0]), original, getDimensionMap(),
                          /*smallerSlices=*/true)) ||
      failed(verifyMask(*this, tensorType(getInputs()[0]), original, /*mayOverlap=*/true)))
    return failure();
  Type update = elementOf(getInputs()[0]);
  return verifyRegion(*this, {update, original.getElementType()}, {original.getElementType()});
}

LogicalResult GatherOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 2, 3, getOutputs(), 1, 1)))
    return failure();
  RankedTensorType result = tensorType(getOutputs()[0]);
  if (failed(verifyPlaces(*this, tensorType(getInputs()[1]), result, tensorType(getInputs()[0]), getDimensionMap(),
                          /*smallerSlices=*/false)) ||
      failed(verifyMask(*this, result, tensorType(getInputs()[0]), /*mayOverlap=*/false)))
    return failure();
  Type element = elementOf(getInputs()[0]);
  if (!getRegion().empty())
    return verifyRegion(*this, {element, result.getElementType()}, {result.getElementType()});
  if (element != result.getElementType())
    return emitOpError() << "found a result of " << result.getElementType() << ", " << element
                         << " is wanted, the type of the source";
  return success();
}

LogicalResult ArgCompareOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 1, 2, getOutputs(), 2, 2)))
    return failure();
  RankedTensorType values = tensorType(getInputs()[0]);
  if (failed(verifyDimension(*this, getDimension(), values.getRank())))
    return failure();
  SmallVector<int64_t> rows(values.getShape());
  rows.erase(rows.begin() + getDimension());
  for (Value output : getOutputs())
    if (failed(verifySizes(*this, "an out", tensorType(output), rows)))
      return failure();
  if (getInputs().size() == 2 && failed(verifySizes(*this, "indices", tensorType(getInputs()[1]), values.getShape())))
    return failure();
  if (getInputs().size() == 2 && getIndexBase())
    return emitOpError() << "found index_base beside indices, one of the two is wanted";
  Type value = values.getElementType(), index = elementOf(getOutputs()[1]);
  if (elementOf(getOutputs()[0]) != value)
    return emitOpError() << "found values of " << elementOf(getOutputs()[0]) << " as a result of values of " << value
                         << ", the same type is wanted";
  if (!index.isIntOrIndex() || (getInputs().size() == 2 && elementOf(getInputs()[1]) != index))
    return emitOpError() << "found indices of " << index
                         << ", integers of the type of the indices that it takes are wanted";
  return verifyRegion(*this, {value, value}, {truth(*this)});
}

static LogicalResult verifyMap(Operation *op, ArrayRef<Type> behind, bool fromInput) {
  RankedTensorType input = tensorType(op->getOperand(0)), output = tensorType(op->getOperand(1));
  if (op->getResult(0).getType() != output)
    return op->emitOpError() << "found a result of type " << op->getResult(0).getType() << ", " << output
                             << " is wanted";
  if (input.getElementType() != output.getElementType())
    return op->emitOpError() << "found elements of " << output.getElementType() << ", " << input.getElementType()
                             << " is wanted";
  Type index = IndexType::get(op->getContext());
  SmallVector<Type> arguments((fromInput ? input : output).getRank(), index);
  SmallVector<Type> yielded((fromInput ? output : input).getRank(), index);
  llvm::append_range(yielded, behind);
  return verifyRegion(op, arguments, yielded);
}

LogicalResult MapStoreOp::verify() {
  return verifyMap(*this, {truth(*this)}, /*fromInput=*/true);
}
LogicalResult MapScatterOp::verify() {
  return verifyMap(*this, {truth(*this)}, /*fromInput=*/true);
}
LogicalResult MapLoadOp::verify() {
  return verifyMap(*this, {elementOf(getInput())}, /*fromInput=*/false);
}
LogicalResult MapGatherOp::verify() {
  return verifyMap(*this, {elementOf(getInput())}, /*fromInput=*/false);
}

LogicalResult FftOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 1, 3, getOutputs(), 2, 2)))
    return failure();
  if (getInputs().size() == 2 || !getInputs()[0].getType().isIndex())
    return emitOpError() << "found ins of types " << getInputs().getTypes()
                         << ", an index, or an index and two tensors of coefficients, is wanted";
  RankedTensorType real = tensorType(getOutputs()[0]);
  if (real.getRank() == 0 || !isa<FloatType>(real.getElementType()) || getOutputs()[1].getType() != real)
    return emitOpError() << "found outs of types " << getOutputs().getTypes()
                         << ", two tensors of one float type are wanted";
  for (Value coefficient : getInputs().drop_front()) {
    auto type = dyn_cast<RankedTensorType>(coefficient.getType());
    if (!type || type.getRank() != 1 || type.getElementType() != real.getElementType())
      return emitOpError() << "found coefficients of type " << coefficient.getType() << ", a tensor of rank 1 of "
                           << real.getElementType() << " is wanted";
  }
  return success();
}

} // namespace tenon::compiler::linalg_ext
