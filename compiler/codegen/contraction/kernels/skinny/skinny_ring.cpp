// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that go from tile to tile of a wide side that is computed from packed integers. All that a lane reads of those
// it copies to places of its own in shared memory (`cp.async`), a *round* of two steps at a time and a round ahead,
// across the ends of tiles:
//
//   memory --copies, a round ahead--> the lane's slots of one of two stages --> registers --> computed, multiplied
//
// Nobody else reads them, so a lane waits for its own copies alone, and warps meet once for each tile, where their sums
// come together. What all integers of a run have in common, a scale and a zero point, goes to registers a round ahead.
// Integers are converted to bf16 as scaled_numbers.h says; a tile of which something is not exact so is computed again.
#include "compiler/codegen/contraction/kernels/skinny/skinny_roles.h"
#include "compiler/codegen/kernel/narrow/scaled_numbers.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

using namespace skinny;

/// Bytes of a run that are copied, of what it is computed from.
static uint32_t copiedBytes(const RunInputs &inputs) {
  uint32_t bytes = 0;
  for (size_t input = 0; input < inputs.count(); ++input)
    bytes += inputs.bytes(input) == kRingCopied ? kRingCopied : 0;
  return bytes;
}

/// A block's tiles: every so many of them.
void SkinnyProduct::forEachTile(Values carried, llvm::function_ref<Values(Value, ValueRange)> body) {
  k_.loop(k_.block(), tiles(), k_.blocks(), carried, [&](Value tile, ValueRange now) {
    firstWide_ = wideBase_ = k_.mul(tile, k_.number(wideOfWarp_));
    return body(tile, now);
  });
}

Value SkinnyProduct::tiles() {
  return k_.number(int64_t(llvm::divideCeil(uint64_t(*space_.knownSize(wide_.across)), wideOfWarp_)));
}

void SkinnyProduct::runTiles() {
  inputs_.emplace(kernel_, wide_, each_);
  // Four bits each: their neighbours are a half of a word apart, where both are masked out of it at once.
  isApart_ = each_ == 2 * kBytesOfLane;
  ring_ = k_.dynamicShared();
  const int64_t ringBytes = int64_t(kRingStages) * runsOfRound() * k_.threads * copiedBytes(*inputs_);
  arena_ = k_.at(ring_, k_.b.getI8Type(), k_.number(ringBytes));
  Value aligned = k_.both(space_.isAligned(wide_, each_),
                          space_.isAligned(few_, std::min(each_, product_.widthOf(few_, kernel_.shape))));
  aligned = k_.both(aligned, areSharedAligned());
  k_.branch(
      aligned, [&] { runRing(); },
      [&] {
        forEachTile({}, [&](Value, ValueRange) {
          Bodies::Scope scope(bodies_);
          leave(steps(/*isFast=*/false), depthWarp_);
          k_.barrier();
          storeResults(how_.depthWarps);
          k_.barrier();
          return Values();
        });
      });
}

SkinnyProduct::Place SkinnyProduct::behind(const Place &place) {
  Value next = k_.add(place.step, k_.number(stepsOfRound())), isOfTile = k_.less(next, stepsOfTile());
  return {k_.select(isOfTile, place.tile, k_.add(place.tile, k_.blocks())), k_.select(isOfTile, next, firstStep())};
}

/// A lane's run in a turn of a round. Behind the last tile it is one of the first.
TileSpace::Begun SkinnyProduct::runAt(const Place &place, uint32_t turn, uint32_t position) {
  Value tile = k_.select(k_.less(place.tile, tiles()), place.tile, k_.number(0));
  Value first = k_.add(k_.mul(tile, k_.number(wideOfWarp_)), group_);
  return space_.at(wide_, k_.add(first, k_.number(position * kGroups)), firstReduced(stepOf(place, turn)), each_,
                   /*mayEnd=*/false);
}

/// Neighbouring threads have neighbouring slots: no two of a warp meet at a bank.
Value SkinnyProduct::ringSlot(Value stage, uint32_t run, size_t input) {
  uint32_t before = 0, all = copiedBytes(*inputs_) / kRingCopied;
  for (size_t each = 0; each < input; ++each)
    before += inputs_->bytes(each) == kRingCopied;
  Value row = k_.add(k_.mul(stage, k_.number(int64_t(runsOfRound() * all) * k_.threads)),
                     k_.number(int64_t(run * all + before) * k_.threads));
  return k_.at(ring_, VectorType::get(4, k_.b.getI32Type()), k_.add(row, k_.thread()));
}

/// Copies a round's packed integers into a stage.
void SkinnyProduct::ask(const Place &place, Value stage) {
  Value exists = k_.less(place.tile, tiles());
  for (uint32_t run = 0; run < runsOfRound(); ++run) {
    const TileSpace::Begun where = runAt(place, run / how_.positions, run % how_.positions);
    for (size_t input = 0; input < inputs_->count(); ++input)
      if (inputs_->bytes(input) == kRingCopied)
        core_.copyAsync(ringSlot(stage, run, input), inputs_->address(input, where), exists);
  }
  core_.closeGroup();
}

/// What is not copied, of all runs of a round, [position][input], and there for all turns at once or [turn].
SkinnyProduct::Values SkinnyProduct::loadOthers(const Place &place) {
  Values loaded;
  for (uint32_t position = 0; position < how_.positions; ++position)
    for (size_t input = 0; input < inputs_->count(); ++input) {
      if (inputs_->bytes(input) == kRingCopied)
        continue;
      if (isBesideNext(input)) {
        const uint32_t bytes = inputs_->bytes(input) * how_.turns;
        Type type = bytes % 4 == 0 ? Type(VectorType::get(bytes / 4, k_.b.getI32Type()))
                                   : Type(VectorType::get(how_.turns, inputs_->type(input)));
        loaded.push_back(k_.load(type, inputs_->address(input, runAt(place, 0, position)), bytes));
        continue;
      }
      for (uint32_t turn = 0; turn < how_.turns; ++turn)
        loaded.push_back(k_.load(inputs_->type(input), inputs_->address(input, runAt(place, turn, position)),
                                 inputs_->bytes(input)));
    }
  return loaded;
}

