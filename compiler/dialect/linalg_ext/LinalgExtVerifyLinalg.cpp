// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of the operations that are several of linalg: attention, softmax, reversed elements, Winograd's transforms, and
// what a program puts together itself.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/linalg_ext/verify.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::linalg_ext {

/// What ends a body; null where something else does, or nothing.
static YieldOp yieldOf(Block &body) {
  return dyn_cast_or_null<YieldOp>(body.empty() ? nullptr : &body.back());
}

/// The loops that a map's results are, each alone and once; nothing elsewhere.
static std::optional<llvm::SmallBitVector> loopsOf(AffineMap map) {
  llvm::SmallBitVector loops(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || loops.test(dim.getPosition()))
      return std::nullopt;
    loops.set(dim.getPosition());
  }
  return loops;
}

std::optional<unsigned> scaleOfAttention(ValueRange inputs) {
  const bool isThere = inputs.size() > 3 && !isa<RankedTensorType>(inputs[3].getType());
  return isThere ? std::optional<unsigned>(3) : std::nullopt;
}

std::optional<unsigned> maskOfAttention(ValueRange inputs) {
  const unsigned number = scaleOfAttention(inputs) ? 4 : 3;
  return inputs.size() > number ? std::optional<unsigned>(number) : std::nullopt;
}

/// The region sees scores alone: its indices are those of their loops.
template <typename Op>
static LogicalResult verifyIndices(Op op, const llvm::SmallBitVector &queries, const llvm::SmallBitVector &keys,
                                   const llvm::SmallBitVector &values, const llvm::SmallBitVector &result) {
  for (Operation &inner : op.getRegion().front())
    if (auto index = dyn_cast<IndexOp>(inner)) {
      const uint64_t loop = index.getDim();
      if (loop >= queries.size() || (!queries.test(loop) && !keys.test(loop)) ||
          (!result.test(loop) && !values.test(loop)))
        return index.emitOpError() << "found loop d" << loop << ", one of the batch, the queries or the keys is wanted";
    }
  return success();
}

