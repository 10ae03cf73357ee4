// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/attention.h"

#include "compiler/codegen/attention/apart_heads.h"
#include "compiler/codegen/attention/few_queries/few_queries_attention.h"
#include "compiler/codegen/attention/few_queries/key_ring.h"
#include "compiler/codegen/attention/few_queries/wide_attention.h"
#include "compiler/codegen/attention/few_queries/wide_groups.h"
#include "compiler/codegen/attention/hopper/chain/warpgroup_chain.h"
#include "compiler/codegen/attention/hopper/part_results.h"
#include "compiler/codegen/attention/hopper/warpgroup_attention.h"
#include "compiler/codegen/attention/scalar_attention.h"
#include "compiler/codegen/attention/tensor_core_attention.h"
#include "compiler/codegen/strategies/products/parted_tiles.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kLargeTile = 128, kSmallTile = 64;
// Columns of values that a block computes at once; of more, each part computes the scores again.
constexpr int64_t kMostColumns = 256, kPartColumns = 128;
// As many tiles of 128 rows keep a large device busy; of fewer rows smaller tiles are made. Warpgroups gain from large
// ones with fewer.
constexpr int64_t kManyTiles = 128, kEnoughTiles = 64;
// Elements of sums that a block makes 0.
constexpr int64_t kClearedByBlock = 16 * int64_t(kScalarAttentionThreads);

/// Whether tensor cores compute it, where there are some: all depths are known, and fit.
std::optional<TensorCoreAttentionShape> tensorCoreShapeOf(const GroupShape &shape, const Attention &attention,
                                                          int64_t rows) {
  auto fits = [](std::optional<int64_t> size) { return size && *size > 0 && *size <= kMostColumns; };
  const std::optional<int64_t> columns = shape.sizeOf(attention.output.columns);
  if (!attention.tensorCoreElement() || !fits(columns))
    return std::nullopt;
  SmallVector<uint32_t, 2> depths;
  for (const Product *product : attention.inner()) {
    const std::optional<int64_t> depth = shape.sizeOf(product->reduced);
    if (!fits(depth))
      return std::nullopt;
    depths.push_back(uint32_t(*depth));
  }
  TensorCoreAttentionShape found =
      TensorCoreAttentionShape::of(uint32_t(rows), depths, uint32_t(*columns), attention.isChain);
  found.isLaunch = attention.isPart;
  return found;
}

/// What multiplies, the best that a target has. The numbers are variantFor's.
enum class Multiplier : unsigned { Scalar, TensorCore, Warpgroup };

Multiplier multiplierOf(const abi::TargetArch &target) {
  if (target == kHopper)
    return Multiplier::Warpgroup;
  return target.number >= 80 ? Multiplier::TensorCore : Multiplier::Scalar;
}

std::optional<WarpgroupAttentionShape> warpgroupShapeOf(const GroupShape &shape, const Attention &attention,
                                                        int64_t rows) {
  if (attention.isChain)
    return std::nullopt;
  return rows == kLargeTile ? WarpgroupAttentionShape::of(shape, attention)
                            : WarpgroupAttentionShape::aloneOf(shape, attention);
}

/// Of warpgroups that share the keys of a tile, as a plan says it.
std::optional<WarpgroupAttentionShape> partedOf(const KernelFunction &kernel, const GroupShape &shape,
                                                const Attention &attention) {
  auto consumers = kernel.strategy.getAs<IntegerAttr>(kTileConsumers);
  if (!consumers)
    return std::nullopt;
  std::optional<WarpgroupAttentionShape> found = WarpgroupAttentionShape::of(shape, attention);
  if (found) {
    found->consumers = uint32_t(consumers.getInt());
    found->parts = uint32_t(
        kernel.strategy.getAs<IntegerAttr>(kernel.strategy.contains(kKeyParts) ? kKeyParts : kAddsParts).getInt());
  }
  return found;
}

std::optional<WarpgroupChainShape> warpgroupChainOf(const GroupShape &shape, const Attention &attention, int64_t rows) {
  return rows == kWarpgroupChainRows ? WarpgroupChainShape::of(shape, attention) : std::nullopt;
}

} // namespace

