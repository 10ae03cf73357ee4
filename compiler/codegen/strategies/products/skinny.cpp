// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/skinny.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/skinny/skinny_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/strategies/products/contraction.h"
#include "compiler/codegen/strategies/products/plans/steps_ahead.h"
#include "compiler/codegen/strategies/products/plans/tiles/fitted_tiles.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/analysis/products/small_products.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tenon::compiler::dispatch::kLeastReduced, tenon::compiler::dispatch::kLeastWide;
using tenon::compiler::dispatch::kMostFew, tenon::compiler::dispatch::kMostFewScalar,
    tenon::compiler::dispatch::mostFewRead;

namespace tenon::compiler::codegen {
namespace {

// Of unknown sizes: two kernels, so that one row does not pay for many.
constexpr int64_t kVeryFew = 8, kFew = 32;
// Where tiles compute weights, of more they are faster.
constexpr int64_t kFewBesideTiles = 16;
// Blocks that keep the queues of a large device's memory full; of fewer, each has more threads.
constexpr int64_t kEnoughBlocks = 240, kMultiprocessors = abi::kHopperMultiprocessors;
constexpr uint32_t kFewestThreads = 128, kThreads = 256, kManyThreads = 512;
// Of more rows, short sums are added sooner than more warps multiply them (an H200, 32 x 1024 x 1024: 2.9 us, with
// kThreads 2.7).
constexpr uint32_t kMostFewOfManyWarps = 16;
// Of a block that sums them with all of its warps, four for each group of lanes.
constexpr int64_t kRowsOfManyBytes = 32;
// Along the sum: rows of the wide side that a lane multiplies at once. More take more registers than there are.
constexpr int64_t kMostRowsOfLane = 4;

SmallVector<Extent> extentsOf(const GroupShape &shape, ArrayRef<unsigned> axes) {
  SmallVector<SpaceAxis> chosen;
  for (unsigned axis : axes)
    chosen.push_back(shape.axes[axis]);
  return codegen::extentsOf(chosen);
}

/// Whether everything but the product is computed from its result, or is part of an operand.
bool fitsGroup(const KernelFunction &kernel, const GroupShape &shape) {
  return llvm::all_of(kernel.ops, [&](const KernelOp &op) {
    const bool isStored = llvm::any_of(op.outputs, [](const KernelOutput &output) { return output.isStored; });
    return shape.group.isPerRow(op.op) || (!isStored && !shape.group.knowsReduction(op.op->getResult(0)));
  });
}

bool multipliesByWarps(const Product &product) {
  Type element = product.warpElement();
  return element && !element.isTF32();
}

/// Nothing where it is none of these.
std::optional<Product> productOf(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<Product> product = Product::of(kernel, shape);
  if (!product || (product->rows.empty() && product->columns.empty()) || !fitsGroup(kernel, shape) ||
      dispatch::readsWindows(product->op->op))
    return std::nullopt;
  return product;
}

/// What a kernel's choices say.
SkinnyShape shapeOf(llvm::function_ref<int64_t(StringRef)> choice, uint32_t threads) {
  return {.fewAreRows = choice("few_side") == 1,
          .few = uint32_t(choice("few")),
          .positions = uint32_t(choice("positions")),
          .depthWarps = std::min(uint32_t(choice("depth_warps")), threads / 32),
          .turns = uint32_t(choice(kTurnsOfWarp)),
          .isRing = choice(kRing) != 0};
}

class Planner {
public:
  Planner(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Product &product)
      : name_(name), kernel_(kernel), shape_(shape), product_(product), rows_(shape.sizeOf(product.rows)),
        columns_(shape.sizeOf(product.columns)), batch_(shape.sizeOf(product.batch)),
        reduced_(shape.sizeOf(product.reduced)), ahead_(kernel, shape, product) {}

