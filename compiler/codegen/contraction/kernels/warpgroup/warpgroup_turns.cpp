// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Consumers that have tiles in turn. Steps of a tile lie in the ring behind those of the tile before, which the other
// consumer reads. A wait for a stage asks for the parity of a round alone, so that nobody may be two rounds ahead: a
// consumer begins when the other one has seen all steps of the tile before. It passes the turn on before its last
// products are done, and tensor cores go on with the next tile.
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr uint32_t kThreadsOfBoth = kConsumers * kGroupThreads;

/// The barrier at which a consumer waits for its turn.
Value WarpgroupProduct::turnOf(Value consumer) {
  return k_.word(k_.add(consumer, k_.number(kFirstTurn)));
}

void WarpgroupProduct::passTurn(Value condition) {
  Value next = turnOf(k_.sub(k_.number(kConsumers - 1), group_));
  Value passes = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI32Type(), condition);
  k_.assembly("{\n.reg .pred passes;\nsetp.ne.b32 passes, $1, 0;\n@passes bar.arrive $0, " +
                  std::to_string(kThreadsOfBoth) + ";\n}",
              {next, passes}, "r,r");
}

/// Each turn that is passed on is taken: that of a tile whose next one there is not is kept.
void WarpgroupProduct::endSteps() {
  if (hasNext_)
    passTurn(hasNext_);
}

void WarpgroupProduct::forEachTileInTurn(llvm::function_ref<void(Tile &, const Part &)> body) {
  Value blocks = k_.div(k_.blocks(), k_.number(together())), turns = k_.number(kConsumers);
  passTurn(k_.equal(group_, k_.number(1))); // the first is that of consumer 0
  k_.loop(k_.add(number_, k_.mul(group_, blocks)), items(), k_.mul(blocks, turns), k_.mul(group_, count_),
          [&](Value number, ValueRange carried) {
            Bodies::Scope scope(kernel_.bodies);
            Tile tile(kernel_, core_, number);
            k_.assembly("bar.sync $0, " + std::to_string(kThreadsOfBoth) + ";", {turnOf(group_)}, "r");
            hasNext_ = k_.less(k_.add(number, blocks), items());
            body(tile, {carried[0], k_.number(0), count_, {}});
            return Values{k_.add(carried[0], k_.mul(count_, turns))};
          });
}

} // namespace tenon::compiler::codegen