/// `rows`: how many results have a number for each query, behind the first.
template <typename Op> static LogicalResult verifyAttention(Op op, unsigned rows) {
  if (failed(verifyCounts(op, op.getInputs(), 3, 5, op.getOutputs(), 1 + rows, 1 + rows)))
    return failure();
  const size_t inputs = op.getInputs().size(), operands = inputs + 1 + rows;
  const std::optional<unsigned> scale = scaleOfAttention(op.getInputs()), mask = maskOfAttention(op.getInputs());
  if (!scale && inputs == 5)
    return op.emitOpError() << "found operand 3 of type " << op.getInputs()[3].getType()
                            << ", a float is wanted, the scale in front of the mask";
  if (!op.getIndexingMaps() || op.getIndexingMaps()->size() != operands)
    return op.emitOpError() << "found " << (op.getIndexingMaps() ? op.getIndexingMaps()->size() : 0)
                            << " indexing_maps, " << operands << " are wanted: of queries, keys, values"
                            << (scale ? ", scale" : "") << (mask ? ", mask" : "")
                            << (rows > 0 ? ", sums, largest scores and sums of weights" : " and result");
  SmallVector<llvm::SmallBitVector> loops;
  for (unsigned i = 0; i < operands; ++i) {
    Type type = i < inputs ? op.getInputs()[i].getType() : op.getOutputs()[i - inputs].getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    const auto each = loopsOf(op.mapOf(i));
    if (!each || op.mapOf(i).getNumDims() != op.mapOf(0).getNumDims() ||
        op.mapOf(i).getNumResults() != (tensor ? tensor.getRank() : 0))
      return op.emitOpError() << "found the map " << AffineMapAttr::get(op.mapOf(i)) << " for " << type
                              << ", a loop for each dimension is wanted, of the same loops for all operands";
    if (i == scale ? !isa<FloatType>(type) : !tensor)
      return op.emitOpError() << "found operand " << i << " of type " << type << ", a "
                              << (i == scale ? "float is wanted, the scale" : "tensor is wanted");
    Type element = getElementTypeOrSelf(type);
    if (!isa<FloatType>(element) && !(i == mask && element.isInteger(1)))
      return op.emitOpError() << "found operand " << i << " of " << element << ", floats are wanted"
                              << (i == mask ? ", or i1" : "");
    loops.push_back(*each);
  }
  const llvm::SmallBitVector &queries = loops[0], &keys = loops[1], &values = loops[2], &result = loops[inputs];
  for (unsigned loop = 0; loop < op.mapOf(0).getNumDims(); ++loop) {
    const bool q = queries.test(loop), k = keys.test(loop), v = values.test(loop), r = result.test(loop);
    const bool isDepth = q && k && !v && !r, isKeys = !q && k && v && !r, isResult = (q || k || v) && r;
    const bool isInMask = mask && loops[*mask].test(loop);
    if ((!isDepth && !isKeys && !isResult) || (isDepth && isInMask) || (isResult && isInMask && !q && !k))
      return op.emitOpError()
             << "found loop d" << loop << " in " << (q ? "queries " : "") << (k ? "keys " : "") << (v ? "values " : "")
             << (isInMask ? "mask " : "") << (r ? "result" : "")
             << ": a depth of queries and keys, a dimension of keys and values, or one of the result is wanted";
  }
  int keyLoops = 0;
  for (unsigned loop = 0; loop < op.mapOf(0).getNumDims(); ++loop)
    keyLoops += !queries.test(loop) && keys.test(loop) && values.test(loop) && !result.test(loop);
  if (keyLoops == 0)
    return op.emitOpError() << "found no dimension of keys, one of keys and values alone is wanted";
  llvm::SmallBitVector ofRows = queries;
  ofRows |= keys;
  ofRows &= result;
  for (unsigned row = inputs + 1; row < operands; ++row)
    if (loops[row] != ofRows)
      return op.emitOpError() << "found the map " << AffineMapAttr::get(op.mapOf(row)) << " for "
                              << op.getOutputs()[row - inputs].getType()
                              << ", the loops of the batch and the queries are wanted";
  Block *body = op.getRegion().empty() ? nullptr : &op.getRegion().front();
  YieldOp yield = body ? yieldOf(*body) : YieldOp();
  if (!yield || body->getNumArguments() != 1 || !isa<FloatType>(body->getArgument(0).getType()) ||
      yield.getOperandTypes() != body->getArgumentTypes())
    return op.emitOpError() << "needs a region that takes a score and yields one of its type";
  return verifyIndices(op, queries, keys, values, result);
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, 0);
}

LogicalResult OnlineAttentionOp::verify() {
  return verifyAttention(*this, 2);
}

LogicalResult SoftmaxOp::verify() {
  RankedTensorType input = tensorType(getInput());
  if (getOutput().getType() != input || getResult().getType() != input)
    return emitOpError() << "found an out of type " << getOutput().getType() << " and a result of type "
                         << getResult().getType() << ", that of the in, " << input << ", is wanted";
  return verifyDimension(*this, getDimension(), input.getRank());
}

LogicalResult ReverseOp::verify() {
  RankedTensorType input = tensorType(getInput());
  if (getOutput().getType() != input || getResult().getType() != input)
    return emitOpError() << "found an out of type " << getOutput().getType() << " and a result of type "
                         << getResult().getType() << ", that of the in, " << input << ", is wanted";
  llvm::SmallDenseSet<int64_t> seen;
  for (const APInt &dimension : getDimensions().getValues<APInt>()) {
    if (failed(verifyDimension(*this, dimension.getSExtValue(), input.getRank())))
      return failure();
    if (!seen.insert(dimension.getSExtValue()).second)
      return emitOpError() << "found dimension " << dimension.getSExtValue() << " twice";
  }
  return success();
}