  /// @param given what is said of it; null: what is best
  std::vector<Plan> run(const TileChoice *given = nullptr);
  std::vector<TileChoice> choices();

private:
  Plan planOf(bool fewAreRows, uint32_t few, const TileChoice *given = nullptr) const;
  /// Positions of a lane where the wide side lies across.
  uint32_t mostAcross(const Operand &wide, uint32_t few) const {
    return std::clamp(product_.widthOf(wide, shape_), 2u, few <= 16 ? 8u : few <= 32 ? 4u : 2u);
  }

  Plan ringOf(const SkinnyShape &how) const;

  /// Whether rows of both sides are known to be whole vectors (dispatch/analysis/products/hopper_tf32.h).
  bool hasBoxes() const {
    return llvm::all_of(ArrayRef<const Operand *>{&product_.left, &product_.right}, [&](const Operand *side) {
      return shape_.axes[side->vectorAxis].size.value_or(1) * dispatch::elementBytes(side->value.getType()) % 16 == 0;
    });
  }

  /// Whether more rows are few (dispatch/analysis/products/small_products.h), of a right side that is only read.
  bool isSmall() const {
    const Type factor = product_.right.factor;
    return (factor.isF16() || factor.isBF16()) && columns_ && batch_ && reduced_ && hasBoxes() &&
           dispatch::isSmallProduct(*columns_ * *batch_, *reduced_);
  }

  /// Whether tiles compute the wide side from weights of few bits, faster than this kernel does where there are more
  /// than a few rows.
  bool isOfTiles() const {
    func::FuncOp function = kernel_.function;
    return function->hasAttr(dispatch::kHopperOnlyAttr) && ComputedTile::operandOf(product_, shape_);
  }

