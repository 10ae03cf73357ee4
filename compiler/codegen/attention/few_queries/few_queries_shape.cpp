// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/few_queries/few_queries_shape.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kMostCluster = 8; // that every device with clusters has
// Each group of rows reads the keys anew: that many must be there, and blocks be too few otherwise.
constexpr int64_t kLeastKeys = 1024, kMostTiles = 64, kFewGroups = 4, kMostBlocks = 128;
// Of fewer rows warps read memory as fast as there is something to read, and so they do of more tiles (measured on an
// H200: 8 rows of 64 tiles took 1.14 times as long, of 8 tiles 0.95). More groups in a block leave its sums no room.
constexpr uint32_t kLeastSharedRows = 5, kMostSharing = 4;
constexpr int64_t kMostSharedTiles = 32;
// What a block of sm_90 has of shared memory; of it, what is neither keys nor sums of a cluster; steps that are there
// or on their way.
constexpr uint32_t kSharedBytes = 227 << 10, kOtherSharedBytes = 8 << 10, kLeastStages = 3, kMostStages = 12,
                   kLeastGroupStages = 2, kLeastPortableStages = 2;
// What a block of sm_86 has: the least from sm_80 on.
constexpr uint32_t kPortableSharedBytes = 99 << 10;
// Logits of a step that a lane weighs, of 8 x 4 rows and 32 keys: more leave no registers for sums.
constexpr uint32_t kMostWideLogits = 1024;
// Of a multiprocessor, of a thread, those of it that hold neither keys, queries nor sums, and more of these where a
// second step is on its way.
constexpr uint32_t kAllRegisters = 65536, kMostRegisters = 255, kOtherRegisters = 30, kForSecond = 24;
// Measured on an H200: bytes that a multiprocessor reads in a microsecond for itself, and that any number of them do
// together; what a block takes beside, and the kernel that adds parts up, of keys that are copied and of others, which
// were not measured anew since both kernels are launched early.
constexpr double kBytesOfOne = 89e3, kBytesOfAll = 6.5e6, kMicrosecondsOfBlock = 1, kMicrosecondsOfParts = 0.9,
                 kMicrosecondsOfOtherParts = 2.5;
// A cluster's blocks run on multiprocessors that are near each other: of each block more, so many have none.
constexpr int64_t kLostToClusters = 4;
// More parts are to gain more than what this may be wrong by.
constexpr double kLeastGain = 0.03;
// Steps of a warp that are on their way at once, of most kinds of keys.
constexpr int64_t kStepsAtOnce = 2;
// Of keys and values, where blocks of the next call are launched while the last parts of this one are added up: on an
// H200 33 MB took 5 % less, 67 MB 2 %, 134 MB as long, and 268 MB 1 to 2 % more.
constexpr double kMostBriefBytes = 100e6;
// Of an unknown number of keys parts are chosen as of so many.
constexpr int64_t kManyKeys = 65536, kFewKeys = 256;

/// As many as an H100 or H200 has.
int64_t multiprocessors() {
  return abi::kHopperMultiprocessors;
}

/// Whether tiles are so many that blocks of two warps fill the device, in the last round, too: they do as much as
/// blocks of four, and fewer of them begin and end at once. On an H200 1024 tiles of 1024 keys took 0.985 of the time,
/// 2048 tiles of 512 keys 0.974, 528 of 64 keys 0.8; where the last round is half full, 1.03.
bool fillRounds(int64_t tiles, int64_t atOnce) {
  const int64_t rest = tiles % atOnce;
  return tiles >= atOnce && (rest == 0 || 8 * rest >= 7 * atOnce);
}

/// What takes time of an attention.
struct Reading {
  int64_t tiles;     // groups of rows included
  int64_t resident;  // blocks of a multiprocessor
  double bytesOfKey; // and of its values
  int64_t step;      // keys that a block reads at once
  bool isShared;     // by all warps, which read a step together
  bool areCopied;    // keys and values, as they lie in memory

  /// With `blocks` for each tile, of clusters or not.
  double microseconds(int64_t blocks, int64_t keys, bool isCluster) const {
    const int64_t lost = isCluster ? kLostToClusters * (blocks - 1) : 0;
    const auto all = double(tiles * blocks), atOnce = std::min(all, double((multiprocessors() - lost) * resident));
    // What a multiprocessor reads is one block's, where no other is there.
    const double sharing =
        areCopied ? std::min(double(resident), std::ceil(all / double(multiprocessors()))) : resident;
    const double rate = 1 / (sharing / kBytesOfOne + atOnce / kBytesOfAll);
    const auto whole = double((keys + blocks * step - 1) / (blocks * step) * step);
    return std::ceil(all / atOnce) *
           (keysOfBlock(double(keys) / double(blocks), whole) * bytesOfKey / rate + kMicrosecondsOfBlock);
  }

private:
  /// Where warps read for themselves, some wait for those that have a step more, and memory does not: half of it shows.
  double keysOfBlock(double average, double whole) const {
    if (isShared)
      return whole;
    return areCopied ? (average + whole) / 2 : average;
  }
};