std::optional<Plan> AttentionStrategy::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Attention> attention = attentionOf(kernel, shape);
  if (!attention)
    return std::nullopt;
  auto extents = [&](ArrayRef<unsigned> axes) {
    SmallVector<SpaceAxis> chosen;
    for (unsigned axis : axes)
      chosen.push_back(shape.axes[axis]);
    return extentsOf(chosen);
  };
  const Product &output = attention->output;
  const std::optional<int64_t> depth = shape.sizeOf(attention->scores.reduced), width = shape.sizeOf(output.columns),
                               batch = shape.sizeOf(output.batch), length = shape.sizeOf(output.rows);
  // Few queries are one tile, whose blocks know their rows.
  const auto few = FewQueriesShape::of(shape, *attention);
  const int64_t columns = width && (*width <= kMostColumns || few)
                              ? std::max<int64_t>(1, llvm::divideCeil(*width, kSmallTile)) * kSmallTile
                              : kPartColumns;
  // Sums of many columns take the registers of more rows.
  const bool isDeep = (depth && *depth > kPartColumns) || columns > kPartColumns;
  // A launch gives all targets the same shared memory: Hopper's is more than others have.
  const auto cores = tensorCoreShapeOf(shape, *attention, kLargeTile);
  const bool mayHaveGroups = kernel.function->hasAttr(dispatch::kHopperOnlyAttr) ||
                             (attention->isChain ? cores && !cores->isDynamic() : !isDeep);
  const bool hasGroups = mayHaveGroups && (warpgroupChainOf(shape, *attention, kLargeTile) ||
                                           warpgroupShapeOf(shape, *attention, kLargeTile));
  const int64_t enough = hasGroups ? kEnoughTiles : kManyTiles;
  const bool isSmall = ((isDeep || attention->second) && !hasGroups) || !cores ||
                       (batch && length && *batch * int64_t(llvm::divideCeil(*length, kLargeTile)) < enough);
  const bool isAlone = hasGroups && warpgroupShapeOf(shape, *attention, kSmallTile);
  const int64_t rows = (few ? *length <= kSmallTile : isSmall || isAlone) ? kSmallTile : kLargeTile;
  Plan plan{name(),
            kScalarAttentionThreads,
            {{"rows", rows}, {"columns", columns}, {"cluster", 1}},
            {{extents(output.batch), 1}, {extents(output.rows), rows}, {extents(output.columns), columns}}};
  if (few) {
    plan.dynamicSharedBytes = few->isShared() ? KeyRing::bytes(*few) : 0;
    return plan;
  }
  const auto chosen = tensorCoreShapeOf(shape, *attention, rows);
  if (const auto groups = warpgroupShapeOf(shape, *attention, rows)) {
    plan.dynamicSharedBytes = warpgroupAttentionBytes(*groups); // the others have enough without
    MLIRContext *context = output.left.value.getContext();
    for (const TileMap *map : groups->maps())
      plan.tensorMaps.push_back(map->type(context));
  } else if (const auto chain = warpgroupChainOf(shape, *attention, rows)) {
    plan.dynamicSharedBytes = warpgroupChainBytes(*chain);
    for (const TileMap *map : chain->maps())
      plan.tensorMaps.push_back(map->type(output.left.value.getContext()));
  } else if (attention->twin) {
    for (const Attention &part : attention->parts())
      if (const auto each = tensorCoreShapeOf(shape, part, rows))
        plan.dynamicSharedBytes = std::max(plan.dynamicSharedBytes, tensorCoreAttentionBytes(*each));
  } else if (chosen && chosen->isDynamic()) {
    plan.dynamicSharedBytes = tensorCoreAttentionBytes(*chosen);
  }
  return plan;
}

