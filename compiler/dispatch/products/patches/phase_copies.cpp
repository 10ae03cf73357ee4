// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/phase_copies.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

PhaseCopies::PhaseCopies(OpBuilder &b, const Convolution &convolution, const DilatedConvolution &whole,
                         AffineMap written, bool areApart)
    : b_(b), convolution_(convolution), whole_(whole), loc_(linalg::GenericOp(convolution.op).getLoc()),
      sizes_(linalg::GenericOp(convolution.op).getStaticLoopRanges()),
      filters_(linalg::GenericOp(convolution.op).getMatchingIndexingMap(convolution.filters)),
      channels_(cast<AffineDimExpr>(written.getResults().back()).getPosition()), dilated_(whole.image),
      dilations_(whole.dilations), areApart_(areApart) {}

Value PhaseCopies::image() {
  SmallVector<int64_t> shape;
  bool isWhole = true;
  auto seen = cast<RankedTensorType>(convolution_.image->get().getType());
  SmallVector<int64_t> begins; // [dimension] of the image
  for (auto [dimension, length] : llvm::enumerate(imageShape())) {
    if (const Dilation *dilation = whole_.ofDimension(dimension)) {
      shape.push_back(dilation->groups() + dilation->taps - 1);
      begins.push_back(dilation->first);
    } else {
      shape.push_back(seen.getDimSize(dimension));
      begins.push_back(LinearExpr::of(dilated_.map.getResult(dimension), seen.getRank())->offset);
    }
    isWhole &= begins.back() == 0 && shape.back() == length;
  }
  if (isWhole)
    return dilated_.image;
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(element()));
  return buildTensor(b_, loc_, shape, element(), [&](OpBuilder &b, ArrayRef<Value> at) -> Value {
    PlaceMath math(b, loc_);
    SmallVector<Value> place;
    Value isInside;
    for (auto [dimension, index] : llvm::enumerate(at)) {
      const int64_t length = imageShape()[dimension], begin = begins[dimension];
      Value inImage = begin == 0 ? index : arith::AddIOp::create(b, loc_, index, math.number(begin)).getResult();
      if (begin < 0 || shape[dimension] + begin > length) {
        isInside = math.both(isInside, math.isBelow(inImage, length));
        inImage = arith::MinSIOp::create(b, loc_, inImage, math.number(length - 1));
        inImage = arith::MaxSIOp::create(b, loc_, inImage, math.number(0));
      }
      place.push_back(inImage);
    }
    Value value = tensor::ExtractOp::create(b, loc_, dilated_.image, place);
    return isInside ? arith::SelectOp::create(b, loc_, isInside, value, zero).getResult() : value;
  });
}

SmallVector<unsigned> PhaseCopies::othersOfFilters() const {
  SmallVector<unsigned> others;
  for (AffineExpr expr : filters_.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop != channels_ && llvm::none_of(dilations_, [&](const Dilation &each) { return each.window == loop; }))
      others.push_back(loop);
  }
  return others;
}

bool PhaseCopies::areChannelsLast() const {
  constexpr int64_t kVectorBytes = 16;
  const SmallVector<unsigned> others = othersOfFilters();
  auto isAligned = [&](unsigned loop) { return sizes_[loop] * elementBytes(element()) % kVectorBytes == 0; };
  return isAligned(channels_) || others.size() != 1 || !isAligned(others.front());
}

/// Few taps and few phases: each of their pairs is known.
/// @param exists becomes false where the phase meets nothing there
Value PhaseCopies::placeInWindow(OpBuilder &b, const Dilation &dilation, Value phase, Value tap, Value &exists) const {
  PlaceMath math(b, loc_);
  auto is = [&](Value value, int64_t wanted) {
    return arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::eq, value, math.number(wanted)).getResult();
  };
  Value place = math.number(0), isPlace = arith::ConstantOp::create(b, loc_, b.getBoolAttr(false));
  for (int64_t p = 0; p < dilation.step; ++p)
    for (int64_t t = 0; t < dilation.taps; ++t) {
      const std::optional<int64_t> found = dilation.placeOf(p, t);
      if (!found)
        continue;
      Value isPair = arith::AndIOp::create(b, loc_, is(phase, p), is(tap, t));
      place = arith::SelectOp::create(b, loc_, isPair, math.number(*found), place);
      isPlace = arith::OrIOp::create(b, loc_, isPlace, isPair);
    }
  exists = math.both(exists, isPlace);
  return place;
}

Value PhaseCopies::filters() {
  const SmallVector<unsigned> others = othersOfFilters();
  SmallVector<int64_t> shape;
  if (areApart_)
    for (const Dilation &each : dilations_)
      shape.push_back(each.step);
  const size_t firstTap = shape.size();
  for (const Dilation &each : dilations_)
    shape.push_back(each.taps);
  for (unsigned loop : others)
    shape.push_back(sizes_[loop]);
  if (!areApart_)
    for (const Dilation &each : dilations_.drop_back())
      shape.push_back(each.step);
  shape.push_back((areApart_ ? 1 : dilations_.back().step) * sizes_[channels_]);
  const bool isTurned = areApart_ && !areChannelsLast();
  if (isTurned)
    std::swap(shape.back(), shape[shape.size() - 2]);
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(element()));
  return buildTensor(b_, loc_, shape, element(), [&](OpBuilder &b, ArrayRef<Value> written) -> Value {
    PlaceMath math(b, loc_);
    SmallVector<Value> at(written);
    if (isTurned)
      std::swap(at.back(), at[at.size() - 2]);
    Value channels = math.number(sizes_[channels_]);
    const size_t count = dilations_.size();
    llvm::DenseMap<unsigned, Value> placeOf; // of a loop
    placeOf[channels_] = areApart_ ? at.back() : arith::RemUIOp::create(b, loc_, at.back(), channels).getResult();
    for (auto [number, loop] : llvm::enumerate(others))
      placeOf[loop] = at[firstTap + count + number];
    Value exists;
    for (auto [which, each] : llvm::enumerate(dilations_)) {
      Value tap = at[firstTap + which];
      Value phase = areApart_            ? at[which]
                    : which + 1 == count ? arith::DivUIOp::create(b, loc_, at.back(), channels).getResult()
                                         : at[count + others.size() + which];
      placeOf[each.window] = placeInWindow(b, each, phase, tap, exists);
    }
    SmallVector<Value> place;
    for (AffineExpr expr : filters_.getResults())
      place.push_back(placeOf[cast<AffineDimExpr>(expr).getPosition()]);
    Value value = tensor::ExtractOp::create(b, loc_, convolution_.filters->get(), place);
    return arith::SelectOp::create(b, loc_, exists, value, zero);
  });
}

} // namespace tenon::compiler::dispatch
