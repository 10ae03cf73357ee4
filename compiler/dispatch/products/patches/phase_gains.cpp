// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/phase_gains.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Products of a result.
double productsOf(const Dilation &dilation, bool areApart) {
  return areApart ? double(dilation.pairs()) / double(dilation.step) : double(dilation.taps);
}

} // namespace

double PhaseGains::productsSaved() const {
  double before = 1, after = 1;
  for (const Dilation &each : whole_.dilations) {
    before *= double(each.places);
    after *= productsOf(each, areApart_) * double(each.groups() * each.step) / double(each.results);
  }
  return before - after;
}

/// A read and a write of each result, of 16 bits, take as long as so many products on tensor cores. (Two of them are no
/// longer than that: an H200, NCHW 75 x 75, 64 channels, 3 x 3 in steps of two: bf16 25.1 us without phases, 17.7 with;
/// f32 123 and 53.)
bool PhaseGains::areWorthCopy() const {
  constexpr double kLeastSaved = 256;
  return productsSaved() * double(linalg::GenericOp(convolution_.op).getStaticLoopRanges()[convolution_.channels]) >=
         kLeastSaved;
}

/// Channels that are no vectors come element by element, in phases as well, where else columns of the window join them
/// (an H200: bf16 31 x 31 in steps of four, 33 channels, 127 x 127: 140 us, in phases 293).
bool PhaseGains::areWorthOwnPlaces() const {
  return areWorthCopy() && (!convolution_.isOnCores || convolution_.hasManyChannels());
}

/// (f32, one image of 8 x 8, 512 by 512 channels, 4 x 4 in steps of two: 38 MB of all phases, for 17 MB of filters.)
bool PhaseGains::areWorthFilters() const {
  constexpr double kOfScalars = 50e6, kOfTf32 = 300e6, kOfCores = 600e6, kBytesInMicrosecond = 3e6; // an H200
  linalg::GenericOp op = convolution_.op;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const double bytes = elementBytes(getElementTypeOrSelf(whole_.image.image.getType()));
  const double inMicrosecond = !convolution_.isOnCores ? kOfScalars : bytes > 2 ? kOfTf32 : kOfCores;
  double products = 2 * productsSaved(), filters = bytes, read = 1, written = 1;
  auto isWindow = [&](unsigned loop) {
    return llvm::any_of(whole_.dilations, [&](const Dilation &each) { return each.window == loop; });
  };
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (!isWindow(unsigned(loop)))
      products *= double(size);
  for (AffineExpr expr : op.getMatchingIndexingMap(convolution_.filters).getResults())
    if (const unsigned loop = cast<AffineDimExpr>(expr).getPosition(); !isWindow(loop))
      filters *= double(sizes[loop]);
  for (const Dilation &each : whole_.dilations) {
    read *= double(each.places);
    written *= double(each.step * each.taps);
  }
  return products / inMicrosecond > filters * (read + written) / kBytesInMicrosecond;
}

} // namespace tenon::compiler::dispatch
