// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/skinny/skinny_product.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/skinny/skinny_roles.h"
#include "compiler/codegen/kernel/narrow/scaled_numbers.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
using namespace skinny;

// Bytes of the wide side that a lane has on the way.
static constexpr uint32_t kBytesInFlight = 128;
// Of packed integers that a warp does in turn: steps that are on their way meanwhile.
static constexpr uint32_t kAhead = 1;

Value SkinnyProduct::fewPosition(uint32_t number) {
  Value inBlock = isMma_ ? k_.add(group_, k_.number(number * kFragment)) : k_.number(number);
  return k_.add(fewBase_, inBlock);
}

Value SkinnyProduct::widePosition(uint32_t number) {
  if (wide_.isAlongReduced)
    return k_.add(k_.add(wideBase_, group_), k_.number(number * kGroups));
  return k_.add(k_.add(wideBase_, k_.mul(group_, k_.number(how_.positions))), k_.number(number));
}

/// `count` elements along the operand's vector axis.
SkinnyProduct::Values SkinnyProduct::vectorOf(const Operand &operand, Value across, Value reduced, uint32_t count,
                                              bool isFast, bool mayEnd) {
  const uint32_t width = isFast ? std::min(count, product_.widthOf(operand, kernel_.shape)) : 1;
  Values values;
  for (uint32_t first = 0; first < count; first += width) {
    Value &moves = operand.isAlongReduced ? reduced : across;
    Value from = moves;
    moves = k_.add(from, k_.number(first));
    llvm::append_range(values, space_.read(operand, across, reduced, width, mayEnd));
    moves = from;
  }
  return extendedAll(operand, std::move(values));
}

SkinnyProduct::Values SkinnyProduct::extendedAll(const Operand &operand, Values values) {
  if (!isMma_)
    for (Value &value : values)
      value = extended(k_, operand, value, type_);
  return values;
}

/// A step's vectors of the wide side: on their way, not yet computed from.
SmallVector<TileSpace::Begun> SkinnyProduct::beginWide(Value step) {
  Value reduced = firstReduced(step);
  SmallVector<TileSpace::Begun> begun;
  const uint32_t count = wide_.isAlongReduced ? each_ : how_.positions,
                 width = std::min(count, product_.widthOf(wide_, kernel_.shape));
  for (uint32_t vector = 0, vectors = wide_.isAlongReduced ? how_.positions : each_; vector < vectors; ++vector)
    for (uint32_t first = 0; first < count; first += width) {
      Value across = widePosition(wide_.isAlongReduced ? vector : first);
      Value along = k_.add(reduced, k_.number(wide_.isAlongReduced ? first : vector));
      begun.push_back(space_.begin(wide_, across, along, width, /*mayEnd=*/false));
    }
  return begun;
}

void SkinnyProduct::finishWide(ArrayRef<TileSpace::Begun> begun, Step &step) {
  step.wide.assign(how_.positions, Values());
  uint32_t number = 0; // of an element, in the order of beginWide
  for (const TileSpace::Begun &vector : begun)
    for (Value value : extendedAll(wide_, space_.finish(vector)))
      step.wide[wide_.isAlongReduced ? number++ / each_ : number++ % how_.positions].push_back(value);
}

void SkinnyProduct::loadWide(Step &loaded, Value reduced, bool isFast, bool mayEnd) {
  if (wide_.isAlongReduced) {
    for (uint32_t position = 0; position < how_.positions; ++position)
      loaded.wide.push_back(vectorOf(wide_, widePosition(position), reduced, each_, isFast, mayEnd));
    return;
  }
  loaded.wide.assign(how_.positions, Values());
  for (uint32_t depth = 0; depth < each_; ++depth) {
    const Values values =
        vectorOf(wide_, widePosition(0), k_.add(reduced, k_.number(depth)), how_.positions, isFast, mayEnd);
    for (auto [position, value] : llvm::enumerate(values))
      loaded.wide[position].push_back(value);
  }
}