/// Kernels that read the keys of few queries, from the plan of one without clusters and parts.
static std::vector<Plan> fewQueriesPlans(const Plan &alone, const FewQueriesShape &few, const GroupShape &shape,
                                         const Attention &attention) {
  auto extent = [](int64_t size) { return GridFactor{{Extent{size, Value()}}, 1}; };
  std::vector<Plan> plans;
  for (const KeySharing &sharing : few.sharings(shape, attention)) {
    Plan plan = alone;
    plan.choose("cluster", sharing.cluster);
    if (sharing.above != 0 || sharing.most)
      plan.guards = {Guard{extentsOf(shape.axes[attention.output.reduced.back()]), sharing.above, sharing.most,
                           /*orEmpty=*/sharing.above == 0}};
    plan.grid.push_back(extent(int64_t(few.groups()) * sharing.cluster * sharing.parts));
    plans.push_back(plan);
    if (sharing.parts == 1)
      continue;
    plans.back().choose(kKeyParts, sharing.parts);
    if (few.resident() == 1 && few.isBrief(shape, attention))
      plans.back().choose(kOneBlock, 1);
    plans.front().scratch = {
        {attention.output.sum.sum.type,
         {Extent{keyPartsElements(few, *shape.sizeOf(attention.output.batch), sharing.parts), Value()}}}};
    plan.choose(kAddsParts, sharing.parts);
    const int64_t tiles = *shape.sizeOf(attention.output.batch);
    plan.dynamicSharedBytes = keyPartsSharedBytes(few, plan.dynamicSharedBytes, tiles);
    plan.grid.back() = extent(int64_t(few.groups()) * few.rowsOfBlock() * keyPartsSplit(few, tiles));
    plans.push_back(plan);
  }
  return plans;
}

/// Kernels of warpgroups that share the keys of a tile, behind that of whole tiles where keys may be few.
static std::vector<Plan> partedPlans(const Plan &whole, const PartedTiles &parted, const GroupShape &shape,
                                     const Attention &attention) {
  auto extent = [](int64_t size) { return GridFactor{{Extent{size, Value()}}, 1}; };
  const WarpgroupAttentionShape &tiles = parted.shape;
  const int64_t batch = *shape.sizeOf(attention.output.batch), rows = *shape.sizeOf(attention.output.rows),
                count = batch * int64_t(llvm::divideCeil(rows, tiles.rows()));
  Plan plan{
      whole.strategy,
      kScalarAttentionThreads,
      {{"rows", tiles.rows()}, {"columns", whole.choice("columns")}, {"cluster", 1}, {kTileConsumers, tiles.consumers}},
      {extent(count), extent(tiles.parts)}};
  const SmallVector<Extent> keys = extentsOf(shape.axes[attention.output.reduced.back()]);
  if (parted.above != 0)
    plan.guards = {Guard{keys, parted.above, std::nullopt}};
  plan.dynamicSharedBytes = warpgroupAttentionBytes(tiles);
  for (const TileMap *map : tiles.maps())
    plan.tensorMaps.push_back(map->type(attention.output.left.value.getContext()));
  Plan adding = plan;
  plan.choose(kKeyParts, tiles.parts);
  adding.choose(kAddsParts, tiles.parts);
  adding.grid = {extent(PartResults::blocks(tiles, batch * rows))};
  adding.tensorMaps.clear();
  adding.dynamicSharedBytes = 0;
  std::vector<Plan> plans;
  if (parted.above != 0) {
    plans.push_back(whole);
    plans.back().guards = {Guard{keys, 0, parted.above, /*orEmpty=*/true}};
  }
  plans.push_back(plan);
  plans.push_back(adding);
  plans.front().scratch = {{attention.output.sum.sum.type, {Extent{PartResults::elements(tiles, count), Value()}}}};
  return plans;
}

/// What blocks of triplets add up begins as 0, by a kernel in front.
std::vector<Plan> AttentionStrategy::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Plan> plan = this->plan(kernel, shape);
  if (!plan)
    return {};
  const std::optional<Attention> attention = attentionOf(kernel, shape);
  if (const auto parted = PartedTiles::of(shape, *attention))
    return partedPlans(*plan, *parted, shape, *attention);
  if (const auto few = FewQueriesShape::of(shape, *attention))
    return fewQueriesPlans(*plan, *few, shape, *attention);
  if (!attention->across)
    return {*plan};
  if (!warpgroupChainOf(shape, *attention, plan->choice("rows"))) {
    func::FuncOp(kernel.function).emitError()
        << "no kernel can be generated that adds up these gradients by queries in any order: use --sum-order=fixed";
    return {};
  }
  const KernelTensor &sums = attention->across->op->outputs.front().tensor;
  return {{name(),
           kScalarAttentionThreads,
           {{"rows", plan->choice("rows")}, {"columns", plan->choice("columns")}, {"cluster", 1}, {"clears", 1}},
           {{llvm::to_vector(sums.shape), kClearedByBlock}}},
          *plan};
}

