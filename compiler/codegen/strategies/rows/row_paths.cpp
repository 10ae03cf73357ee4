// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_paths.h"

#include "compiler/codegen/kernel/bodies/one_pass.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;
// Threads of a whole GPU: 132 multiprocessors have place for 2048 each. Few rows take as many as they can use of them.
constexpr int64_t kThreadsOfGpu = 256 << 10;
constexpr uint32_t kMostOfFewRows = 128;
// Registers for the elements of a row that a thread keeps, over all tensors; of 1024 threads each has half as many.
constexpr uint32_t kMaxKept = 64;
// The same where the length is not known: conditions under which elements exist take registers, too.
constexpr uint32_t kFewKept = 16;
// Of each block of a cluster. Two of them are on a multiprocessor, so that one loads while the other computes: they
// share its 64 K registers, of which the elements get so many, and its 227 KiB of shared memory.
constexpr uint32_t kClusterThreads = 512;
constexpr uint32_t kMostBlocks = 8;
constexpr uint32_t kClusterKept = 24;
constexpr uint32_t kClusterSharedBytes = 112 << 10;

uint32_t powerOfTwo(int64_t atLeast) {
  return uint32_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(atLeast, 1))));
}

/// Vectors that a thread can keep of every tensor in so many registers.
uint32_t chunksIn(uint32_t registers, const RowDemand &demand) {
  return std::max(1u, registers / (demand.width * std::max(1u, demand.tensors)));
}

uint32_t mostChunks(const RowDemand &demand, uint32_t threads) {
  return chunksIn(threads > 512 ? kMaxKept / 2 : kMaxKept, demand);
}

/// A thread that loads one vector waits for it, unless it has another row's as well. Where elements are narrow and
/// lanes many, it is their number that takes the time.
uint32_t rowsAtOnce(const RowDemand &demand, uint32_t lanes, uint32_t chunks) {
  return chunks * demand.tensors == 1 && (demand.width <= 4 || lanes <= 2) ? 2 : 1;
}

/// Whether the row is read once, wherever it is kept.
bool takesOnePass(const KernelFunction &kernel, const GroupShape &shape) {
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  return !storesElements(kernel, shape) &&
         (phases.size() == 1 || (phases.size() == 2 && onePassSums(kernel, shape, phases[0], phases[1])));
}

/// The smallest cluster that keeps rows of so many vectors, if there is one.
std::optional<RowPath> clusterOf(const RowDemand &demand, int64_t vectors) {
  for (uint32_t blocks = 2; blocks <= kMostBlocks; blocks *= 2) {
    const auto each = uint32_t(llvm::divideCeil(vectors, blocks * kClusterThreads));
    const uint32_t chunks = std::min(each, chunksIn(kClusterKept, demand));
    if (uint64_t(each - chunks) * demand.bytes * kClusterThreads <= kClusterSharedBytes)
      return RowPath{.lanes = kClusterThreads,
                     .chunks = chunks,
                     .shared = each - chunks,
                     .blocks = blocks,
                     .threads = kClusterThreads};
  }
  return std::nullopt;
}

} // namespace

RowDemand RowDemand::of(const KernelFunction &kernel, const GroupShape &shape) {
  const uint32_t width = vectorWidth(kernel, shape, shape.axes.size() - 1);
  uint32_t bytes = 0;
  for (const ElementInput &input : elementInputs(kernel, shape))
    bytes += width * dispatch::elementBytes(input.tensor->element);
  return {width, bytes, readsAgain(kernel, shape) || storesElements(kernel, shape), fullInputs(kernel, shape),
          takesOnePass(kernel, shape)};
}

/// Rows of a known length: as few threads as have enough to do, as many as keep the row; more where rows are so few
/// that multiprocessors would be idle.
RowPath rowPath(const RowDemand &demand, int64_t columns, std::optional<int64_t> rows) {
  int64_t vectors = llvm::divideCeil(std::max<int64_t>(columns, 1), demand.width);
  // Of long ragged rows what is around vectors takes no place of one (row_vectors.h).
  if (demand.again && vectors > 4 * kWarp)
    vectors = columns / demand.width;
  RowPath path;
  if (vectors <= 4 * kWarp) {
    path.lanes = std::min(kWarp, powerOfTwo(vectors));
    // Two vectors a thread are as many loads, and one exchange less.
    if (!demand.again && vectors <= kWarp)
      path.lanes = std::max(1u, path.lanes / 2);
  } else if (!demand.again) {
    path.lanes = vectors <= 8 * kWarp ? kWarp : kRowThreads;
  } else {
    const int64_t each = std::min<int64_t>(4, mostChunks(demand, kRowThreads));
    path.threads = path.lanes = std::clamp(powerOfTwo(llvm::divideCeil(vectors, each)), 64u, 1024u);
  }
  // Measured: what a warp reads once in four steps it does as fast; what it computes again, it does not.
  const bool mayWait = demand.again ? path.lanes <= kWarp : vectors > 4 * kWarp;
  for (const uint32_t most = demand.again ? kMostOfFewRows : kRowThreads;
       rows && mayWait && path.lanes < most && 2 * path.lanes <= vectors && 2 * path.lanes * *rows <= kThreadsOfGpu;)
    path.lanes *= 2;
  if (path.lanes > kWarp)
    path.threads = path.lanes;
  if (!demand.again || columns <= 0)
    return path;
  const int64_t needed = llvm::divideCeil(vectors, path.lanes);
  if (needed <= mostChunks(demand, path.threads)) {
    path.chunks = needed;
    path.rows = rowsAtOnce(demand, path.lanes, path.chunks);
    return path;
  }
  if (!demand.onePass)
    if (std::optional<RowPath> cluster = clusterOf(demand, vectors))
      return *cluster;
  if (path.lanes > kRowThreads) // it is read in a loop, where more threads gain nothing
    path.threads = path.lanes = kRowThreads;
  return path;
}

/// Rows of any length: each path is for those that the one before it is too short for.
SmallVector<RowPath> rowPathsOfAnyLength(const RowDemand &demand) {
  if (!demand.again)
    return {{.longest = 2 * demand.width, .lanes = 1},
            {.longest = 16 * demand.width, .lanes = 8},
            {.longest = 8 * kWarp * demand.width, .lanes = kWarp},
            {}};
  SmallVector<RowPath> paths;
  auto add = [&](uint32_t lanes, uint32_t chunks) {
    // More than 16 elements and the conditions under which they exist take a thread's registers from others.
    const uint32_t kept = std::min(chunks, chunksIn(kFewKept, demand));
    const int64_t longest = int64_t(lanes) * kept * demand.width;
    if (paths.empty() || longest > paths.back().longest)
      paths.push_back({.longest = longest,
                       .lanes = lanes,
                       .chunks = kept,
                       .threads = lanes > kWarp ? lanes : kRowThreads,
                       .rows = rowsAtOnce(demand, lanes, kept)});
  };
  for (auto [lanes, chunks] :
       {std::pair(1u, 1u), {2u, 1u}, {16u, 1u}, {kWarp, 1u}, {kWarp, 4u}, {64u, 4u}, {128u, 4u}, {256u, 4u}})
    add(lanes, chunks);
  if (!demand.onePass)
    for (uint32_t lanes : {512u, 1024u})
      add(lanes, 4);
  paths.push_back({});
  return paths;
}

} // namespace tenon::compiler::codegen