bool isForHopperAlone(const Attention &attention) {
  auto function = attention.scores.op->op->getParentOfType<func::FuncOp>();
  return function->hasAttr(dispatch::kHopperOnlyAttr);
}

/// Whether parts have more steps than are on their way at once: then few rows, too, are faster with their keys in
/// shared memory (on an H200 8 tiles of 8192 keys 2 %, of 16384 3 %, of 65536 6 %). Blocks of a cluster are not, or of
/// few steps.
bool haveManySteps(const FewQueriesShape &shared, const GroupShape &shape, const Attention &attention) {
  const std::optional<int64_t> keys = shape.sizeOf(attention.output.reduced);
  const auto sharings = shared.sharings(shape, attention);
  const int64_t parts = sharings.front().parts;
  return keys && parts > 1 && *keys > parts * shared.stepKeys() * shared.stages();
}

/// The same with keys in shared memory, where that is faster: for sm_90a alone, since a launch gives all targets as
/// much of it.
FewQueriesShape sharedOf(const FewQueriesShape &alone, const GroupShape &shape, const Attention &attention,
                         std::optional<int64_t> batch) {
  const bool fits = isForHopperAlone(attention) && batch && *batch <= kMostSharedTiles &&
                    attention.scores.right.plain && attention.output.right.plain;
  if (!fits)
    return alone;
  FewQueriesShape shared = alone;
  shared.warps = FewQueriesShape::kManyWarps;
  shared.sharing = 1;
  // To read keys again from the second-level cache takes less than to multiply groups of no rows.
  while (shared.sharing < kMostSharing && alone.groups() % (2 * shared.sharing) == 0)
    shared.sharing *= 2;
  for (uint32_t sixteens : {2, 1}) {
    shared.sixteens = sixteens;
    if (shared.stages() < kLeastStages)
      continue;
    if (alone.rows >= kLeastSharedRows)
      return shared;
    return haveManySteps(shared, shape, attention) ? shared : alone;
  }
  return alone;
}

/// Whether blocks of four warps ask for all of their keys at once: then those of eight, of which each has half as much
/// on its way, only have more sums to add up. (On an H200 8 tiles of 1024 keys took 2.98 us instead of 3.50.)
bool hasFewSteps(const FewQueriesShape &found, const GroupShape &shape, const Attention &attention) {
  const std::optional<int64_t> keys = shape.sizeOf(attention.output.reduced);
  if (found.warps != FewQueriesShape::kManyWarps || !keys || !shape.sizeOf(attention.output.batch))
    return false;
  FewQueriesShape four = found;
  four.warps = FewQueriesShape::kFewWarps;
  const auto sharings = four.sharings(shape, attention);
  return sharings.size() == 1 && sharings.front().parts == 1 &&
         *keys <= int64_t(sharings.front().cluster) * four.stepKeys() * kStepsAtOnce;
}

/// What is read of a tensor: where an operand's element lies, by the axes of the group.
struct Place {
  Value tensor;
  AffineMap map;
};

/// Of an operand that is an element of memory as it stands, or of a part of a tensor that begins where this does, which
/// a body of its own reads (input/tensors/affine_reads).
std::optional<Place> placeOf(const Operand &operand, const KernelOp &op, const GroupShape &shape) {
  linalg::GenericOp reader = op.op;
  auto argument = dyn_cast<BlockArgument>(operand.value);
  if (!argument || argument.getOwner() != reader.getBody())
    return std::nullopt;
  Value tensor = reader.getMatchingOpOperand(argument)->get();
  if (operand.plain)
    return Place{tensor, shape.mapOf(operand.plain->tensor, reader)};
  auto view = tensor.getDefiningOp<linalg::GenericOp>();
  if (!view || !shape.group.contains(view) || view.getNumResults() != 1)
    return std::nullopt;
  auto read = view.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!read || !view.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  const SmallVector<unsigned> axes = shape.group.axisOf.lookup(view);
  SmallVector<AffineExpr> results;
  for (Value index : read.getIndices()) {
    APInt constant;
    if (auto loop = index.getDefiningOp<linalg::IndexOp>())
      results.push_back(getAffineDimExpr(axes[loop.getDim()], view.getContext()));
    else if (matchPattern(index, m_ConstantInt(&constant)))
      results.push_back(getAffineConstantExpr(constant.getSExtValue(), view.getContext()));
    else
      return std::nullopt;
  }
  return Place{read.getTensor(), AffineMap::get(shape.group.numAxes(), 0, results, view.getContext())};
}

