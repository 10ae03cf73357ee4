// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/channel_form.h"

#include "abi/arch_table.h"
#include "compiler/codegen/grouped/filter_operands.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Two channels of a thread where their sums fit; places of a patch along a side; what a patch combines, all of it
// straight-line code, and what a thread keeps of it in registers.
constexpr int64_t kMostSums = 56, kMostSide = 16, kMostRun = 8, kMostCombined = 1700, kMostKept = 84;
// A model of instructions: to load a place with where it lies, of a patch, and of a block, with each of its threads'
// sums. A large device has so many blocks at once. Lines of memory that neighbouring threads do not read all of cost
// more.
constexpr double kRead = 2, kPatch = 60, kBlock = 120, kSum = 5;
constexpr int64_t kBlocksAtOnce = abi::kHopperMultiprocessors * kChannelBlocks;
constexpr double kSplitSectors = 1.15, kSector = 1.15, kPartOfLine = 1.08;
constexpr int64_t kSectorBytes = 32, kLineBytes = 128;

/// What it costs more to read rows of so many bytes at a time, where each block has a part of them.
double costOfRows(int64_t bytes) {
  const double parts = bytes % kSectorBytes == 0 ? 1 : kSplitSectors;
  return parts * (bytes >= kLineBytes ? 1 : bytes >= 2 * kSectorBytes ? kPartOfLine : kSector);
}

SmallVector<int64_t> divisorsOf(int64_t number, int64_t most) {
  SmallVector<int64_t> divisors;
  for (int64_t each = std::min(number, most); each >= 1; --each)
    if (number % each == 0)
      divisors.push_back(each);
  return divisors;
}

} // namespace

std::optional<ChannelForm> ChannelForm::of(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<ImageProduct<dispatch::ChannelFilters>> found =
      ImageProduct<dispatch::ChannelFilters>::of(kernel, shape);
  const std::optional<KernelTensor> gradient = found ? found->gradient(kernel) : std::nullopt;
  if (!gradient || found->image.shape.back().size != found->sizes[found->loops.channel])
    return std::nullopt;
  return ChannelForm{std::move(found->loops), std::move(found->product), found->image, *gradient,
                     std::move(found->sizes)};
}

int64_t ChannelForm::parts() const {
  int64_t count = 1;
  for (unsigned loop : loops.parts)
    count *= sizes[loop];
  return count;
}

ChannelForm::Slide ChannelForm::slide(std::optional<unsigned> dimension) const {
  Slide slide{dimension};
  if (!dimension)
    return slide;
  const dispatch::FilterPlace &place = loops.places[*dimension];
  if (place.window) {
    slide.window = sizes[*place.window];
    slide.apart = place.apart;
  }
  if (place.loop) {
    slide.length = sizes[*place.loop];
    slide.step = place.step;
  }
  return slide;
}

SmallVector<int64_t> ChannelForm::Slide::met(int64_t neighbours) const {
  llvm::SmallSetVector<int64_t, 16> places;
  for (int64_t neighbour = 0; neighbour < neighbours; ++neighbour)
    for (int64_t place = 0; place < window; ++place)
      places.insert(neighbour * step + place * apart);
  SmallVector<int64_t> inOrder = places.takeVector();
  llvm::sort(inOrder);
  return inOrder;
}

int64_t ChannelTile::patches(const ChannelForm &form) const {
  int64_t count = 1;
  for (unsigned loop : form.loops.summed)
    count *= form.sizes[loop];
  return count / (lines * run);
}

int64_t ChannelTile::kept(const ChannelForm &form) const {
  const ChannelForm::Slide down = form.down(), along = form.along();
  // Lines of the gradient that a line of the image is met from.
  const int64_t open = std::min<int64_t>(lines, llvm::divideCeil((down.window - 1) * down.apart + 1, down.step));
  return lanes * (form.windowPlaces() + open * run + int64_t(along.met(run).size()));
}

ChannelTile ChannelTile::of(const ChannelForm &form) {
  const int64_t bytes = dispatch::elementBytes(form.image.element), window = form.windowPlaces();
  const ChannelForm::Slide down = form.down(), along = form.along();
  ChannelTile best;
  std::optional<double> least;
  best.lanes = form.channels() % 2 == 0 && 2 * window <= kMostSums ? 2 : 1;
  ChannelTile tile = best;
  for (int64_t across : divisorsOf(form.channels() / tile.lanes, kChannelThreads))
    for (int64_t lines : divisorsOf(down.length, kMostSide))
      for (int64_t run : divisorsOf(along.length, kMostRun)) {
        tile.across = across;
        tile.lines = lines;
        tile.run = run;
        const int64_t combined = lines * run * window * tile.lanes;
        if ((combined > kMostCombined || tile.kept(form) > kMostKept) && lines * run > 1)
          continue;
        const auto reads = double(down.met(lines).size() * along.met(run).size() + size_t(lines * run));
        const double each = double(combined) + reads * (double(tile.lanes) + kRead) + kPatch;
        const double block = double(llvm::divideCeil(tile.patches(form), tile.teams())) * each + kBlock +
                             kSum * double(window * tile.lanes);
        const double cost = double(llvm::divideCeil(tile.chunks(form) * form.parts(), kBlocksAtOnce)) * block *
                            (tile.chunks(form) == 1 ? 1 : costOfRows(across * tile.lanes * bytes));
        if (!least || cost < *least)
          best = tile, least = cost;
      }
  return best;
}

} // namespace tenon::compiler::codegen