void SkinnyProduct::loadFew(Step &loaded, Value reduced, uint32_t count, bool isFast, bool mayEnd) {
  for (uint32_t number = 0; number < fewOfLane(); ++number) {
    Values &values = loaded.few.emplace_back();
    if (few_.isAlongReduced) {
      values = vectorOf(few_, fewPosition(number), reduced, count, isFast, mayEnd);
    } else {
      for (uint32_t depth = 0; depth < count; ++depth)
        llvm::append_range(values, vectorOf(few_, fewPosition(number), k_.add(reduced, k_.number(depth)), 1,
                                            /*isFast=*/false, mayEnd));
    }
  }
}

/// The few are read for 16 bytes of a lane's factors at a time: those of a longer step would take too many registers.
SkinnyProduct::Values SkinnyProduct::multiplyParts(const Step &wide, Value reduced, bool isFast, bool mayEnd,
                                                   Values sums) {
  const uint32_t count = isMma_ ? kBytesOfLane / dispatch::elementBytes(wide_.value.getType()) : each_;
  for (uint32_t first = 0; first < each_; first += count) {
    Step part;
    loadFew(part, k_.add(reduced, k_.number(first)), count, isFast, mayEnd);
    for (const Values &values : wide.wide)
      part.wide.emplace_back(ArrayRef<Value>(values).slice(first, count));
    sums = multiply(part, std::move(sums));
  }
  return sums;
}

/// Elements as registers of four bytes: that of a number.
Value SkinnyProduct::word(const Values &values, uint32_t number) {
  const uint32_t count = 4 / dispatch::elementBytes(values.front().getType());
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(count, values.front().getType()));
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t element = isApart_ ? number + i * uint32_t(values.size()) / 2 : number * count + i;
    all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, values[element], k_.number(i));
  }
  return LLVM::BitcastOp::create(k_.b, k_.loc, k_.b.getI32Type(), all);
}

/// Sums: [pair of positions][fragment of the few][4]. Of f8, what a step comes to is added to them (product.h).
SkinnyProduct::Values SkinnyProduct::multiplyMma(const Step &step, Values sums) {
  // Of the 32 bytes of reduced elements that an instruction takes a lane has two registers.
  static_assert(kBytesOfLane * kLanesOfGroup <= kMostNarrowlySummed); // a step of f8
  const bool isAdded = product_.addsSteps();
  Values products = isAdded ? Values(sums.size(), neutral(k_, product_.sum.sum)) : sums;
  for (uint32_t part = 0; part < kBytesOfLane / 4; part += 2) {
    SmallVector<Values> few;
    for (const Values &values : step.few)
      few.push_back({word(values, part), word(values, part + 1)});
    Value *first = products.begin();
    for (uint32_t position = 0; position < how_.positions; position += 2) {
      const Values &upper = step.wide[position], &lower = step.wide[position + 1];
      const Values wide = {word(upper, part), word(lower, part), word(upper, part + 1), word(lower, part + 1)};
      for (const Values &fragment : few) {
        llvm::copy(core_.multiply(wide, fragment, ArrayRef<Value>(first, 4)), first);
        first += 4;
      }
    }
  }
  if (isAdded)
    for (auto [product, sum] : llvm::zip_equal(products, sums))
      product = arith::AddFOp::create(k_.b, k_.loc, sum, product);
  return products;
}

/// Sums: [positions][few].
SkinnyProduct::Values SkinnyProduct::multiply(const Step &step, Values sums) {
  if (isMma_)
    return multiplyMma(step, std::move(sums));
  for (uint32_t depth = 0; depth < step.wide.front().size(); ++depth) {
    Value *sum = sums.begin();
    for (const Values &x : step.wide)
      for (const Values &y : step.few) {
        Value product = isa<FloatType>(type_) ? arith::MulFOp::create(k_.b, k_.loc, x[depth], y[depth]).getResult()
                                              : arith::MulIOp::create(k_.b, k_.loc, x[depth], y[depth]).getResult();
        *sum = combine(k_, product_.sum.sum, *sum, product);
        ++sum;
      }
  }
  return sums;
}

