// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_paths.h"

#include "compiler/codegen/kernel/bodies/one_pass.h"
#include "compiler/codegen/kernel/bodies/read_orders.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;
// Threads of a whole GPU: 132 multiprocessors have place for 2048 each. Few rows take as many as they can use of them.
constexpr int64_t kThreadsOfGpu = 256 << 10;
constexpr uint32_t kMostOfFewRows = 128;
// Of few rows of so many vectors, a block of this many threads has more loads on their way.
constexpr uint32_t kMostThreads = 1024;
constexpr uint32_t kMostOnePass = 512;
// Vectors on their way of each thread that reads a row in a loop.
constexpr uint32_t kLoopedAtOnce = 4;
// Rows that are read in a loop, and so few, are read by clusters: blocks enough for all multiprocessors, or nearly so.
constexpr int64_t kRowsOfClusters = 32;
constexpr int64_t kLongRow = 16 << 10;
// Registers for the elements of a row that a thread keeps, over all tensors; of 1024 threads each has half as many.
constexpr uint32_t kMaxKept = 64;
// The same where the length is not known: conditions under which elements exist take registers, too. What is not
// computed again takes less, and is counted as it lies in memory; so is what many lanes keep, who have vectors enough
// that all but a few exist.
constexpr uint32_t kFewKept = 16, kFewSeenOnce = 32;
// Elements of a thread that has some more, so that fewer threads have none.
constexpr uint32_t kMostPlaces = 32;
constexpr uint32_t kManyLanes = 128;
// Of each block of a cluster. Two of them are on a multiprocessor, so that one loads while the other computes: they
// share its 64 K registers, of which the elements get so many, and its 227 KiB of shared memory.
constexpr uint32_t kClusterThreads = 512;
constexpr uint32_t kMostBlocks = 8;
constexpr uint32_t kClusterKept = 24;
constexpr uint32_t kClusterSharedBytes = 112 << 10;
// Of clusters that are computed together, two on each multiprocessor: rows that are fewer have larger ones
// (../README.md has what that is worth).
constexpr int64_t kClusterBlocksAtOnce = 264;

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

bool isNarrow(const RowDemand &demand) {
  return demand.width > 4;
}

/// Of short rows a thread has two vectors: as many loads on their way as with two rows, and half as many exchanges (an
/// H200, layernorm 1048576 x 128 bf16: 142 us instead of 160, of unknown length 152 instead of 203). Of two rows of
/// unknown length ptxas puts the second load behind what waits for the first (softmax 1048576 x 128 f32 284 -> 254 us).
bool takesPairs(const RowDemand &demand) {
  return demand.again && demand.tensors == 1;
}