/// Whether values are elements of the keys: column c that of depth c.
bool areKeys(const GroupShape &shape, const Attention &attention) {
  const Product &scores = attention.scores, &output = attention.output;
  const auto keys = placeOf(scores.right, *scores.op, shape), values = placeOf(output.right, *output.op, shape);
  if (!keys || !values || keys->tensor != values->tensor || scores.reduced.size() != 1 || output.columns.size() != 1)
    return false;
  const ArrayRef<unsigned> depth = shape.axes[scores.reduced.front()].axes,
                           columns = shape.axes[output.columns.front()].axes;
  const auto type = cast<RankedTensorType>(keys->tensor.getType());
  unsigned alongDepth = 0;
  for (auto [dimension, ofKeys] : llvm::enumerate(keys->map.getResults())) {
    const AffineExpr ofValues = values->map.getResult(dimension);
    auto isAxis = [](AffineExpr expr, ArrayRef<unsigned> axes) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return dim && axes.size() == 1 && dim.getPosition() == axes.front();
    };
    if (isAxis(ofKeys, depth) && isAxis(ofValues, columns))
      ++alongDepth;
    else if (ofKeys != ofValues && type.getDimSize(dimension) != 1)
      return false;
  }
  return alongDepth == 1;
}

/// Of depths or columns that no warp has the registers for; there is no other kernel with tensor cores for them.
std::optional<FewQueriesShape> wideOf(FewQueriesShape shape, const GroupShape &group, const Attention &attention) {
  shape.isWide = true;
  shape.warps = FewQueriesShape::kManyWarps;
  shape.sharing = 1;
  shape.valuesAreKeys =
      areKeys(group, attention) && shape.wholeColumns() <= shape.depthTiles() * FewQueriesShape::kTileDepth;
  const Operand &values = attention.output.right;
  if (!attention.scores.right.plain || (!shape.valuesAreKeys && (!values.plain || values.isAlongReduced)))
    return std::nullopt;
  shape.isPortable = !isForHopperAlone(attention);
  // Of 16 rows memory takes more time than products of warps do, of more less.
  shape.isInGroups = !shape.isPortable && shape.rows > FewQueriesShape::kRows;
  for (uint32_t sixteens : {4, 2}) {
    shape.sixteens = sixteens;
    if (shape.isInGroups && shape.stages() >= kLeastGroupStages)
      return shape;
  }
  shape.isInGroups = false;
  while (shape.blockRows() < std::min(shape.rows, FewQueriesShape::kMostWideRows))
    shape.sharing *= 2;
  for (uint32_t sixteens : {4, 2}) { // of fewer keys threads have less than a vector of a tile each
    shape.sixteens = sixteens;
    if (shape.stepKeys() * shape.blockRows() <= kMostWideLogits &&
        shape.stages() >= (shape.isPortable ? kLeastPortableStages : kLeastStages))
      return shape;
  }
  return std::nullopt;
}

} // namespace

uint32_t FewQueriesShape::stages() const {
  // Wide ones have no clusters.
  const uint32_t ofCluster = isWide ? 0 : rowsOfBlock() * wholeColumns() * uint32_t(sizeof(float));
  const uint32_t all = isPortable ? kPortableSharedBytes : kSharedBytes;
  const uint32_t free = all - kOtherSharedBytes - ofCluster - queryBytes();
  return std::min(free / stageBytes(), kMostStages);
}