  const StringRef name_;
  const KernelFunction &kernel_;
  const GroupShape &shape_;
  const Product &product_;
  const std::optional<int64_t> rows_, columns_, batch_, reduced_;
  const StepsAhead ahead_;
  bool isAsked_ = false; // whether somebody asks what there is, also where tiles are faster
};

TileChoice choiceOfPlan(const Plan &plan) {
  TileChoice choice = {kBySkinny.str(),
                       {{"few", plan.choice("few")},
                        {"positions", plan.choice("positions")},
                        {"threads", plan.threads},
                        {"depth_warps", plan.choice("depth_warps")}}};
  for (const auto &[name, value] : plan.choices)
    if (name == kTurnsOfWarp || name == kRing)
      choice.numbers.emplace_back(name.str(), value);
  return choice;
}

Plan Planner::ringOf(const SkinnyShape &how) const {
  const uint32_t threads = threadsAhead(how);
  Plan plan{name_,
            threads,
            {{"few_side", how.fewAreRows ? 1 : 2},
             {"few", how.few},
             {"positions", how.positions},
             {"depth_warps", how.depthWarps},
             {kTurnsOfWarp, how.turns},
             {kRing, 1}},
            {{{Extent{kBlocksOfRing, {}}}, 1}}};
  plan.dynamicSharedBytes = skinnyRingBytes(product_, shape_, how, threads);
  return plan;
}

Plan Planner::planOf(bool fewAreRows, uint32_t few, const TileChoice *given) const {
  const Operand &wide = fewAreRows ? product_.right : product_.left;
  const std::optional<int64_t> wideSize = fewAreRows ? columns_ : rows_;
  SkinnyShape how{.fewAreRows = fewAreRows, .few = few, .positions = 2, .depthWarps = 0};
  if (!wide.isAlongReduced)
    how.positions = mostAcross(wide, few);
  // Of bytes, and what is computed from 16 of them, each lane brings twice as many rows at once: what the few are read
  // for is halved.
  const bool areBytes = multipliesByWarps(product_) && (dispatch::elementBytes(wide.value.getType()) == 1 ||
                                                        (!wide.isCopied() && product_.widthOf(wide, shape_) >= 16));
  if (wide.isAlongReduced && areBytes && few <= 16 &&
      wideSize.value_or(0) * batch_.value_or(1) >= kEnoughBlocks * kRowsOfManyBytes)
    how.positions = 4;
  // Where elements come one by one, what more than eight rows are read for is halved, too (an H200: tf32 tt 9 x 3644 x
  // 8313 77 us, with four rows of a lane 56).
  const bool isSingle = !multipliesByWarps(product_) && areReadSingly(product_, shape_, wide) &&
                        wideSize.value_or(0) * batch_.value_or(1) >= kMultiprocessors / 2 * kRowsOfManyBytes;
  if (wide.isAlongReduced && isSingle && few > 8)
    how.positions = 4;
  auto blocksOf = [&](uint32_t threads) {
    return int64_t(llvm::divideCeil(uint64_t(wideSize.value_or(INT32_MAX)), widePerBlock(how, threads))) *
           batch_.value_or(1);
  };
  uint32_t threads = kThreads;
  // A warp has a step of its own at least.
  const bool isPacked = multipliesByWarps(product_) && !wide.isCopied();
  const uint32_t stepDepth = isPacked ? std::min(skinnyDepth(product_, shape_, wide), 64u) : 32;
  auto divide = [&] {
    const uint64_t steps = llvm::divideCeil(uint64_t(reduced_.value_or(INT32_MAX)), stepDepth);
    how.depthWarps = uint32_t(std::min<uint64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(steps, 2)), threads / 32));
    const uint32_t bytes = dispatch::elementBytes(product_.sum.sum.type);
    while (skinnyPartBytes(how, threads, bytes) > kMostSkinnyBytes && how.depthWarps < threads / 32)
      how.depthWarps *= 2;
  };
  divide();
  // Of short sums a block has fewer warps for each, and more rows.
  if (wide.isAlongReduced && how.positions > 2 && !isSingle && blocksOf(threads) < kEnoughBlocks) {
    how.positions = 2;
    divide();
  }
  while (how.positions > 2 && !wide.isAlongReduced && blocksOf(threads) < kEnoughBlocks / 2)
    how.positions /= 2;
  const bool isShort = reduced_ && *reduced_ <= dispatch::kMostReducedOfSmall;
  if (blocksOf(threads) < kEnoughBlocks && (few <= kMostFewOfManyWarps || !isShort)) {
    threads = kManyThreads;
    divide();
    if (how.depthWarps < kManyThreads / 32) { // more than share a sum would only make blocks fewer
      threads = kThreads;
      divide();
    }
  }
  if (given) {
    how.positions = uint32_t(given->number("positions"));
    how.depthWarps = uint32_t(given->number("depth_warps"));
    threads = uint32_t(given->number("threads"));
  }
  if (!given)
    if (const std::optional<SkinnyShape> ahead = ahead_.best(fewAreRows, few)) {
      if (ahead->isRing)
        return ringOf(*ahead);
      how = *ahead;
      threads = threadsAhead(how);
    }
  if (given) {
    how.turns = uint32_t(given->number(kTurnsOfWarp));
    how.isRing = given->number(kRing) != 0;
    if (how.isRing)
      return ringOf(how);
  }
  const SmallVector<Extent> fewExtents = extentsOf(shape_, fewAreRows ? product_.rows : product_.columns),
                            wideExtents = extentsOf(shape_, wide.across);
  Plan plan{
      name_,
      threads,
      {{"few_side", fewAreRows ? 1 : 2}, {"few", few}, {"positions", how.positions}, {"depth_warps", how.depthWarps}},
      {{extentsOf(shape_, product_.batch), 1},
       {fewExtents, int64_t(few)},
       {wideExtents, int64_t(widePerBlock(how, threads))}}};
  if (how.hasRounds())
    plan.choose(kTurnsOfWarp, how.turns);
  return plan;
}