/// `spatial`: the dimensions of rows and columns, of tensors whose channels are last, and first.
static LogicalResult verifyWinograd(Operation *op, int64_t tile, int64_t kernel, ArrayRef<int64_t> spatial,
                                    ArrayRef<int64_t> channelsLast, ArrayRef<int64_t> channelsFirst,
                                    RankedTensorType untransformed, RankedTensorType transformed, int64_t rank,
                                    Type output, Type result) {
  if (tile != 6 || kernel != 3)
    return op->emitOpError() << "found results of " << tile << " x " << tile << " and filters of " << kernel << " x "
                             << kernel << ", 6 x 6 and 3 x 3 are wanted";
  if (spatial != channelsLast && spatial != channelsFirst)
    return op->emitOpError() << "found rows and columns in dimensions [" << spatial << "], [" << channelsLast
                             << "] or [" << channelsFirst << "] are wanted";
  if (untransformed.getRank() != 4 || transformed.getRank() != rank || transformed.getDimSize(0) != 8 ||
      transformed.getDimSize(1) != 8)
    return op->emitOpError() << "found " << untransformed << " and, transformed, " << transformed
                             << ", 4 dimensions are wanted, and " << rank << " that begin with 8x8";
  if (!isa<FloatType>(untransformed.getElementType()) || output != result)
    return op->emitOpError() << "wants floats, and a result of the type of its out";
  return success();
}

LogicalResult WinogradInputOp::verify() {
  return verifyWinograd(*this, getOutputTileSize(), getKernelSize(), getDimensions(), {1, 2}, {2, 3},
                        tensorType(getInput()), tensorType(getOutput()), 6, getOutput().getType(),
                        getResult().getType());
}
LogicalResult WinogradFilterOp::verify() {
  if (failed(verifyWinograd(*this, getOutputTileSize(), getKernelSize(), getDimensions(), {0, 1}, {2, 3},
                            tensorType(getInput()), tensorType(getOutput()), 4, getOutput().getType(),
                            getResult().getType())))
    return failure();
  const int64_t row = getDimensions()[0];
  if (tensorType(getInput()).getDimSize(row) != 3 || tensorType(getInput()).getDimSize(row + 1) != 3)
    return emitOpError() << "found filters " << getInput().getType() << ", 3 x 3 in dimensions [" << getDimensions()
                         << "] are wanted";
  return success();
}
LogicalResult WinogradOutputOp::verify() {
  return verifyWinograd(*this, getOutputTileSize(), getKernelSize(), getDimensions(), {1, 2}, {2, 3},
                        tensorType(getOutput()), tensorType(getInput()), 6, getOutput().getType(),
                        getResult().getType());
}