/// What threads compute of vectors that the row has not takes time, too: half as many threads with more vectors each
/// have less of it (777 f32: 64 threads have place for 256 vectors of which there are 194, 32 threads for 224).
bool halvesLanes(const RowDemand &demand, int64_t vectors, uint32_t lanes) {
  const auto placesOf = [&](uint32_t lanes) { return llvm::alignTo(uint64_t(vectors), lanes); };
  return lanes <= kRowThreads && demand.tensors == 1 &&
         demand.width * llvm::divideCeil(vectors, lanes / 2) <= kMostPlaces &&
         8 * placesOf(lanes / 2) <= 7 * placesOf(lanes);
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

/// The smallest cluster that keeps rows of so many vectors, if there is one, and of few rows a larger one. What is
/// around the vectors of ragged rows takes no place of one (RowVectors::edges).
std::optional<RowPath> clusterOf(const RowDemand &demand, int64_t vectors, std::optional<int64_t> rows) {
  uint32_t least = 2;
  while (rows && least < kMostBlocks && 2 * least * *rows <= kClusterBlocksAtOnce &&
         vectors > int64_t(2 * least * kClusterThreads * chunksIn(kClusterKept, demand)))
    least *= 2; // some of it stays in shared memory
  for (uint32_t blocks = least; blocks <= kMostBlocks; blocks *= 2) {
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

/// A row that is read in a loop: by more threads, and by several blocks, where rows are few and long.
RowPath loopOf(RowPath path, int64_t vectors, std::optional<int64_t> rows) {
  if (!rows || *rows > kThreadsOfGpu / (2 * kMostThreads) || vectors < 2 * kLoopedAtOnce * kMostThreads)
    return path;
  path.threads = path.lanes = kMostThreads;
  while (path.blocks < kMostBlocks && 2 * path.blocks * *rows <= kRowsOfClusters * kMostBlocks &&
         vectors >= int64_t(2) * path.blocks * kLoopedAtOnce * kMostThreads)
    path.blocks *= 2;
  return path;
}

} // namespace

/// Where a row is many pieces, the widest vectors that a piece of known length is a multiple of.
static uint32_t widthInPieces(uint32_t width, const GroupShape &shape) {
  const std::optional<int64_t> piece = shape.axes.back().size;
  if (shape.reducedAxes().size() < 2 || !piece || *piece % 2 != 0)
    return width;
  while (width > 2 && *piece % width != 0)
    width /= 2;
  return width;
}

/// Where bodies alone read anything along rows, by place, vectors are theirs: each asks whether it is aligned. Rows of
/// a known length are whole ones; others would have code for every alignment in each of their kernels (an H200, sums of
/// pads of unknown size: 447 us element by element, 635 in vectors).
static uint32_t widthInReads(const KernelFunction &kernel, const GroupShape &shape) {
  const std::optional<int64_t> piece = shape.axes.back().size;
  if (!piece)
    return 1;
  // Less than half a vector is no faster than elements one by one (pairs of 393 x 22 bf16: 12.0 -> 16.6 us).
  const uint32_t most = widthOfReads(kernel, shape, shape.axes.size() - 1);
  for (uint32_t width : {most, most / 2})
    if (width > 1 && *piece % width == 0)
      return width;
  return 1;
}

RowDemand RowDemand::of(const KernelFunction &kernel, const GroupShape &shape) {
  uint32_t width = vectorWidth(kernel, shape, shape.axes.size() - 1);
  if (width == 1)
    width = widthInReads(kernel, shape);
  width = widthInPieces(narrowedByCalls(kernel, width), shape);
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
    else if (takesPairs(demand) && isNarrow(demand) && path.lanes > 2 && vectors <= kWarp)
      path.lanes /= 2;
    else if (demand.again && isNarrow(demand) && vectors > 2 * kWarp)
      path.lanes = 2 * kWarp;
  } else if (!demand.again) {
    path.lanes = vectors <= 8 * kWarp ? kWarp : kRowThreads;
  } else {
    const int64_t each = std::min<int64_t>(4, mostChunks(demand, kRowThreads));
    path.threads = path.lanes = std::clamp(powerOfTwo(llvm::divideCeil(vectors, each)), 64u, 1024u);
    if (halvesLanes(demand, vectors, path.lanes))
      path.threads = path.lanes /= 2;
  }
  // Measured: what a warp reads once in four steps it does as fast; what it computes again, it does not.
  const bool mayWait = demand.again == (vectors <= 4 * kWarp);
  for (const uint32_t most = demand.again ? kMostOfFewRows : kRowThreads;
       rows && mayWait && path.lanes < most && 2 * path.lanes <= vectors && 2 * path.lanes * *rows <= kThreadsOfGpu;)
    path.lanes *= 2;
  if (path.lanes > kWarp)
    path.threads = path.lanes;
  if (columns <= 0)
    return path;
  if (!demand.again)
    return loopOf(path, vectors, rows);
  const int64_t needed = llvm::divideCeil(vectors, path.lanes);
  // What one pass is enough for is read once in any case: it needs no block of so many threads that few of them are on
  // a multiprocessor, unless rows are few (an H200, logsumexp 4096 x 30522 bf16: 119 us, in a loop 79).
  const bool areFew = rows && path.lanes * *rows <= kThreadsOfGpu;
  const bool isLong = demand.onePass && path.lanes > kMostOnePass && !areFew;
  if (!isLong && needed <= mostChunks(demand, path.threads)) {
    path.chunks = needed;
    path.rows = rowsAtOnce(demand, path.lanes, path.chunks);
    return path;
  }
  if (!demand.onePass)
    if (std::optional<RowPath> cluster = clusterOf(demand, vectors, rows))
      return *cluster;
  if (path.lanes > kRowThreads) // it is read in a loop, where more threads gain nothing
    path.threads = path.lanes = kRowThreads;
  return loopOf(path, vectors, rows);
}

namespace {

/// Paths of rows of any length, each longer than those before.
class PathList {
public:
  explicit PathList(const RowDemand &demand) : demand_(demand) {}

  /// Rows that `lanes` threads keep, `chunks` vectors or fewer each.
  /// @param ofFew lanes where rows are so few that threads would be idle; 0: the same
  void addKept(uint32_t lanes, uint32_t chunks, uint32_t ofFew = 0) {
    addPath(lanes, std::min(chunks, keptBy(lanes)), ofFew);
  }
  /// Many lanes may keep twice as many vectors each as fewer ones, four times as long a row together. Between those,
  /// two vectors a thread: what a row has not would take as long as what it has (an H200, layernorm of unknown length,
  /// 65536 x 2048 bf16: 222 -> 134 us).
  void addBetween() {
    if (const uint32_t most = keptBy(kManyLanes); most > keptBy(kManyLanes - 1))
      addPath(llvm::bit_floor(kManyLanes * most / 4), 2, /*ofFew=*/0);
  }
  /// Rows that are read in a loop; by more threads where they are few.
  void addLooped(uint32_t lanes, int64_t longest) {
    add({.lanes = lanes, .threads = kRowThreads}, longest, demand_.width > 1 ? kMostThreads : 0);
  }
  /// The longest ones; those that are not read again by more threads where rows are few.
  void addRest() {
    if (demand_.again && !demand_.onePass && demand_.width > 1) {
      const uint32_t most = chunksIn(kClusterKept, demand_) + kClusterSharedBytes / (bytes() * kClusterThreads);
      // What shared memory does not take is left to L1, through which registers are loaded (an H200, 8192 x 131072 f32
      // in 112 KiB of each block: softmax 2650 us, layernorm 2910; in 80 KiB 2520 and 2750).
      for (uint32_t blocks : {2u, 4u, kMostBlocks})
        addCluster(blocks, llvm::bit_floor(most));
      addCluster(kMostBlocks, most);
    }
    if (demand_.width > 1) // two vectors for each thread of a cluster
      addLooped(kRowThreads, 2 * int64_t(kMostBlocks) * kMostThreads * demand_.width);
    RowPath looped{.above = reached_};
    if (demand_.width > 1) {
      RowPath fewest = looped;
      fewest.lanes = fewest.threads = kMostThreads;
      fewest.blocks = kMostBlocks;
      fewest.mostRows = looped.moreRowsThan = kRowsOfClusters;
      paths_.push_back(fewest);
    }
    if (!demand_.again) {
      RowPath few = looped;
      few.lanes = few.threads = kMostThreads;
      few.mostRows = looped.moreRowsThan = kThreadsOfGpu / kMostThreads;
      paths_.push_back(few);
    }
    paths_.push_back(looped);
  }
  SmallVector<RowPath> take() { return std::move(paths_); }

private:
  uint32_t bytes() const { return std::max(4u, demand_.bytes); } // a group may read none
  /// Vectors that a thread keeps.
  uint32_t keptBy(uint32_t lanes) const {
    auto inRegisters = [&](uint32_t registers) { return std::max(1u, registers * 4 / bytes()); };
    if (!demand_.again)
      return inRegisters(kFewSeenOnce);
    return lanes >= kManyLanes ? inRegisters(kFewKept) : chunksIn(kFewKept, demand_);
  }
  void addPath(uint32_t lanes, uint32_t kept, uint32_t ofFew) {
    RowPath path{.lanes = lanes,
                 .chunks = kept,
                 .threads = lanes > kWarp ? lanes : kRowThreads,
                 .rows = rowsAtOnce(demand_, lanes, kept)};
    const int64_t around = holdsEdges(lanes) ? demand_.width - 1 : 0;
    add(path, int64_t(lanes) * kept * demand_.width + around, ofFew);
  }
  void add(RowPath path, int64_t longest, uint32_t ofFew) {
    if (longest <= reached_)
      return;
    path.above = std::exchange(reached_, longest);
    path.longest = longest;
    if (ofFew != 0) {
      RowPath few = path;
      few.lanes = few.threads = ofFew;
      few.chunks = llvm::divideCeil(path.chunks * path.lanes, ofFew);
      few.rows = 1;
      few.mostRows = path.moreRowsThan = kThreadsOfGpu / ofFew;
      paths_.push_back(few);
    }
    paths_.push_back(path);
  }

  void addCluster(uint32_t blocks, uint32_t vectors) {
    const uint32_t chunks = std::min(vectors, chunksIn(kClusterKept, demand_));
    const int64_t longest = int64_t(blocks) * kClusterThreads * vectors * demand_.width;
    if (uint64_t(vectors - chunks) * demand_.bytes * kClusterThreads > kClusterSharedBytes || longest <= reached_)
      return;
    paths_.push_back({.above = reached_,
                      .longest = longest,
                      .lanes = kClusterThreads,
                      .chunks = chunks,
                      .shared = vectors - chunks,
                      .blocks = blocks,
                      .threads = kClusterThreads});
    reached_ = longest;
  }

  const RowDemand demand_;
  SmallVector<RowPath> paths_;
  int64_t reached_ = 0; // longest row that has a path
};

} // namespace

/// Of short rows, which are few, a warp is as good as less.
/// @param mayBeEmpty the path of any length stays: it alone can do without an element
static void limitTo(SmallVector<RowPath> &paths, int64_t longest, bool mayBeEmpty) {
  llvm::erase_if(paths, [&](const RowPath &path) {
    return path.lanes < kWarp || (path.above >= longest && !(mayBeEmpty && path.longest == kAnyLength));
  });
  const int64_t least = paths.front().above;
  for (RowPath &path : paths)
    path.above = path.above == least ? 0 : path.above;
}

/// The first of what is left takes shorter rows as well, should there be any.
static void beginAt(SmallVector<RowPath> &paths, int64_t shortest) {
  llvm::erase_if(paths, [&](const RowPath &path) { return path.longest < shortest; });
  for (RowPath &path : paths)
    path.above = path.above < shortest ? 0 : path.above;
}

SmallVector<RowPath> rowPathsOfAnyLength(const RowDemand &demand, std::optional<int64_t> longest, int64_t shortest) {
  PathList paths(demand);
  if (!demand.again) {
    for (auto [lanes, chunks] : {std::pair(1u, 1u), {1u, 2u}, {4u, 2u}, {8u, 2u}, {16u, 2u}, {kWarp, 4u}})
      paths.addKept(lanes, chunks);
    paths.addKept(kWarp, 8, kRowThreads);
    paths.addKept(kRowThreads, 4);
    paths.addLooped(kRowThreads, kLongRow * demand.width);
  } else {
    for (uint32_t lanes : {1u, 2u})
      paths.addKept(lanes, 1);
    const uint32_t each = takesPairs(demand) ? 2 : 1;
    for (uint32_t lanes : {4u, 8u, 16u, kWarp})
      paths.addKept(lanes / each, each);
    paths.addKept(kWarp, 4, kMostOfFewRows);
    for (uint32_t lanes : {64u, 128u, 256u}) {
      if (lanes == kManyLanes)
        paths.addBetween();
      paths.addKept(lanes, 4);
    }
    if (!demand.onePass)
      for (uint32_t lanes = 512; lanes <= (isNarrow(demand) ? 512 : kMostThreads); lanes *= 2)
        paths.addKept(lanes, 4);
  }
  paths.addRest();
  SmallVector<RowPath> all = paths.take();
  if (longest)
    limitTo(all, *longest, shortest == 0);
  beginAt(all, shortest);
  return all;
}

} // namespace tenon::compiler::codegen