/// A block's part of what is added up.
static void writeZeros(Writer &writer, const KernelTensor &sums) {
  KernelBuilder &k = writer.k;
  Value count = k.number(1);
  for (const Extent &extent : sums.shape)
    count = k.mul(count, writer.arguments.sizeOf(k.b, k.loc, extent));
  Value first = k.mul(k.block(), k.number(kClearedByBlock));
  Value last = k.min(k.add(first, k.number(kClearedByBlock)), count);
  Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getF32FloatAttr(0)), base = writer.bodies.base(sums);
  k.loop(k.add(first, k.thread()), last, k.number(k.threads), {}, [&](Value element, ValueRange) {
    k.store(zero, k.at(base, k.b.getF32Type(), element), sizeof(float));
    return SmallVector<Value>();
  });
}

bool AttentionStrategy::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kScalarAttentionThreads;
  if (choice == "clears" || choice == kOneBlock)
    return value == 1;
  if (choice == kTileConsumers)
    return value == 1 || value == 2;
  if (choice == kKeyParts || choice == kAddsParts)
    return value > 1 && value <= FewQueriesShape::kMostParts;
  if (choice == "rows")
    return value == kSmallTile || value == kLargeTile;
  if (choice == "cluster")
    return value == 1 || value == 2 || value == 4 || value == 8;
  return value > 0 && value <= FewQueriesShape::kMostWideColumns && value % kSmallTile == 0;
}

uint32_t AttentionStrategy::threadsFor(const KernelFunction &kernel, const abi::TargetArch &target) const {
  const GroupShape shape = GroupShape::of(kernel);
  const std::optional<Attention> attention = attentionOf(kernel, shape);
  auto rows = kernel.strategy.getAs<IntegerAttr>("rows");
  if (kernel.strategy.contains("clears") || kernel.strategy.contains(kAddsParts))
    return kernel.threads;
  const Multiplier multiplier = multiplierOf(target);
  const auto parted = attention ? partedOf(kernel, shape, *attention) : std::nullopt;
  if (parted && multiplier == Multiplier::Warpgroup)
    return parted->threads();
  const auto few = attention ? FewQueriesShape::of(shape, *attention) : std::nullopt;
  if (few && multiplier != Multiplier::Scalar)
    return few->threads();
  if (!attention || !rows || multiplier == Multiplier::Scalar || !tensorCoreShapeOf(shape, *attention, rows.getInt()))
    return kernel.threads;
  if (multiplier == Multiplier::Warpgroup && warpgroupChainOf(shape, *attention, rows.getInt()))
    return kWarpgroupChainThreads;
  const auto groups = warpgroupShapeOf(shape, *attention, rows.getInt());
  return multiplier == Multiplier::Warpgroup && groups ? groups->threads() : kTensorCoreAttentionThreads;
}

unsigned AttentionStrategy::variantFor(const abi::TargetArch &target) const {
  return unsigned(multiplierOf(target));
}

static void writeFewQueries(Writer &writer, const AttentionKernel &kernel, const FewQueriesShape &few, bool isScalar) {
  const auto cluster = uint32_t(writer.choice("cluster"));
  // One of the two kernels that share parts, or a kernel without them.
  const bool addsParts = writer.kernel.strategy.contains(kAddsParts);
  const auto parts = uint32_t(writer.choiceOr(addsParts ? kAddsParts : kKeyParts, 1));
  if (isScalar && !addsParts) {
    // Of the blocks that share a tile, the first has it, or the first ones some columns of it each.
    KernelBuilder &k = writer.k;
    const int64_t blocks = int64_t(few.groups()) * cluster * parts, across = kernel.columns / kPartColumns;
    AttentionKernel own = kernel;
    if (kernel.columns % kPartColumns == 0 && blocks >= across)
      own.columns = kPartColumns;
    const int64_t inUse = kernel.columns / own.columns;
    Value tile = k.div(k.block(), k.number(blocks)), inTile = k.rem(k.block(), k.number(blocks));
    return k.when(k.less(inTile, k.number(inUse)),
                  [&] { writeScalarAttention(own, k.add(k.mul(tile, k.number(inUse)), inTile)); });
  }
  if (isScalar)
    return;
  const auto writeWide = few.isInGroups ? writeWideGroups : writeWideAttention;
  if (parts == 1)
    return few.isWide ? writeWide(kernel, few, nullptr) : writeFewQueriesAttention(kernel, few, cluster);
  const KeyParts shared{parts, few.rowsOfBlock(), few.wholeColumns(),
                        writer.arguments.pointers[writer.kernel.scratch.back().binding]};
  if (!addsParts)
    return few.isWide ? writeWide(kernel, few, &shared) : writeFewQueriesParts(kernel, few, shared);
  const int64_t tiles = *writer.shape.sizeOf(kernel.attention.output.batch);
  writeKeyPartsSum(kernel, few, shared, keyPartsSplit(few, tiles));
}

