// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/dilation.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

std::optional<int64_t> Dilation::placeOf(int64_t phase, int64_t tap) const {
  const int64_t distance = step * (first + tap) - phase - offset;
  const bool isPlace = distance % factor == 0 && distance / factor >= 0 && distance / factor < places;
  return isPlace ? std::optional(distance / factor) : std::nullopt;
}

int64_t Dilation::pairs() const {
  int64_t count = 0;
  for (int64_t phase = 0; phase < step; ++phase)
    for (int64_t tap = 0; tap < taps; ++tap)
      count += placeOf(phase, tap).has_value();
  return count;
}

bool Dilation::findTaps() {
  std::optional<int64_t> least, most;
  for (int64_t phase = 0; phase < step; ++phase)
    for (int64_t place = 0; place < places; ++place) {
      const int64_t at = phase + factor * place + offset;
      if (at % step != 0)
        continue;
      least = std::min(least.value_or(at / step), at / step);
      most = std::max(most.value_or(at / step), at / step);
    }
  if (!least)
    return false;
  first = *least;
  taps = *most - *least + 1;
  return true;
}

std::optional<DilatedConvolution> DilatedConvolution::of(const Convolution &convolution) {
  linalg::GenericOp op = convolution.op;
  auto source = convolution.image->get().getDefiningOp<linalg::GenericOp>();
  if (!source || !source->hasOneUse() || source.getNumDpsInputs() != 0 || source->getNumResults() != 1 ||
      !source.getIndexingMapsArray().front().isIdentity())
    return std::nullopt;
  const std::optional<DilatedImage> dilated = dilatedImageOf(source.getBody()->getTerminator()->getOperand(0), source);
  if (!dilated || llvm::all_of(dilated->steps, [](int64_t step) { return step == 1; }))
    return std::nullopt;
  DilatedConvolution found{*dilated, {}};
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const AffineMap map = dilated->map.compose(op.getMatchingIndexingMap(convolution.image));
  for (auto [dimension, step] : llvm::enumerate(dilated->steps)) {
    const std::optional<LinearExpr> sum = LinearExpr::of(map.getResult(dimension), sizes.size());
    if (!sum)
      return std::nullopt;
    if (step == 1)
      continue;
    Dilation each{unsigned(dimension), 0, 0, step, 0, sum->offset, 0, 0};
    unsigned loops = 0;
    for (auto [loop, factor] : llvm::enumerate(sum->factors)) {
      if (factor == 0)
        continue;
      const bool isResult = op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
      if (isResult ? factor != 1 || each.results != 0 : each.places != 0)
        return std::nullopt;
      (isResult ? each.results : each.places) = sizes[loop];
      (isResult ? each.result : each.window) = loop;
      if (!isResult)
        each.factor = factor;
      ++loops;
    }
    auto isElsewhere = [&](unsigned loop) {
      return llvm::count_if(map.getResults(), [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); }) != 1;
    };
    if (loops != 2 || isElsewhere(each.result) || isElsewhere(each.window) || !each.findTaps())
      return std::nullopt;
    found.dilations.push_back(each);
  }
  return found;
}

const Dilation *DilatedConvolution::ofDimension(unsigned dimension) const {
  const auto *found = llvm::find_if(dilations, [&](const Dilation &each) { return each.dimension == dimension; });
  return found == dilations.end() ? nullptr : found;
}

const Dilation *DilatedConvolution::ofResult(unsigned loop) const {
  const auto *found = llvm::find_if(dilations, [&](const Dilation &each) { return each.result == loop; });
  return found == dilations.end() ? nullptr : found;
}

} // namespace tenon::compiler::dispatch
