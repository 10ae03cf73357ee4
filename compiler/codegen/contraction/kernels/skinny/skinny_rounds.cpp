// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed integers in rounds: a warp has several steps beside each other, and asks for all of them before it computes
// the first. What all integers of a run have in common, a scale and a zero point, lies beside that of the next run,
// and one load brings it for all steps of the round.
//
//   a row of the wide side    | step 0 | step 1 | step 2 | step 3 |      a lane's 16 bytes of each
//   its scales                |      s0, s1, s2, s3               |      one load
#include "compiler/codegen/contraction/kernels/skinny/skinny_roles.h"
#include "compiler/codegen/kernel/narrow/scaled_numbers.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

using namespace skinny;

bool SkinnyProduct::isBesideNext(size_t input) const {
  return codegen::isBesideNext(product_, kernel_.shape, how_, wide_.inputs[input]);
}

/// Where they are, vectors of them are aligned.
Value SkinnyProduct::areSharedAligned() {
  Value aligned = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  for (size_t input = 0; input < inputs_->count(); ++input)
    if (isBesideNext(input))
      aligned = k_.both(
          aligned, bodies_.isAligned(wide_.inputs[input].input->tensor, int64_t(inputs_->bytes(input)) * how_.turns));
  return aligned;
}

/// [turn][position][input] of the round that begins with `step`.
SmallVector<SmallVector<SkinnyProduct::Values>> SkinnyProduct::loadRound(Value step) {
  SmallVector<SmallVector<Values>> loaded(how_.turns,
                                          SmallVector<Values>(how_.positions, Values(inputs_->count(), Value())));
  auto at = [&](uint32_t turn, uint32_t position) {
    return space_.at(wide_, widePosition(position), firstReduced(k_.add(step, k_.number(turn))), each_,
                     /*mayEnd=*/false);
  };
  for (uint32_t position = 0; position < how_.positions; ++position) {
    const TileSpace::Begun first = at(0, position);
    for (size_t input = 0; input < inputs_->count(); ++input)
      if (isBesideNext(input)) {
        auto type = VectorType::get(how_.turns, inputs_->type(input));
        Value all = k_.load(type, inputs_->address(input, first), inputs_->bytes(input) * how_.turns,
                            /*isStreamed=*/false, /*isWhole=*/true);
        for (uint32_t turn = 0; turn < how_.turns; ++turn)
          loaded[turn][position][input] = LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(turn));
      }
  }
  for (uint32_t turn = 0; turn < how_.turns; ++turn)
    for (uint32_t position = 0; position < how_.positions; ++position) {
      const TileSpace::Begun where = at(turn, position);
      for (size_t input = 0; input < inputs_->count(); ++input)
        if (!loaded[turn][position][input])
          loaded[turn][position][input] = k_.load(inputs_->type(input), inputs_->address(input, where),
                                                  inputs_->bytes(input), /*isStreamed=*/false, /*isWhole=*/true);
    }
  return loaded;
}

/// All steps of the warp: rounds of `turns` beside each other.
SkinnyProduct::Values SkinnyProduct::rounds() {
  const int64_t count = *space_.knownSize(product_.reduced) / (int64_t(kernel_.depth) * how_.depthWarps * how_.turns);
  Values carried(sumCount(), neutral(k_, product_.sum.sum));
  carried.push_back(arith::ConstantIntOp::create(k_.b, k_.loc, k_.b.getI32Type(), 0)); // what is not exact
  auto round = [&](Value number, ValueRange now) {
    Bodies::Scope scope(bodies_);
    Value step = k_.mul(k_.add(k_.mul(number, k_.number(how_.depthWarps)), depthWarp_), k_.number(how_.turns));
    const SmallVector<SmallVector<Values>> loaded = loadRound(step);
    k_.syncWarp(); // all are asked for before it
    Values sums = llvm::to_vector(now.drop_back());
    ScaledNumbers scaled(k_, isApart_);
    for (uint32_t turn = 0; turn < how_.turns; ++turn) {
      Value inRound = k_.add(step, k_.number(turn));
      SmallVector<TileSpace::Begun> runs;
      for (uint32_t position = 0; position < how_.positions; ++position)
        runs.push_back(space_.at(wide_, widePosition(position), firstReduced(inRound), each_, /*mayEnd=*/false));
      sums = multiplyRuns(runs, loaded[turn], firstReduced(inRound), std::move(sums));
    }
    Value unlike = now.back();
    sums.push_back(scaled.unlike() ? arith::OrIOp::create(k_.b, k_.loc, unlike, scaled.unlike()).getResult() : unlike);
    return sums;
  };
  carried =
      count == 1 ? round(k_.number(0), carried) : k_.loop(k_.number(0), k_.number(count), k_.number(1), carried, round);
  Value unlike = carried.pop_back_val();
  return whereExact(unlike, std::move(carried));
}

} // namespace tenon::compiler::codegen