/// Around what is best: more and fewer positions of a lane, threads, warps that divide the sum.
std::vector<TileChoice> Planner::choices() {
  isAsked_ = true;
  const std::vector<Plan> best = run();
  if (best.size() != 1)
    return {}; // of an unknown number of rows there are several kernels
  const bool fewAreRows = best.front().choice("few_side") == 1;
  const Operand &wide = fewAreRows ? product_.right : product_.left;
  const int64_t few = best.front().choice("few"), warps = best.front().choice("depth_warps");
  std::vector<TileChoice> choices;
  for (int64_t each = 2; each <= 8; each *= 2) {
    // Across, a lane has as many positions as it loads at once, or fewer; along the sum they are rows of their own.
    if (wide.isAlongReduced ? each > kMostRowsOfLane : each > mostAcross(wide, uint32_t(few)))
      continue;
    for (int64_t threads : {kThreads, kManyThreads})
      for (int64_t divided : {warps / 2, warps, warps * 2}) {
        const SkinnyShape how{.fewAreRows = fewAreRows,
                              .few = uint32_t(few),
                              .positions = uint32_t(each),
                              .depthWarps = uint32_t(divided)};
        const uint32_t bytes = dispatch::elementBytes(product_.sum.sum.type);
        if (divided >= 1 && divided <= threads / 32 &&
            skinnyPartBytes(how, uint32_t(threads), bytes) <= kMostSkinnyBytes)
          choices.push_back(
              {kBySkinny.str(), {{"few", few}, {"positions", each}, {"threads", threads}, {"depth_warps", divided}}});
      }
  }
  for (const SkinnyShape &how : ahead_.all(fewAreRows, uint32_t(few))) {
    if (how.isRing)
      choices.push_back(choiceOfPlan(ringOf(how)));
    else
      choices.push_back({kBySkinny.str(),
                         {{"few", few},
                          {"positions", how.positions},
                          {"threads", threadsAhead(how)},
                          {"depth_warps", how.depthWarps},
                          {kTurnsOfWarp.str(), how.turns}}});
  }
  return choices;
}

std::vector<Plan> Planner::run(const TileChoice *given) {
  if (reduced_ && *reduced_ < kLeastReduced)
    return {};
  func::FuncOp function = kernel_.function;
  const bool isTf32 = product_.warpElement() && function->hasAttr(dispatch::kHopperOnlyAttr) && hasBoxes();
  const int64_t mostOfAny = multipliesByWarps(product_)    ? kMostFew
                            : isTf32                       ? dispatch::kMostFewOfTf32
                            : product_.left.factor.isF64() ? dispatch::kMostFewOfDoubles
                                                           : kMostFewScalar;
  const bool fewAreRows = !rows_      ? !(columns_ && *columns_ <= mostOfAny)
                          : !columns_ ? *rows_ <= mostOfAny
                                      : *rows_ <= *columns_;
  const bool isOnlyRead = (fewAreRows ? product_.right : product_.left).plain != nullptr;
  const std::optional<int64_t> few = fewAreRows ? rows_ : columns_, wide = fewAreRows ? columns_ : rows_;
  const int64_t most = shape_.gatesAxis                              ? kMostFew // no other strategy has them
                       : !multipliesByWarps(product_) || !isOnlyRead ? mostOfAny
                       : fewAreRows && isSmall()                     ? dispatch::kMostFewOfSmall
                       : fewAreRows && (product_.right.isAlongReduced || hasBoxes()) ? mostFewRead(wide.value_or(0))
                                                                                     : dispatch::kMostFewRead;
  const bool areInTiles = isOfTiles();
  if (few && areInTiles && *few > kFewBesideTiles)
    return {};
  if (wide && *wide < std::max(kLeastWide, few.value_or(0)))
    return {};
  if (few) {
    const bool isLeft = !given && !isAsked_ && fewAreRows && !shape_.gatesAxis;
    if (*few > most || (isLeft && areTilesFaster(kernel_, shape_, product_)))
      return {};
    return {planOf(fewAreRows, std::max<uint32_t>(8, llvm::PowerOf2Ceil(*few)), given)};
  }
  std::vector<Plan> others = Contraction().plans(kernel_, shape_);
  if (others.empty()) // a tree reduction that someone else computes
    return {};
  const SmallVector<Extent> length = extentsOf(shape_, fewAreRows ? product_.rows : product_.columns);
  std::vector<Plan> plans = {planOf(fewAreRows, kVeryFew)};
  plans.back().guards = {Guard{length, 0, kVeryFew}};
  int64_t mostOfPlans = kVeryFew;
  if (multipliesByWarps(product_)) {
    const int64_t more = areInTiles ? kFewBesideTiles : kFew;
    plans.push_back(planOf(fewAreRows, uint32_t(more)));
    plans.back().guards = {Guard{length, mostOfPlans, more}};
    mostOfPlans = more;
  }
  for (Plan &other : others) {
    other.guards.push_back(Guard{length, mostOfPlans});
    plans.push_back(other);
  }
  return plans;
}

} // namespace

