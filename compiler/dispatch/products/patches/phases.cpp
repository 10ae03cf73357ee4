// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/phases.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/analysis/summed_places.h"
#include "compiler/dispatch/products/orders/turned_result.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"
#include "compiler/dispatch/products/patches/phase_copies.h"
#include "compiler/dispatch/products/patches/phase_gains.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class Phases {
public:
  Phases(const Convolution &convolution, const DilatedConvolution &whole)
      : convolution_(convolution), whole_(whole), op_(convolution.op), loc_(op_.getLoc()), b_(op_),
        sizes_(op_.getStaticLoopRanges()), filters_(op_.getMatchingIndexingMap(convolution.filters)),
        written_(op_.getMatchingIndexingMap(op_.getDpsInitOperand(0))), dilated_(whole.image),
        dilations_(whole.dilations),
        areApart_(llvm::any_of(dilations_, [](const Dilation &each) { return each.taps > 1 && !each.hasAllPairs(); })),
        gains_(convolution, whole, areApart_) {}

  linalg::GenericOp run();

private:
  bool hasWholeGroups() const {
    return llvm::all_of(dilations_, [](const Dilation &each) { return each.hasWholeGroups(); });
  }
  bool mayDivide() const;
  bool mayDivideTurned();
  bool startsFromZero();
  ArrayRef<int64_t> imageShape() { return cast<RankedTensorType>(dilated_.image.getType()).getShape(); }
  linalg::GenericOp divide();
  void leaveOut(linalg::GenericOp divided, ArrayRef<AffineExpr> phases, ArrayRef<AffineExpr> taps);
  Value withoutEmptyPhases(Value result, ArrayRef<unsigned> dimensions);
  bool liesAcrossTwice() const;
  linalg::GenericOp widen();
  void passOn(Value result, Value whole, RankedTensorType wide);

  const Convolution &convolution_;
  const DilatedConvolution &whole_;
  linalg::GenericOp op_;
  Location loc_;
  OpBuilder b_;
  const SmallVector<int64_t> sizes_; // of the loops
  const AffineMap filters_;
  AffineMap written_;
  const DilatedImage &dilated_;
  const ArrayRef<Dilation> dilations_;
  const bool areApart_; // phases are a batch, for they meet different elements; else columns
  const PhaseGains gains_;
};

/// Whether results are groups of phases, with the channels behind the last of them, and fewer products are made. Of
/// groups that are not whole the result's own places are copied behind.
bool Phases::mayDivide() const {
  for (const Dilation &each : dilations_)
    if (each.step > kMostPairs / each.taps)
      return false;
  const unsigned rank = written_.getNumResults();
  auto last = dyn_cast<AffineDimExpr>(written_.getResults().back());
  auto inner = rank > 1 ? dyn_cast<AffineDimExpr>(written_.getResult(rank - 2)) : AffineDimExpr(nullptr);
  const bool hasFill = linalg::GenericOp(op_).getDpsInits()[0].getDefiningOp<linalg::FillOp>() != nullptr;
  return last && inner && !whole_.ofResult(last.getPosition()) && inner.getPosition() == dilations_.back().result &&
         filters_.getResultPosition(last) && hasFill && gains_.productsSaved() > 0 &&
         (hasWholeGroups() || gains_.areWorthOwnPlaces());
}

/// Whether a result whose channels are not the last dimension is worth a copy: then it has them last, and the copy is
/// turned.
bool Phases::mayDivideTurned() {
  if (!written_.isProjectedPermutation() || !gains_.areWorthCopy())
    return false;
  std::optional<unsigned> channels; // of the result
  for (auto [dimension, expr] : llvm::enumerate(written_.getResults()))
    if (filters_.getResultPosition(expr)) {
      if (channels)
        return false;
      channels = dimension;
    }
  if (!channels)
    return false;
  const SmallVector<int64_t> order = lastOrder(written_.getNumResults(), *channels);
  const AffineMap asItIs = written_;
  written_ = AffineMap::get(asItIs.getNumDims(), 0, inOrder(asItIs.getResults(), order), b_.getContext());
  if (mayDivide()) {
    turnResult(op_, order);
    return true;
  }
  written_ = asItIs;
  return false;
}