std::optional<FewQueriesShape> FewQueriesShape::of(const GroupShape &shape, const Attention &attention) {
  const Product &scores = attention.scores, &output = attention.output;
  const std::optional<int64_t> rows = shape.sizeOf(output.rows), depth = shape.sizeOf(scores.reduced),
                               columns = shape.sizeOf(output.columns), batch = shape.sizeOf(output.batch),
                               keys = shape.sizeOf(output.reduced);
  const bool fits = !attention.isChain && attention.tensorCoreElement() && rows && *rows > 0 && *rows <= kMostRows &&
                    depth && *depth > 0 && *depth <= kMostWideDepth && *depth % kVector == 0 && columns &&
                    *columns > 0 && *columns <= kMostWideColumns && *columns % kVector == 0;
  if (!fits || !scores.left.isAlongReduced || !scores.right.isAlongReduced)
    return std::nullopt;
  // Many tiles are computed two to a multiprocessor, so that one reads while the other adds its sums up. Sums of more
  // rows or columns fill the shared memory.
  const bool areMany = *rows > kEight || *columns > kFewColumns || (batch && *batch >= 2 * multiprocessors());
  FewQueriesShape found{uint32_t(*rows), uint32_t(*depth), uint32_t(*columns), areMany ? kFewWarps : kManyWarps};
  if (*depth > kMostDepth || *columns > kMostColumns)
    return wideOf(found, shape, attention);
  if (output.right.isAlongReduced)
    return std::nullopt;
  if (*rows <= kEight && *columns <= kFewColumns && found.wholeDepth() + found.wholeColumns() > kFewRegisters &&
      batch && fillRounds(*batch, int64_t(kManyWarps / kLeastWarps) * multiprocessors()) && scores.right.plain &&
      output.right.plain)
    found.warps = kLeastWarps;
  const int64_t groups = found.groups();
  if (groups > 1 && (!batch || *batch > kMostTiles || (groups > kFewGroups && *batch * groups > kMostBlocks) ||
                     (keys && *keys < kLeastKeys)))
    return std::nullopt;
  if (groups == 1 && hasFewSteps(found, shape, attention))
    found.warps = kFewWarps;
  return sharedOf(found, shape, attention, batch);
}

uint32_t FewQueriesShape::ahead(uint32_t registers) const {
  const uint32_t all = std::min(kMostRegisters, kAllRegisters / (threads() * resident()));
  const uint32_t free = all - kOtherRegisters - (wholeDepth() / 8 + wholeColumns() / 4) * eights();
  if (free >= 3 * registers + kForSecond)
    return 2;
  return free >= 2 * registers ? 1 : 0;
}

bool FewQueriesShape::isBrief(const GroupShape &shape, const Attention &attention) const {
  const std::optional<int64_t> batch = shape.sizeOf(attention.output.batch),
                               keys = shape.sizeOf(attention.output.reduced);
  const unsigned bits = attention.tensorCoreElement().getIntOrFloatBitWidth();
  return batch && keys && double(*batch) * double(*keys) * (depth + columns) * bits / 8 <= kMostBriefBytes;
}

SmallVector<KeySharing, 2> FewQueriesShape::sharings(const GroupShape &shape, const Attention &attention) const {
  const std::optional<int64_t> batch = shape.sizeOf(attention.output.batch),
                               keys = shape.sizeOf(attention.output.reduced);
  const int64_t atOnce = multiprocessors() * resident();
  auto haveKeys = [&](int64_t blocks, int64_t keys) { return keys >= int64_t(stepKeys()) * blocks; };
  uint32_t cluster = isWide ? 1 : kMostCluster;
  while (cluster > 1 && ((batch && *batch * groups() * cluster > atOnce) || (keys && !haveKeys(cluster, *keys))))
    cluster /= 2;
  if (!batch || *batch == 0)
    return {{cluster}};

  const unsigned bits = attention.tensorCoreElement().getIntOrFloatBitWidth();
  const uint32_t elements = valuesAreKeys ? depth : depth + columns;
  const Reading reading{*batch * groups(),   resident(), double(elements * bits) / 8,
                        int64_t(stepKeys()), isShared(), attention.scores.right.plain && attention.output.right.plain};
  const int64_t many = keys.value_or(kManyKeys);
  auto clustered = [&](int64_t keys) { return reading.microseconds(cluster, keys, true); };
  // Each warp of a part has a step, of keys or of none.
  auto inParts = [&](int64_t parts, int64_t keys) {
    return reading.microseconds(parts, std::max(keys, int64_t(stepKeys()) * parts), false) +
           (reading.areCopied ? kMicrosecondsOfParts : kMicrosecondsOfOtherParts);
  };
  int64_t parts = 1;
  double least = clustered(many);
  for (int64_t more = 2; more <= kMostParts && haveKeys(more, many); ++more)
    if (inParts(more, many) < (1 - kLeastGain) * least) {
      parts = more;
      least = inParts(more, many);
    }
  if (parts == 1)
    return {{cluster}};
  if (keys)
    return {{1, uint32_t(parts)}};
  int64_t few = kFewKeys;
  while (few < many && clustered(few) < inParts(parts, few))
    few *= 2;
  return {{cluster, 1, 0, few}, {1, uint32_t(parts), few, std::nullopt}};
}

} // namespace tenon::compiler::codegen
