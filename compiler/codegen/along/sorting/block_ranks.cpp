// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/block_ranks.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;

} // namespace

BlockSum BlockSum::of(KernelBuilder &k, Value value, Value sums) {
  Type type = value.getType();
  const uint32_t warps = k.threads / kWarp, bytes = type.getIntOrFloatBitWidth() / 8;
  Value none = arith::ConstantOp::create(k.b, k.loc, k.b.getZeroAttr(type));
  Value lane = k.rem(k.thread(), k.number(kWarp)), warp = k.div(k.thread(), k.number(kWarp));
  Value running = value;
  for (uint32_t delta = 1; delta < kWarp; delta *= 2) {
    Value other = k.shuffleUp(running, delta);
    running = k.add(running, k.select(k.less(lane, k.number(delta)), none, other));
  }
  k.when(k.equal(lane, k.number(kWarp - 1)), [&] { k.store(running, k.at(sums, type, warp), bytes); });
  k.barrier();
  BlockSum result{k.sub(running, value), none};
  for (uint32_t other = 0; other < warps; ++other) {
    Value sum = k.load(type, k.at(sums, type, k.number(other)), bytes);
    result.before = k.add(result.before, k.select(k.less(k.number(other), warp), sum, none));
    result.all = k.add(result.all, sum);
  }
  return result;
}

BlockRanks::BlockRanks(KernelBuilder &k, unsigned items) : k_(k), items_(items) {
  Type i32 = k.b.getI32Type();
  counts_ = k.shared(i32, uint64_t(k.threads / kWarp) * RadixKey::kDigits);
  starts_ = k.shared(i32, RadixKey::kDigits + 1);
  sums_ = k.shared(i32, k.threads / kWarp);
  warp_ = k.div(k.thread(), k.number(kWarp));
  lane_ = k.rem(k.thread(), k.number(kWarp));
}

Value BlockRanks::word(int64_t value) {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value)));
}

Value BlockRanks::position(Value word) {
  return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), word);
}

Value BlockRanks::countAt(Value warp, Value digit) {
  return k_.at(counts_, k_.b.getI32Type(), k_.add(k_.mul(warp, k_.number(RadixKey::kDigits)), digit));
}

Value BlockRanks::number(unsigned item) {
  Value first = k_.mul(k_.add(k_.mul(warp_, k_.number(items_)), k_.number(item)), k_.number(kWarp));
  return k_.add(first, lane_);
}

Value BlockRanks::start(Value digit) {
  return position(k_.load(k_.b.getI32Type(), k_.at(starts_, k_.b.getI32Type(), digit), 4));
}

SmallVector<Value> BlockRanks::of(ArrayRef<Value> digits) {
  Type i32 = k_.b.getI32Type();
  const uint32_t warps = k_.threads / kWarp, perThread = RadixKey::kDigits / k_.threads;
  Value thread = k_.thread(), none = word(0);
  for (uint32_t i = 0; i < warps * perThread; ++i)
    k_.store(none, k_.at(counts_, i32, k_.add(thread, k_.number(int64_t(i) * k_.threads))), 4);
  k_.barrier();

  // How many of the same digit the warp has before: in earlier items, in lower lanes of this one. The number and the
  // digit share a register, since a thread keeps those of all its items.
  Value lane = arith::TruncIOp::create(k_.b, k_.loc, i32, lane_);
  Value lower = k_.sub(arith::ShLIOp::create(k_.b, k_.loc, word(1), lane), word(1));
  SmallVector<Value> earlier;
  for (Value digit : digits) {
    Value alike = word(-1);
    for (unsigned bit = 0; bit < 8; ++bit) {
      Value isSet = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, k_.both(digit, word(1 << bit)), none);
      Value votes = k_.ballot(isSet);
      alike = k_.both(alike, k_.select(isSet, votes, k_.exclusiveOr(votes, word(-1))));
    }
    Value below = math::CtPopOp::create(k_.b, k_.loc, k_.both(alike, lower));
    Value at = countAt(warp_, position(digit)), counted = k_.load(i32, at, 4);
    k_.syncWarp();
    k_.when(k_.equal(below, none),
            [&] { k_.store(k_.add(counted, math::CtPopOp::create(k_.b, k_.loc, alike)), at, 4); });
    k_.syncWarp();
    Value before = k_.mul(k_.add(counted, below), word(RadixKey::kDigits));
    earlier.push_back(k_.opaque(k_.add(before, digit)));
  }
  k_.barrier();

  // Counts become the places of the digit's first item in each warp; a thread has some digits side by side.
  Value first = k_.mul(thread, k_.number(perThread));
  auto countOf = [&](uint32_t warp, uint32_t i) { return countAt(k_.number(warp), k_.add(first, k_.number(i))); };
  SmallVector<Value> found;
  Value own = none;
  for (uint32_t i = 0; i < perThread; ++i)
    for (uint32_t warp = 0; warp < warps; ++warp) {
      found.push_back(k_.load(i32, countOf(warp, i), 4));
      own = k_.add(own, found.back());
    }
  const BlockSum sum = BlockSum::of(k_, own, sums_);
  Value place = sum.before;
  for (uint32_t i = 0; i < perThread; ++i) {
    k_.store(place, k_.at(starts_, i32, k_.add(first, k_.number(i))), 4);
    for (uint32_t warp = 0; warp < warps; ++warp) {
      k_.store(place, countOf(warp, i), 4);
      place = k_.add(place, found[i * warps + warp]);
    }
  }
  k_.when(k_.equal(thread, k_.number(0)),
          [&] { k_.store(sum.all, k_.at(starts_, i32, k_.number(RadixKey::kDigits)), 4); });
  k_.barrier();

  SmallVector<Value> places;
  for (Value item : earlier) {
    Value digit = k_.rem(item, word(RadixKey::kDigits)), before = k_.div(item, word(RadixKey::kDigits));
    places.push_back(position(k_.add(k_.load(i32, countAt(warp_, position(digit)), 4), before)));
  }
  return places;
}

} // namespace tenon::compiler::codegen