/// Whether a result that no element meets is zero.
bool Phases::startsFromZero() {
  Attribute start;
  auto fill = op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return matchPattern(fill.getInputs()[0], m_Constant(&start)) &&
         start == b_.getZeroAttr(fill.getInputs()[0].getType());
}

/// What is computed from each element alone is computed in the shape of `result`, so that it shares its kernel; whoever
/// reads anything else reads a view. Of groups that are not whole that is what is computed from one element of the
/// result alone, and others read a copy of the result's own places.
void Phases::passOn(Value result, Value whole, RankedTensorType wide) {
  auto view = [&](OpBuilder &b, Value value, ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
    return flow::TensorReshapeOp::create(b, loc_, type, value, ValueRange(), ValueRange());
  };
  while (whole.hasOneUse()) {
    auto reader = dyn_cast<linalg::GenericOp>(*whole.user_begin());
    if (!isSamePlace(reader) || (!hasWholeGroups() && reader.getNumDpsInputs() != 1))
      break;
    OpBuilder b(reader);
    SmallVector<Value> inputs;
    for (Value input : reader.getDpsInputs())
      inputs.push_back(input == whole ? result : view(b, input, wide.getShape()));
    const auto rank = unsigned(wide.getRank());
    Value empty = tensor::EmptyOp::create(b, reader.getLoc(), wide.getShape(),
                                          getElementTypeOrSelf(reader.getResult(0).getType()));
    auto copy = linalg::GenericOp::create(b, reader.getLoc(), empty.getType(), inputs, empty,
                                          SmallVector<AffineMap>(inputs.size() + 1, b.getMultiDimIdentityMap(rank)),
                                          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
    IRMapping values;
    reader.getRegion().cloneInto(&copy.getRegion(), values);
    result = copy.getResult(0);
    whole = reader.getResult(0);
  }
  OpBuilder b(result.getContext());
  b.setInsertionPointAfterValue(result);
  auto type = cast<RankedTensorType>(whole.getType());
  if (hasWholeGroups()) {
    whole.replaceAllUsesWith(view(b, result, type.getShape()));
    return;
  }
  SmallVector<int64_t> rounded(type.getShape());
  for (auto [size, expr] : llvm::zip_equal(rounded, written_.getResults()))
    if (const Dilation *dilation = whole_.ofResult(cast<AffineDimExpr>(expr).getPosition()))
      size = dilation->groups() * dilation->step;
  Value all = view(b, result, rounded);
  Value own =
      buildTensor(b, loc_, type.getShape(), type.getElementType(), [&](OpBuilder &inside, ArrayRef<Value> at) -> Value {
        return tensor::ExtractOp::create(inside, loc_, all, at);
      });
  // Who turned it would read single elements.
  if (llvm::any_of(whole.getUsers(), [](Operation *user) { return isa<linalg::TransposeOp>(user); }))
    own.getDefiningOp()->setAttr(kOwnKernelAttr, b.getUnitAttr());
  whole.replaceAllUsesWith(own);
}

/// Phases of a batch sum what they meet, and nothing else.
void Phases::leaveOut(linalg::GenericOp divided, ArrayRef<AffineExpr> phases, ArrayRef<AffineExpr> taps) {
  const Accumulator accumulator = reductionBodyOf(divided)->front();
  OpBuilder b(accumulator.operation);
  auto index = [&](AffineExpr loop) {
    return linalg::IndexOp::create(b, loc_, cast<AffineDimExpr>(loop).getPosition()).getResult();
  };
  Value exists;
  for (auto [each, phase, tap] : llvm::zip_equal(dilations_, phases, taps))
    if (each.taps > 1 && !each.hasAllPairs())
      exists = PlaceMath(b, loc_).both(
          exists, writeSummedPlaces(b, loc_, index(phase), index(tap), each.step, each.taps,
                                    [&](int64_t p, int64_t t) { return each.placeOf(p, t).has_value(); }));
  Value term = accumulator.contributed;
  Value none = arith::ConstantOp::create(b, loc_, b.getZeroAttr(term.getType()));
  Value chosen = arith::SelectOp::create(b, loc_, exists, term, none);
  accumulator.operation->replaceUsesOfWith(term, chosen);
}

/// Where phases meet one element or none, those that meet none are what the sum starts from.
/// @param dimensions of the result, where phases are
Value Phases::withoutEmptyPhases(Value result, ArrayRef<unsigned> dimensions) {
  if (llvm::all_of(dilations_, [](const Dilation &each) { return each.taps > 1 || each.hasAllPairs(); }))
    return result;
  auto type = cast<RankedTensorType>(result.getType());
  const auto rank = unsigned(type.getRank());
  Value start = op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
  Value empty = tensor::EmptyOp::create(b_, loc_, type.getShape(), type.getElementType());
  const AffineMap identity = b_.getMultiDimIdentityMap(rank);
  return linalg::GenericOp::create(
             b_, loc_, type, result, empty, ArrayRef<AffineMap>{identity, identity},
             SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
             [&](OpBuilder &b, Location, ValueRange elements) {
               Value exists;
               for (auto [each, dimension] : llvm::zip_equal(dilations_, dimensions)) {
                 if (each.taps > 1 || each.hasAllPairs())
                   continue;
                 Value phase = linalg::IndexOp::create(b, loc_, dimension);
                 if (!areApart_ && dimension + 1 == rank)
                   phase = arith::DivUIOp::create(b, loc_, phase,
                                                  PlaceMath(b, loc_).number(type.getShape().back() / each.step));
                 exists = PlaceMath(b, loc_).both(
                     exists, writeSummedPlaces(b, loc_, phase, {}, each.step, 1,
                                               [&](int64_t p, int64_t t) { return each.placeOf(p, t).has_value(); }));
               }
               linalg::YieldOp::create(b, loc_,
                                       arith::SelectOp::create(b, loc_, exists, elements[0], start).getResult());
             })
      .getResult(0);
}

/// The convolution without zeros between the elements of its image.
linalg::GenericOp Phases::divide() {
  SmallVector<AffineExpr> loops(sizes_.size()); // of the convolution, by the new ones; windows stand nowhere
  SmallVector<utils::IteratorType> types;
  auto addLoop = [&](utils::IteratorType type) {
    types.push_back(type);
    return b_.getAffineDimExpr(types.size() - 1);
  };
  const unsigned last = cast<AffineDimExpr>(written_.getResults().back()).getPosition();
  SmallVector<AffineExpr> taps, phases(dilations_.size()), ofImage, ofFilters, ofResult;
  SmallVector<unsigned> phaseAt(dilations_.size()); // dimensions of the result
  SmallVector<int64_t> wide;
  for (AffineExpr expr : written_.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    const Dilation *dilation = whole_.ofResult(loop);
    loops[loop] = addLoop(utils::IteratorType::parallel);
    ofResult.push_back(loops[loop]);
    if (loop == last) {
      if (!areApart_)
        phaseAt.back() = wide.size();
      wide.push_back((areApart_ ? 1 : dilations_.back().step) * sizes_[last]);
      continue;
    }
    wide.push_back(dilation ? dilation->groups() : sizes_[loop]);
    if (!dilation || (!areApart_ && dilation == &dilations_.back()))
      continue;
    const auto number = size_t(dilation - dilations_.begin());
    phases[number] = addLoop(utils::IteratorType::parallel);
    ofResult.push_back(phases[number]);
    phaseAt[number] = wide.size();
    wide.push_back(dilation->step);
  }
  for (size_t i = 0; i < dilations_.size(); ++i)
    taps.push_back(addLoop(utils::IteratorType::reduction));
  for (auto [loop, type] : llvm::enumerate(op_.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction &&
        llvm::none_of(dilations_, [&](const Dilation &each) { return each.window == loop; }))
      loops[loop] = addLoop(type);

  PhaseCopies copies(b_, convolution_, whole_, written_, areApart_);
  const AffineMap before = op_.getMatchingIndexingMap(convolution_.image);
  for (unsigned dimension = 0; dimension < before.getNumResults(); ++dimension)
    if (const Dilation *dilation = whole_.ofDimension(dimension))
      ofImage.push_back(loops[dilation->result] + taps[dilation - dilations_.begin()]);
    else
      ofImage.push_back(before.getResult(dimension).replaceDims(loops));
  if (areApart_)
    llvm::append_range(ofFilters, phases);
  llvm::append_range(ofFilters, taps);
  for (unsigned loop : copies.othersOfFilters())
    ofFilters.push_back(loops[loop]);
  if (!areApart_)
    llvm::append_range(ofFilters, ArrayRef(phases).drop_back());
  ofFilters.push_back(loops[last]);
  if (areApart_ && !copies.areChannelsLast())
    std::swap(ofFilters.back(), ofFilters[ofFilters.size() - 2]);

  SmallVector<Value> inputs = {copies.image(), copies.filters()};
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(types.size(), 0, results, b_.getContext()); };
  SmallVector<AffineMap> maps = {mapOf(ofImage), mapOf(ofFilters)};
  if (convolution_.image->getOperandNumber() > convolution_.filters->getOperandNumber()) {
    std::swap(inputs[0], inputs[1]);
    std::swap(maps[0], maps[1]);
  }
  maps.push_back(mapOf(ofResult));
  auto fill = op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto type = RankedTensorType::get(wide, getElementTypeOrSelf(op_.getResult(0).getType()));
  Value empty = tensor::EmptyOp::create(b_, loc_, wide, type.getElementType());
  Value start = linalg::FillOp::create(b_, loc_, fill.getInputs()[0], empty).getResult(0);
  auto divided = linalg::GenericOp::create(b_, loc_, type, inputs, start, maps, types);
  IRMapping values;
  op_.getRegion().cloneInto(&divided.getRegion(), values);
  if (areApart_)
    leaveOut(divided, phases, taps);
  passOn(withoutEmptyPhases(divided.getResult(0), phaseAt), op_.getResult(0), type);
  return divided;
}

/// Whether tensor cores read tf32 of neither side as it lies: places that are no rows at vectors, channels before them.
bool Phases::liesAcrossTwice() const {
  constexpr int64_t kVectorBytes = 16;
  const AffineMap image = linalg::GenericOp(op_).getMatchingIndexingMap(convolution_.image);
  const std::optional<unsigned> channels =
      image.getResultPosition(getAffineDimExpr(convolution_.channels, image.getContext()));
  auto type = cast<RankedTensorType>(dilated_.image.getType());
  if (!type.getElementType().isF32() || !convolution_.isOnCores || !hasHopperTf32(op_) || !channels)
    return false;
  int64_t bytes = sizeof(float);
  for (int64_t size : type.getShape().drop_front(*channels + 1))
    bytes *= size;
  return *channels + 1 != type.getRank() && bytes % kVectorBytes != 0;
}

/// Of windows of one: the convolution of the image as it is, and zeros between its results.
linalg::GenericOp Phases::widen() {
  auto fill = op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  SmallVector<int64_t> narrow;
  for (AffineExpr expr : written_.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    const Dilation *dilation = whole_.ofResult(loop);
    narrow.push_back(dilation ? imageShape()[dilation->dimension] : sizes_[loop]);
  }
  // The window's only place is none. Of 16 bits its loop, of one step, stays in the map: it is a convolution still,
  // whose channels are brought last where that is faster.
  const bool isConvolution =
      getElementTypeOrSelf(dilated_.image.getType()).getIntOrFloatBitWidth() == 16 || liesAcrossTwice();
  SmallVector<AffineExpr> ofImage;
  const AffineMap before = op_.getMatchingIndexingMap(convolution_.image);
  for (unsigned dimension = 0; dimension < before.getNumResults(); ++dimension)
    if (const Dilation *dilation = whole_.ofDimension(dimension))
      ofImage.push_back(isConvolution ? b_.getAffineDimExpr(dilation->result) + b_.getAffineDimExpr(dilation->window)
                                      : b_.getAffineDimExpr(dilation->result));
    else
      ofImage.push_back(before.getResult(dimension));
  SmallVector<AffineMap> maps = op_.getIndexingMapsArray();
  maps[convolution_.image->getOperandNumber()] = AffineMap::get(sizes_.size(), 0, ofImage, b_.getContext());
  SmallVector<Value> inputs = op_.getDpsInputs();
  inputs[convolution_.image->getOperandNumber()] = dilated_.image;
  Type type = getElementTypeOrSelf(op_.getResult(0).getType());
  Value empty = tensor::EmptyOp::create(b_, loc_, narrow, type);
  Value start = linalg::FillOp::create(b_, loc_, fill.getInputs()[0], empty).getResult(0);
  auto product = linalg::GenericOp::create(b_, loc_, start.getType(), inputs, start, maps, op_.getIteratorTypesArray());
  IRMapping values;
  op_.getRegion().cloneInto(&product.getRegion(), values);
  Value result = product.getResult(0), whole = op_.getResult(0);
  // Rounding keeps zeros: it is done before.
  linalg::GenericOp rounding;
  if (whole.hasOneUse())
    rounding = dyn_cast<linalg::GenericOp>(*whole.user_begin());
  if (isSamePlace(rounding) && rounding.getNumDpsInputs() == 1 &&
      llvm::range_size(rounding.getBody()->without_terminator()) == 1 &&
      isa<arith::TruncFOp>(rounding.getBody()->front())) {
    b_.setInsertionPoint(rounding);
    type = getElementTypeOrSelf(rounding.getResult(0).getType());
    const AffineMap identity = b_.getMultiDimIdentityMap(narrow.size());
    Value rounded = tensor::EmptyOp::create(b_, loc_, narrow, type);
    auto copy =
        linalg::GenericOp::create(b_, loc_, rounded.getType(), result, rounded, ArrayRef<AffineMap>{identity, identity},
                                  SmallVector<utils::IteratorType>(narrow.size(), utils::IteratorType::parallel));
    IRMapping ofRounding;
    rounding.getRegion().cloneInto(&copy.getRegion(), ofRounding);
    result = copy.getResult(0);
    whole = rounding.getResult(0);
  }
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(type));
  const ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
  Value widened = buildTensor(b_, loc_, shape, type, [&](OpBuilder &b, ArrayRef<Value> at) -> Value {
    PlaceMath math(b, loc_);
    SmallVector<Value> place(at);
    Value exists;
    for (auto [dimension, expr] : llvm::enumerate(written_.getResults())) {
      const Dilation *dilation = whole_.ofResult(cast<AffineDimExpr>(expr).getPosition());
      if (!dilation)
        continue;
      Value step = math.number(dilation->step);
      Value distance = at[dimension];
      if (dilation->offset != 0)
        distance = arith::AddIOp::create(b, loc_, distance, math.number(dilation->offset));
      Value rest = arith::RemUIOp::create(b, loc_, distance, step);
      exists = math.both(exists, arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::eq, rest, math.number(0)));
      Value inImage = arith::DivUIOp::create(b, loc_, distance, step);
      exists = math.both(exists, math.isBelow(inImage, narrow[dimension]));
      inImage = arith::MinSIOp::create(b, loc_, inImage, math.number(narrow[dimension] - 1));
      place[dimension] = arith::MaxSIOp::create(b, loc_, inImage, math.number(0));
    }
    Value value = tensor::ExtractOp::create(b, loc_, result, place);
    return arith::SelectOp::create(b, loc_, exists, value, zero);
  });
  whole.replaceAllUsesWith(widened);
  return product;
}

linalg::GenericOp Phases::run() {
  if (!op_.getDpsInits()[0].getDefiningOp<linalg::FillOp>() || !filters_.isProjectedPermutation())
    return {};
  // Dimensions without zeros between their elements have none around them either.
  const bool isOfOne = llvm::all_of(dilations_, [](const Dilation &each) { return each.places == 1; });
  const bool isPlain = llvm::all_of(llvm::enumerate(dilated_.steps), [&](auto each) {
    AffineExpr expr = dilated_.map.getResult(each.index());
    return each.value() != 1 || expr == b_.getAffineDimExpr(each.index());
  });
  if (isOfOne && isPlain && startsFromZero())
    return widen();
  return isPlain && gains_.areWorthFilters() && (mayDivide() || mayDivideTurned()) ? divide() : linalg::GenericOp();
}

} // namespace

linalg::GenericOp separatePhases(const Convolution &convolution) {
  const std::optional<DilatedConvolution> dilated = DilatedConvolution::of(convolution);
  return dilated ? Phases(convolution, *dilated).run() : linalg::GenericOp();
}

} // namespace tenon::compiler::dispatch
