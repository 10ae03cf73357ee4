// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a part of a tile leaves (shared_tiles.h): each thread of a consumer its sums, in vectors of four that lie beside
// those of the other threads. The thread with the same number of the same consumer adds them, since it has the same
// places of the tile. A flag for each share and consumer says that it is there; it is 0 before the kernel starts, as is
// the ticket in front of them, a number that each block takes and makes one higher.
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr size_t kShareVector = 4;

Value WarpgroupProduct::shareAt(Value share, Type vector, size_t number, size_t vectors) {
  Value consumer = k_.add(k_.mul(share, k_.number(kConsumers)), group_);
  Value row = k_.add(k_.mul(consumer, k_.number(int64_t(vectors))), k_.number(int64_t(number)));
  return k_.at(kernel_.shares, vector, k_.add(k_.mul(row, k_.number(kGroupThreads)), thread_));
}

Value WarpgroupProduct::flagOf(Value share) {
  Value flag = k_.add(k_.mul(share, k_.number(kConsumers)), group_);
  return k_.at(kernel_.shareFlags, k_.b.getI32Type(), k_.add(flag, k_.number(kTickets)));
}

/// The number by which a block takes its items. Who has a higher one waits for it, and has begun later, in whatever
/// order a device starts its blocks.
Value WarpgroupProduct::takeNumber() {
  Type word = k_.b.getI32Type();
  Value place = inArena(k_.number(ticketAt(kernel_.rows, stageColumns())));
  k_.when(k_.equal(k_.thread(), k_.number(0)), [&] {
    Value one = arith::ConstantIntOp::create(k_.b, k_.loc, word, 1);
    Value ticket = LLVM::AtomicRMWOp::create(k_.b, k_.loc, LLVM::AtomicBinOp::add, kernel_.shareFlags, one,
                                             LLVM::AtomicOrdering::monotonic, "device");
    k_.store(ticket, place, 4);
  });
  k_.barrier();
  // The compiler shall know that all threads of a warp have the same.
  Value number = k_.shuffleFrom(k_.load(word, place, 4), k_.number(0));
  return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), number);
}

void WarpgroupProduct::leaveSums(const Part &part, const Values &sums) {
  auto vector = VectorType::get(kShareVector, sums.front().getType());
  const size_t vectors = sums.size() / kShareVector;
  for (size_t number = 0; number < vectors; ++number) {
    Value all = LLVM::PoisonOp::create(k_.b, k_.loc, vector);
    for (size_t lane = 0; lane < kShareVector; ++lane)
      all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, sums[number * kShareVector + lane],
                                          k_.number(int64_t(lane)));
    k_.store(all, shareAt(part.item->share, vector, number, vectors), 16);
  }
  // All threads' stores come before the barrier, and so before the flag.
  k_.barrier();
  k_.when(k_.equal(thread_, k_.number(0)),
          [&] { k_.assembly("st.release.gpu.global.b32 [$0], 1;", {flagOf(part.item->share)}, "l"); });
}

/// In the order of the parts, whoever was there first.
WarpgroupProduct::Values WarpgroupProduct::withSharesOfOthers(const Part &part, const Values &sums) {
  auto vector = VectorType::get(kShareVector, sums.front().getType());
  const size_t vectors = sums.size() / kShareVector;
  return k_.loop(k_.number(0), part.item->shares, k_.number(1), sums, [&](Value number, ValueRange carried) {
    Value share = k_.add(part.item->share, k_.mul(number, shared_->tiles()));
    k_.when(k_.equal(thread_, k_.number(0)), [&] {
      k_.assembly("{\n.reg .pred waits;\n.reg .b32 flag;\nagain:\nld.acquire.gpu.global.b32 flag, [$0];\n"
                  "setp.eq.b32 waits, flag, 0;\n@waits bra again;\n}",
                  {flagOf(share)}, "l");
    });
    k_.barrier();
    Values added;
    for (size_t inShare = 0; inShare < vectors; ++inShare) {
      Value all = k_.load(vector, shareAt(share, vector, inShare, vectors), 16);
      for (size_t lane = 0; lane < kShareVector; ++lane) {
        Value sum = carried[inShare * kShareVector + lane];
        Value other = LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(int64_t(lane)));
        added.push_back(isa<FloatType>(sum.getType()) ? Value(arith::AddFOp::create(k_.b, k_.loc, sum, other))
                                                      : k_.add(sum, other));
      }
    }
    return added;
  });
}

} // namespace tenon::compiler::codegen