/// Of a turn, in the order in which they were loaded.
Value SkinnyProduct::takeOther(ArrayRef<Value> &others, uint32_t turn, size_t input) {
  if (!isBesideNext(input)) {
    Value value = others[turn];
    others = others.drop_front(how_.turns);
    return value;
  }
  auto type = VectorType::get(how_.turns, inputs_->type(input));
  Value all = others.front();
  others = others.drop_front();
  if (all.getType() != type)
    all = LLVM::BitcastOp::create(k_.b, k_.loc, type, all);
  return LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(turn));
}

/// Adds a turn's products to the sums. @param others of the round
SkinnyProduct::Values SkinnyProduct::multiplyTurn(const Place &place, uint32_t turn, Value stage,
                                                  ArrayRef<Value> others, Values sums) {
  SmallVector<Values> loaded(how_.positions); // [position][input]
  for (uint32_t position = 0; position < how_.positions; ++position)
    for (size_t input = 0; input < inputs_->count(); ++input)
      loaded[position].push_back(
          inputs_->bytes(input) != kRingCopied
              ? takeOther(others, turn, input)
              : k_.load(inputs_->type(input), ringSlot(stage, turn * how_.positions + position, input), kRingCopied));
  SmallVector<TileSpace::Begun> runs;
  for (uint32_t position = 0; position < how_.positions; ++position)
    runs.push_back(runAt(place, turn, position));
  return multiplyRuns(runs, loaded, firstReduced(stepOf(place, turn)), std::move(sums));
}

/// Adds the products of a step, of which packed integers are there. @param loaded [position][input]
SkinnyProduct::Values SkinnyProduct::multiplyRuns(ArrayRef<TileSpace::Begun> runs, ArrayRef<Values> loaded,
                                                  Value reduced, Values sums) {
  const uint32_t count = kBytesOfLane / dispatch::elementBytes(wide_.value.getType());
  SmallVector<Step> parts; // the few, as they are read 16 bytes at a time
  for (uint32_t first = 0; first < each_; first += count)
    loadFew(parts.emplace_back(), k_.add(reduced, k_.number(first)), count, /*isFast=*/true, /*mayEnd=*/false);
  SmallVector<Values> wide;
  for (uint32_t position = 0; position < how_.positions; ++position) {
    Bodies::Scope ofRun(bodies_);
    inputs_->stage(loaded[position]);
    wide.push_back(space_.finish(runs[position]));
  }
  bodies_.unstage();
  for (auto [number, part] : llvm::enumerate(parts)) {
    Step step{{}, part.few};
    for (const Values &values : wide)
      step.wide.emplace_back(ArrayRef<Value>(values).slice(number * count, count));
    sums = multiplyMma(step, std::move(sums));
  }
  return sums;
}

void SkinnyProduct::runRing() {
  const Place firstPlace{k_.block(), firstStep()};
  const Values begun = loadOthers(firstPlace);
  ask(firstPlace, k_.number(0));
  Value first = arena_;
  const uint32_t bytes = ringPartBytes(how_, k_.threads, type_);
  const size_t others = begun.size();
  Values state = {k_.number(0), k_.number(0)}; // where sums lie, the stage, and what is not copied
  state.append(begun);
  forEachTile(state, [&](Value tile, ValueRange ofTile) {
    Value turnOfSums = ofTile[0];
    Values carried = llvm::to_vector(ofTile.drop_front());
    carried.append(sumCount(), neutral(k_, product_.sum.sum));
    carried.push_back(arith::ConstantIntOp::create(k_.b, k_.loc, k_.b.getI32Type(), 0)); // what is not exact
    carried = k_.loop(firstStep(), stepsOfTile(), k_.number(stepsOfRound()), carried, [&](Value step, ValueRange now) {
      Bodies::Scope scope(bodies_);
      const Place here{tile, step}, next = behind(here);
      Value stage = now[0], other = k_.sub(k_.number(kRingStages - 1), stage);
      core_.waitForGroups(0);
      ask(next, other); // whose integers are in registers since the round before
      Values out = {other};
      out.append(loadOthers(next));
      const Values ofRound = llvm::to_vector(now.slice(1, others));
      Values sums = llvm::to_vector(now.slice(1 + others, sumCount()));
      ScaledNumbers scaled(k_, isApart_);
      for (uint32_t turn = 0; turn < how_.turns; ++turn)
        sums = multiplyTurn(here, turn, stage, ofRound, std::move(sums));
      out.append(sums);
      out.push_back(scaled.unlike() ? arith::OrIOp::create(k_.b, k_.loc, now.back(), scaled.unlike()) : now.back());
      return out;
    });
    arena_ = k_.at(first, k_.b.getI8Type(), k_.mul(turnOfSums, k_.number(bytes)));
    leave(whereExact(carried.back(), Values(ArrayRef<Value>(carried).slice(1 + others, sumCount()))), depthWarp_);
    k_.barrier();
    storeResults(how_.depthWarps);
    Values out = {k_.sub(k_.number(kRingTilesOfSums - 1), turnOfSums)};
    out.append(carried.begin(), carried.begin() + 1 + others);
    return out;
  });
  core_.waitForGroups(0);
  arena_ = first;
}

} // namespace tenon::compiler::codegen