/// Where the wide side is computed from packed integers and all warps have the same few whole steps: so many.
std::optional<uint32_t> SkinnyProduct::stepsOfWarp() const {
  const std::optional<int64_t> reduced = space_.knownSize(product_.reduced);
  const int64_t ofWarps = int64_t(kernel_.depth) * how_.depthWarps;
  if (!isMma_ || wide_.isCopied() || !wide_.isAlongReduced || !reduced || *reduced % ofWarps != 0 ||
      *reduced / ofWarps > kMostStepsInTurn || kernel_.reducedPatches)
    return std::nullopt;
  return uint32_t(*reduced / ofWarps);
}

/// One step is on its way while the one before is computed: of more, warps would all wait, and then all compute.
SkinnyProduct::Values SkinnyProduct::stepsInTurn(uint32_t count, Values sums) {
  Bodies::Scope scope(bodies_);
  auto stepAt = [&](uint32_t i) { return k_.add(depthWarp_, k_.number(int64_t(i) * how_.depthWarps)); };
  SmallVector<SmallVector<TileSpace::Begun>> begun;
  for (uint32_t i = 0; i < count; ++i) {
    while (begun.size() < std::min(count, i + 1 + kAhead))
      begun.push_back(beginWide(stepAt(uint32_t(begun.size()))));
    k_.syncWarp(); // no load of a later step is brought before it
    Step step;
    finishWide(begun[i], step);
    sums = multiplyParts(step, firstReduced(stepAt(i)), /*isFast=*/true, /*mayEnd=*/false, std::move(sums));
  }
  return sums;
}

/// The sums, or, where numbers that were scaled are not exact, those that are computed without.
SkinnyProduct::Values SkinnyProduct::whereExact(Value unlike, Values sums) {
  ScaledNumbers *scaled = std::exchange(k_.scaledNumbers, nullptr);
  if (unlike) {
    Value none = arith::ConstantIntOp::create(k_.b, k_.loc, k_.b.getI32Type(), 0);
    auto compare = [&](arith::CmpIPredicate how, Value value) {
      return arith::CmpIOp::create(k_.b, k_.loc, how, value, none);
    };
    Value areExact = compare(arith::CmpIPredicate::eq, k_.ballot(compare(arith::CmpIPredicate::ne, unlike)));
    sums = k_.choose(
        areExact, SmallVector<Type>(sumCount(), type_), [&] { return sums; },
        [&] {
          return stepsOneByOne(depthWarp_, /*isFast=*/true, /*mayEnd=*/false,
                               Values(sumCount(), neutral(k_, product_.sum.sum)));
        });
  }
  k_.scaledNumbers = scaled;
  return sums;
}

/// Steps whose elements are read one by one: of more than eight rows there are not the registers for two, and of short
/// sums some warps would have one more.
uint32_t SkinnyProduct::singlyTogether() const {
  constexpr uint32_t kTogether = 2, kManySteps = 16;
  const std::optional<int64_t> reduced = space_.knownSize(product_.reduced);
  const bool areMany = !reduced || *reduced >= int64_t(kernel_.depth) * how_.depthWarps * kManySteps;
  return fewOfLane() <= kFragment && areMany ? kTogether : 1;
}