/// Of quantize_affine, which makes integers, and dequantize_affine, which takes them.
template <typename Op> static LogicalResult verifyAffine(Op op, bool makesIntegers) {
  const OperandRange inputs = op.getInputs();
  Value output = op.getOutput();
  const ArrayAttr maps = op.getIndexingMaps();
  for (NamedAttribute other : op->getDiscardableAttrs())
    if (other.getName().getValue().ends_with("_unsigned"))
      return op.emitOpError() << "found " << other.getName() << ", '"
                              << (makesIntegers ? "storage_unsigned" : "input_unsigned")
                              << "' and 'zp_unsigned' are wanted";
  if (makesIntegers && !(op.getQuantMin() && op.getQuantMax()))
    return op.emitOpError() << "found no " << (op.getQuantMin() ? "quant_max" : "quant_min") << ", bounds are wanted";
  if (inputs.size() < 2 || inputs.size() > 3)
    return op.emitOpError() << "found " << inputs.size() << " ins: a tensor, a scale and, if there is one, a zero "
                            << "point are wanted";
  if (const Type result = op.getResult().getType(); output.getType() != result)
    return op.emitOpError() << "found a result of type " << result << ", that of the out, " << output.getType()
                            << ", is wanted";
  if (maps.size() != inputs.size() + 1)
    return op.emitOpError() << "found " << maps.size() << " indexing_maps, one for each in and one for the result, "
                            << inputs.size() + 1 << ", are wanted";
  SmallVector<Value> operands(inputs);
  operands.push_back(output);
  const unsigned loops = cast<AffineMapAttr>(maps[maps.size() - 1]).getValue().getNumDims();
  for (auto [number, operand] : llvm::enumerate(operands)) {
    const AffineMap map = cast<AffineMapAttr>(maps[number]).getValue();
    const auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    const bool hasAll = number == 0 || number + 1 == operands.size();
    if (map.getNumDims() != loops || map.getNumSymbols() != 0 || !map.isProjectedPermutation() ||
        map.getNumResults() != (tensor ? tensor.getRank() : 0) || (hasAll && !map.isPermutation()))
      return op.emitOpError() << "found " << AffineMapAttr::get(map) << " for " << operand.getType() << ", "
                              << (hasAll ? "a permutation" : "some") << " of " << loops << " loops "
                              << (hasAll ? "is" : "are") << " wanted";
  }
  const Type integers = getElementTypeOrSelf(makesIntegers ? output.getType() : inputs[0].getType());
  const Type floats = getElementTypeOrSelf(makesIntegers ? inputs[0].getType() : output.getType());
  const Type scale = getElementTypeOrSelf(inputs[1].getType());
  const Type zero = inputs.size() == 3 ? getElementTypeOrSelf(inputs[2].getType()) : integers;
  if (!integers.isSignlessInteger() || !isa<FloatType>(floats) || !isa<FloatType>(scale) ||
      !(zero.isSignlessInteger() || isa<FloatType>(zero)))
    return op.emitOpError() << "found " << integers << " for " << floats << " by a scale of " << scale
                            << " and a zero point of " << zero
                            << ": integers without a sign, floats, a float, and either are wanted";
  const unsigned bits = integers.getIntOrFloatBitWidth();
  const bool isUnsigned = op.getIsUnsigned();
  if (bits > 32)
    return op.emitOpError() << "found " << integers << ", integers of 32 bits at most are wanted";
  const int64_t lowest = isUnsigned ? 0 : llvm::minIntN(bits);
  const auto highest = isUnsigned ? int64_t(llvm::maxUIntN(bits)) : llvm::maxIntN(bits);
  const auto least = int64_t(op.getQuantMin().value_or(lowest)), most = int64_t(op.getQuantMax().value_or(highest));
  if (least > most || least < lowest || most > highest)
    return op.emitOpError() << "found quant_min = " << least << " and quant_max = " << most << ", of "
                            << (isUnsigned ? "unsigned " : "") << integers << " bounds between " << lowest << " and "
                            << highest << " are wanted";
  return success();
}

LogicalResult QuantizeAffineOp::verify() {
  return verifyAffine(*this, /*makesIntegers=*/true);
}

LogicalResult DequantizeAffineOp::verify() {
  return verifyAffine(*this, /*makesIntegers=*/false);
}

/// Whether a value of `found` may be cast to `wanted`, or the other way round.
static bool areAlike(Type found, Type wanted) {
  auto a = dyn_cast<RankedTensorType>(found), b = dyn_cast<RankedTensorType>(wanted);
  if (!a || !b)
    return found == wanted;
  return a.getElementType() == b.getElementType() && succeeded(verifyCompatibleShape(a, b));
}

LogicalResult CustomOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 0, SIZE_MAX, getOutputs(), 1, SIZE_MAX)))
    return failure();
  Block &body = getRegion().front();
  SmallVector<Type> wanted(getInputs().getTypes()), results(getOutputs().getTypes());
  llvm::append_range(wanted, results);
  auto isWanted = [](TypeRange found, TypeRange types) {
    return found.size() == types.size() && llvm::all_of(llvm::zip_equal(found, types), [](auto pair) {
             return areAlike(std::get<0>(pair), std::get<1>(pair));
           });
  };
  if (!isWanted(body.getArgumentTypes(), wanted))
    return emitOpError() << "found a region that takes " << body.getArgumentTypes() << ", tiles of " << wanted
                         << " are wanted";
  YieldOp yield = yieldOf(body);
  if (!yield)
    return emitOpError() << "found a region without 'iree_linalg_ext.yield' at its end";
  TypeRange yielded = yield.getOperandTypes();
  if (!isWanted(yielded, results))
    return emitOpError() << "found a region that yields " << yielded << ", tiles of " << results << " are wanted";
  return success();
}

} // namespace tenon::compiler::linalg_ext