std::vector<Plan> Skinny::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Product> product = productOf(kernel, shape);
  return product ? Planner(name(), kernel, shape, *product).run() : std::vector<Plan>();
}

std::vector<TileChoice> Skinny::choices(const KernelFunction &kernel, const GroupShape &shape,
                                        const abi::TargetArch &) const {
  const std::optional<Product> product = productOf(kernel, shape);
  return product ? Planner(name(), kernel, shape, *product).choices() : std::vector<TileChoice>();
}

std::vector<Plan> Skinny::plansWith(const KernelFunction &kernel, const GroupShape &shape,
                                    ArrayRef<GivenChoice> given) const {
  const std::optional<Product> product = productOf(kernel, shape);
  return Planner(name(), kernel, shape, *product).run(&given.front().choice);
}

std::optional<TileChoice> Skinny::choiceOf(const KernelFunction &, const GroupShape &, const Plan &plan,
                                           const abi::TargetArch &) const {
  return choiceOfPlan(plan);
}

std::optional<Plan> Skinny::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

bool Skinny::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kFewestThreads || value == kThreads || value == kManyThreads;
  if (choice == "few_side")
    return value == 1 || value == 2;
  if (choice == "few")
    return value >= 8 && value <= kMostFew;
  if (choice == "positions")
    return value == 2 || value == 4 || value == 8;
  if (choice == kRing)
    return value == 1;
  if (choice == kTurnsOfWarp)
    return value == 2 || value == 4 || value == 8;
  return choice != "depth_warps" || value <= int64_t(kThreads / 32) || value == int64_t(kManyThreads / 32);
}

StringRef Skinny::whyNot(const KernelFunction &kernel) const {
  auto choice = [&](StringRef name) {
    auto given = kernel.strategy.getAs<IntegerAttr>(name);
    return given ? given.getInt() : 0;
  };
  if (!kernel.strategy.get(kTurnsOfWarp) && !kernel.strategy.get(kRing))
    return {};
  if (choice(kTurnsOfWarp) == 0)
    return "has a 'ring' of steps in 'turns'";
  const GroupShape shape = GroupShape::of(kernel);
  const std::optional<Product> product = productOf(kernel, shape);
  const SkinnyShape how = shapeOf(choice, kernel.threads);
  if (threadsAhead(how) != kernel.threads)
    return "has 'turns' where all warps divide the sum: with 'depth_warps' of 'threads' / 32";
  if (!product || !StepsAhead(kernel, shape, *product).canBe(how))
    return "has 'turns' for a few rows and weights of four bits, of sums that are whole rounds of all warps, where "
           "sm_90a is the only target";
  return {};
}

void Skinny::write(Writer &writer) const {
  const std::optional<Product> product = Product::of(writer.kernel, writer.shape);
  const SkinnyShape how = shapeOf([&](StringRef name) { return writer.choiceOr(name, 0); }, writer.k.threads);
  writeSkinnyProduct({.kernel = writer.kernel,
                      .shape = writer.shape,
                      .product = *product,
                      .k = writer.k,
                      .space = writer.space,
                      .bodies = writer.bodies,
                      .rows = 0,
                      .columns = 0,
                      .depth = 0,
                      .tensorMaps = {},
                      .target = writer.target.number},
                     how, hasTensorCoresFor(*product, writer.target));
}

} // namespace tenon::compiler::codegen