/// The warp's steps: several at a time, so that their loads do not wait for each other, then the rest one by one.
SkinnyProduct::Values SkinnyProduct::steps(bool isFast) {
  const uint32_t warps = how_.depthWarps;
  Values sums(sumCount(), neutral(k_, product_.sum.sum));
  const uint32_t length = wide_.isAlongReduced ? each_ : how_.positions, vectors = how_.positions * each_ / length;
  const uint32_t atOnce =
      std::clamp(kBytesInFlight / (vectors * Product::bytesOf(wide_, kernel_.shape, length)), 1u, 4u);
  if (const std::optional<uint32_t> count = isFast ? stepsOfWarp() : std::nullopt)
    return stepsInTurn(*count, std::move(sums));
  Value begin = depthWarp_;
  const bool areApart = !isFast && !isMma_ && space_.knownSize(product_.reduced);
  if (areApart || (isFast && atOnce > 1)) {
    const uint32_t together = isFast ? atOnce : singlyTogether();
    Value whole = k_.div(space_.reduced(), k_.number(int64_t(kernel_.depth) * together));
    sums = k_.loop(depthWarp_, whole, k_.number(warps), sums, [&](Value number, ValueRange carried) {
      Bodies::Scope scope(bodies_);
      auto stepAt = [&](uint32_t i) { return k_.add(k_.mul(number, k_.number(together)), k_.number(i)); };
      SmallVector<SmallVector<TileSpace::Begun>> begun;
      SmallVector<Step> loaded(together);
      for (uint32_t i = 0; i < together; ++i)
        if (isFast)
          begun.push_back(beginWide(stepAt(i)));
        else
          loadWide(loaded[i], firstReduced(stepAt(i)), isFast, /*mayEnd=*/false);
      Values next = llvm::to_vector(carried);
      for (uint32_t i = 0; i < together; ++i) {
        if (isFast)
          finishWide(begun[i], loaded[i]);
        next = multiplyParts(loaded[i], firstReduced(stepAt(i)), isFast, /*mayEnd=*/false, std::move(next));
      }
      return next;
    });
    begin = k_.add(k_.mul(whole, k_.number(together)), depthWarp_);
  }
  return stepsOneByOne(begin, isFast, /*mayEnd=*/true, std::move(sums));
}

SkinnyProduct::Values SkinnyProduct::stepsOneByOne(Value begin, bool isFast, bool mayEnd, Values sums) {
  Value count = k_.div(k_.add(space_.reduced(), k_.number(kernel_.depth - 1)), k_.number(kernel_.depth));
  return k_.loop(begin, count, k_.number(how_.depthWarps), sums, [&](Value step, ValueRange carried) {
    Bodies::Scope scope(bodies_);
    Step loaded;
    loadWide(loaded, firstReduced(step), isFast, mayEnd);
    return multiplyParts(loaded, firstReduced(step), isFast, mayEnd, llvm::to_vector(carried));
  });
}

/// Without tensor cores, for so many of the few the wide side is read at once: for up to 12 once. Of 16 there are not
/// the registers, nor of vectors where a lane has four rows.
uint32_t SkinnyProduct::fewAtOnceOf(int64_t few) const {
  constexpr int64_t kMostAtOnce = 12;
  const bool areFew = how_.positions <= 2 || areReadSingly(product_, kernel_.shape, wide_);
  const bool areAll = few <= kMostAtOnce && wide_.isAlongReduced && areFew && type_.isF32();
  return areAll ? std::max<int64_t>(few, 1) : std::clamp<int64_t>(few, 1, kFragment);
}

/// Some of the few, all of them with tensor cores.
void SkinnyProduct::runFew() {
  loadedCell_.reset();
  if (kernel_.shape.gatesAxis)
    loadCells();
  Value aligned = space_.isAligned(
      wide_, std::min(wide_.isAlongReduced ? each_ : how_.positions, product_.widthOf(wide_, kernel_.shape)));
  if (few_.isAlongReduced)
    aligned = k_.both(aligned, space_.isAligned(few_, std::min(each_, product_.widthOf(few_, kernel_.shape))));
  if (how_.hasRounds()) {
    inputs_.emplace(kernel_, wide_, each_);
    // Four bits each: their neighbours are a half of a word apart, where both are masked out of it at once.
    isApart_ = each_ == 2 * kBytesOfLane;
    aligned = k_.both(aligned, areSharedAligned());
  }
  Values sums = k_.choose(
      aligned, SmallVector<Type>(sumCount(), type_), [&] { return how_.hasRounds() ? rounds() : steps(true); },
      [&] { return steps(false); });
  if (!isMma_)
    for (uint32_t mask = 1; mask < kLanesOfGroup; mask *= 2)
      for (Value &sum : sums)
        sum = combine(k_, product_.sum.sum, sum, k_.shuffleXor(sum, mask));

  uint32_t warps = how_.depthWarps;
  sums = combineWarps(std::move(sums), warps);
  k_.when(k_.less(depthWarp_, k_.number(warps)), [&] { leave(sums, depthWarp_); });
  k_.barrier();
  storeResults(warps);
}