/// Plans with parts are for sm_90a alone; whatever else is asked for has no kernel.
static void writeParted(Writer &writer, const AttentionKernel &kernel, const WarpgroupAttentionShape &parted,
                        Multiplier multiplier) {
  if (multiplier != Multiplier::Warpgroup) {
    func::FuncOp(writer.kernel.function).emitError() << "parts of the keys of tiles are for sm_90a alone";
    return;
  }
  const KeyParts parts{parted.parts, parted.rows(), parted.columns,
                       writer.arguments.pointers[writer.kernel.scratch.back().binding]};
  if (writer.kernel.strategy.contains(kAddsParts))
    return PartResults::write(kernel, parts);
  const SmallVector<Value> &maps = writer.arguments.tensorMaps;
  Attention wrapping = kernel.attention;
  wrapping.tilesWrap = true;
  writeWarpgroupAttention(kernel.with(wrapping), parted,
                          maps.size() == parted.maps().size() ? ValueRange(maps) : ValueRange(), &parts);
}

static void writeOne(Writer &writer, const Attention &given, Multiplier multiplier) {
  const Attention *attention = &given;
  const AttentionKernel kernel{.kernel = writer.kernel,
                               .shape = writer.shape,
                               .attention = *attention,
                               .k = writer.k,
                               .space = writer.space,
                               .bodies = writer.bodies,
                               .rows = uint32_t(writer.choice("rows")),
                               .columns = uint32_t(writer.choice("columns"))};
  const auto cores = tensorCoreShapeOf(writer.shape, *attention, kernel.rows);
  if (const auto parted = partedOf(writer.kernel, writer.shape, *attention))
    return writeParted(writer, kernel, *parted, multiplier);
  if (const auto few = FewQueriesShape::of(writer.shape, *attention))
    return writeFewQueries(writer, kernel, *few, multiplier == Multiplier::Scalar);
  if (!cores || multiplier == Multiplier::Scalar)
    return writeScalarAttention(kernel, writer.k.block());
  if (const auto groups = warpgroupShapeOf(writer.shape, *attention, kernel.rows);
      groups && multiplier == Multiplier::Warpgroup) {
    const SmallVector<Value> &maps = writer.arguments.tensorMaps;
    AttentionKernel own = kernel;
    own.rows = groups->rows(); // blocks stay for all tiles, however many were launched
    return writeWarpgroupAttention(own, *groups,
                                   maps.size() == groups->maps().size() ? ValueRange(maps) : ValueRange());
  }
  if (const auto chain = warpgroupChainOf(writer.shape, *attention, kernel.rows);
      chain && multiplier == Multiplier::Warpgroup) {
    const SmallVector<Value> &maps = writer.arguments.tensorMaps;
    return writeWarpgroupChain(kernel, *chain, maps.size() == chain->maps().size() ? ValueRange(maps) : ValueRange());
  }
  writeTensorCoreAttention(kernel, *cores);
}

void AttentionStrategy::write(Writer &writer) const {
  const std::optional<Attention> attention = attentionOf(writer.kernel, writer.shape);
  const Multiplier multiplier = multiplierOf(writer.target);
  if (writer.choiceOr("clears", 0) != 0)
    return writeZeros(writer, attention->across->op->outputs.front().tensor);
  if (!attention->twin ||
      (multiplier == Multiplier::Warpgroup && warpgroupChainOf(writer.shape, *attention, writer.choice("rows"))))
    return writeOne(writer, *attention, multiplier);
  // Nobody computes both at once: one is computed behind the other.
  for (const Attention &part : attention->parts()) {
    writeOne(writer, part, std::min(multiplier, Multiplier::TensorCore));
    writer.k.barrier();
  }
}

} // namespace tenon::compiler::codegen
