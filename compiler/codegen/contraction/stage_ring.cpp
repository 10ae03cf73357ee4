// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/stage_ring.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Value StageRing::barrier(uint32_t first, Value step) {
  return k_.at(barriers_, k_.b.getI64Type(), k_.add(stageOf(step), k_.number(first)));
}

void StageRing::create(Value filling, Value emptying) {
  for (uint32_t stage = 0; stage < stages_; ++stage) {
    k_.assembly("mbarrier.init.shared.b64 [$0], $1;", {k_.word(fullBarrier(k_.number(stage))), k_.word(filling)},
                "r,r");
    k_.assembly("mbarrier.init.shared.b64 [$0], $1;", {k_.word(emptyBarrier(k_.number(stage))), k_.word(emptying)},
                "r,r");
  }
  // Copies that count at a barrier look at it in another way than threads.
  k_.assembly("fence.mbarrier_init.release.cluster;", {}, "");
}

Value StageRing::wordOf(uint32_t number) {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(number)));
}

template <typename Operation> Value StageRing::ofStages(Value step) {
  auto of = [&](uint32_t stages) -> Value { return Operation::create(k_.b, k_.loc, k_.word(step), wordOf(stages)); };
  return usesAll_ ? k_.select(usesAll_, of(stages_), of(fewer_)) : of(stages_);
}

Value StageRing::stageOf(Value step) {
  Value stage = ofStages<arith::RemUIOp>(step);
  return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), stage);
}

void StageRing::wait(Value barrier, Value step, bool isBefore) {
  Value round = ofStages<arith::DivUIOp>(step);
  if (isBefore)
    round = arith::AddIOp::create(k_.b, k_.loc, round, wordOf(1));
  Value parity = arith::AndIOp::create(k_.b, k_.loc, round, wordOf(1));
  // Until the round of this parity is over; the wait itself gives up from time to time.
  k_.assembly("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared.b64 done, [$0], $1;\n@!done bra again;\n}",
              {k_.word(barrier), parity}, "r,r");
}

void StageRing::arrive(Value barrier) {
  k_.assembly("mbarrier.arrive.shared.b64 _, [$0];", {k_.word(barrier)}, "r");
}

void StageRing::emptyBy(Value isFirst, Value step) {
  Value first = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI32Type(), isFirst);
  k_.assembly("{\n.reg .pred first;\nsetp.ne.b32 first, $1, 0;\n@first mbarrier.arrive.shared.b64 _, [$0];\n}",
              {k_.word(emptyBarrier(step)), first}, "r,r");
}

void StageRing::fillWhenCopied(Value step) {
  k_.assembly("cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", {k_.word(fullBarrier(step))}, "r");
}

void StageRing::expect(Value step, Value count) {
  k_.assembly("mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", {k_.word(fullBarrier(step)), k_.word(count)}, "r,r");
}

void StageRing::emptyFor(Value step, Value block) {
  Value theirs = k_.ofPeer(emptyBarrier(step), block);
  k_.assembly("mbarrier.arrive.shared::cluster.b64 _, [$0];", {k_.word(theirs)}, "r");
}

void StageRing::copyBox(Value to, Value map, ArrayRef<Value> position, Value step, uint32_t blocks) {
  const size_t rank = position.size();
  std::string coordinates, constraints = "r,l";
  SmallVector<Value> operands = {k_.word(to), map};
  for (size_t i = 0; i < rank; ++i) {
    operands.push_back(k_.word(position[rank - 1 - i]));
    coordinates += (i == 0 ? "$" : ", $") + std::to_string(i + 2);
    constraints += ",r";
  }
  operands.push_back(k_.word(fullBarrier(step)));
  std::string toAll, mask;
  if (blocks != 0) {
    toAll = ".multicast::cluster";
    mask = ", $" + std::to_string(rank + 3);
    operands.push_back(arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI16IntegerAttr(int16_t((1u << blocks) - 1))));
  }
  k_.assembly("cp.async.bulk.tensor." + std::to_string(rank) + "d.shared::cluster.global.mbarrier::complete_tx::bytes" +
                  toAll + " [$0], [$1, {" + coordinates + "}], [$" + std::to_string(rank + 2) + "]" + mask + ";",
              operands, constraints + (blocks != 0 ? ",r,h" : ",r"));
}

} // namespace tenon::compiler::codegen