/// Of a multiprocessor. Of narrow tiles in rounds that are more than two blocks for each there are three.
uint32_t SkinnyProduct::residentThreads() const {
  constexpr uint32_t kFew = 512, kMany = 768;
  const std::optional<int64_t> across = space_.knownSize(wide_.across);
  const bool areMany = how_.hasRounds() && how_.positions == 2 && across &&
                       *across > int64_t(2 * abi::kHopperMultiprocessors) * widePerBlock(how_, k_.threads);
  return areMany ? kMany : kFew;
}

void SkinnyProduct::run() {
  k_.wantResident(residentThreads() / k_.threads);
  const uint32_t warps = k_.threads / kWarp;
  warpsAcross_ = warps / how_.depthWarps;
  wideOfWarp_ = kGroups * how_.positions;
  Value lane = k_.rem(k_.thread(), k_.number(kWarp)), warp = k_.div(k_.thread(), k_.number(kWarp));
  group_ = k_.div(lane, k_.number(kLanesOfGroup));
  lane_ = k_.rem(lane, k_.number(kLanesOfGroup));
  depthWarp_ = k_.rem(warp, k_.number(how_.depthWarps));
  firstWide_ = how_.fewAreRows ? space_.firstColumn() : space_.firstRow();
  wideBase_ = k_.add(firstWide_, k_.mul(k_.div(warp, k_.number(how_.depthWarps)), k_.number(wideOfWarp_)));
  fewBase_ = how_.fewAreRows ? space_.firstRow() : space_.firstColumn();
  if (!isMma_)
    if (std::optional<int64_t> known = space_.knownSize(few_.across))
      fewAtOnce_ = fewAtOnceOf(*known);
  const uint32_t rows = isMma_ ? how_.few : fewAtOnce_;
  const uint32_t bytes = rows * (warpsAcross_ * wideOfWarp_ + kPadding) * dispatch::elementBytes(type_);
  if (how_.isRing)
    return runTiles();
  arena_ = k_.shared(k_.b.getI8Type(), std::max(bytes, std::min(how_.depthWarps * bytes, kMostSkinnyBytes)));
  if (isMma_ || how_.few <= fewAtOnce_)
    return runFew();
  Value block = fewBase_;
  Value size = how_.fewAreRows ? space_.rows() : space_.columns();
  Value count = k_.min(k_.sub(size, block), k_.number(how_.few));
  k_.loop(k_.number(0), count, k_.number(fewAtOnce_), {}, [&](Value firstFew, ValueRange) {
    Bodies::Scope scope(bodies_);
    fewBase_ = k_.add(block, firstFew);
    runFew();
    k_.barrier();
    return SmallVector<Value>();
  });
}

void writeSkinnyProduct(ProductKernel kernel, const SkinnyShape &shape, bool hasTensorCores) {
  const Product &product = kernel.product;
  const Operand &wide = shape.fewAreRows ? product.right : product.left;
  const uint32_t across = widePerBlock(shape, kernel.k.threads);
  kernel.rows = shape.fewAreRows ? shape.few : across;
  kernel.columns = shape.fewAreRows ? across : shape.few;
  // What is rounded to tf32 saves no memory.
  const bool isMma = hasTensorCores && product.warpElement() && !product.warpElement().isTF32();
  kernel.depth = isMma                 ? skinnyDepth(product, kernel.shape, wide)
                 : wide.isAlongReduced ? kLanesOfGroup * std::clamp(product.widthOf(wide, kernel.shape), 2u, 8u)
                                       : kLanesOfGroup * 4;
  SkinnyProduct(kernel, shape, isMma).run();
}

} // namespace tenon::compiler::codegen
