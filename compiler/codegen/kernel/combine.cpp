// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/combine.h"

using namespace mlir;
using tenon::compiler::dispatch::Combiner;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;

SmallVector<Value> exchange(KernelBuilder &k, ArrayRef<Sum> sums, SmallVector<Value> values, uint32_t lanes) {
  for (uint32_t mask = lanes / 2; mask != 0; mask /= 2)
    for (auto [sum, value] : llvm::zip_equal(sums, values))
      value = combine(k, sum, value, k.shuffleXor(value, mask));
  return values;
}

} // namespace

Type storedType(Type type) {
  return type.isInteger(1) ? Type(IntegerType::get(type.getContext(), 8)) : type;
}

void storeShared(KernelBuilder &k, Value value, Value to) {
  Type stored = storedType(value.getType());
  if (stored != value.getType())
    value = arith::ExtUIOp::create(k.b, k.loc, stored, value);
  k.store(value, to, stored.getIntOrFloatBitWidth() / 8);
}

Value loadShared(KernelBuilder &k, Type type, Value from) {
  Type stored = storedType(type);
  Value value = k.load(stored, from, stored.getIntOrFloatBitWidth() / 8);
  return stored == type ? value : arith::TruncIOp::create(k.b, k.loc, type, value).getResult();
}

Sum Sum::of(Combiner combiner, Type element) {
  return {combiner, element, dispatch::accumulatorType(combiner, element)};
}

Value combine(KernelBuilder &k, const Sum &sum, Value x, Value y) {
  auto make = [&]<typename Op>(Op *) -> Value { return Op::create(k.b, k.loc, x, y); };
  switch (sum.combiner) {
  case Combiner::AddF:
    return make((arith::AddFOp *)nullptr);
  case Combiner::AddI:
    return make((arith::AddIOp *)nullptr);
  case Combiner::MulF:
    return make((arith::MulFOp *)nullptr);
  case Combiner::MulI:
    return make((arith::MulIOp *)nullptr);
  case Combiner::MaximumF:
    return make((arith::MaximumFOp *)nullptr);
  case Combiner::MinimumF:
    return make((arith::MinimumFOp *)nullptr);
  case Combiner::MaxNumF:
    return make((arith::MaxNumFOp *)nullptr);
  case Combiner::MinNumF:
    return make((arith::MinNumFOp *)nullptr);
  case Combiner::MaxS:
    return make((arith::MaxSIOp *)nullptr);
  case Combiner::MaxU:
    return make((arith::MaxUIOp *)nullptr);
  case Combiner::MinS:
    return make((arith::MinSIOp *)nullptr);
  case Combiner::MinU:
    return make((arith::MinUIOp *)nullptr);
  case Combiner::And:
    return make((arith::AndIOp *)nullptr);
  case Combiner::Or:
    return make((arith::OrIOp *)nullptr);
  case Combiner::Xor:
    return make((arith::XOrIOp *)nullptr);
  }
  llvm_unreachable("every combiner has its operation");
}

Value neutral(KernelBuilder &k, const Sum &sum) {
  return arith::ConstantOp::create(k.b, k.loc, dispatch::neutralOf(k.b, sum.combiner, sum.type));
}

Value widen(KernelBuilder &k, const Sum &sum, Value value) {
  return value.getType() == sum.type ? value : arith::ExtFOp::create(k.b, k.loc, sum.type, value).getResult();
}

Value narrow(KernelBuilder &k, const Sum &sum, Value value) {
  return value.getType() == sum.element ? value : arith::TruncFOp::create(k.b, k.loc, sum.element, value).getResult();
}

Value combineAll(KernelBuilder &k, const Sum &sum, ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  const size_t half = values.size() / 2;
  return combine(k, sum, combineAll(k, sum, values.take_front(half)), combineAll(k, sum, values.drop_front(half)));
}

SmallVector<Value> combineLanes(KernelBuilder &k, ArrayRef<Sum> sums, ArrayRef<Value> values, uint32_t lanes) {
  SmallVector<Value> result = exchange(k, sums, llvm::to_vector(values), std::min(lanes, kWarp));
  if (lanes <= kWarp)
    return result;
  // The first lane of each warp leaves its result; every warp then combines them all.
  const uint32_t warps = lanes / kWarp;
  SmallVector<Value> places;
  for (const Sum &sum : sums)
    places.push_back(k.shared(storedType(sum.type), warps));
  Value thread = k.thread();
  Value lane = k.rem(thread, k.number(kWarp));
  k.when(k.equal(lane, k.number(0)), [&] {
    Value warp = k.div(thread, k.number(kWarp));
    for (auto [sum, place, value] : llvm::zip_equal(sums, places, result))
      storeShared(k, value, k.at(place, storedType(sum.type), warp));
  });
  k.barrier();
  Value from = k.rem(lane, k.number(warps));
  for (auto [sum, place, value] : llvm::zip_equal(sums, places, result))
    value = loadShared(k, sum.type, k.at(place, storedType(sum.type), from));
  return exchange(k, sums, result, warps);
}

SmallVector<Value> combineBlocks(KernelBuilder &k, ArrayRef<Sum> sums, ArrayRef<Value> values, uint32_t blocks,
                                 Value rank) {
  SmallVector<Value> places, result;
  for (const Sum &sum : sums)
    places.push_back(k.shared(storedType(sum.type), blocks));
  // Thread i tells block i. What is combined is read from the block's own memory, so no block waits for others to
  // leave.
  Value thread = k.thread();
  k.when(k.less(thread, k.number(blocks)), [&] {
    for (auto [sum, place, value] : llvm::zip_equal(sums, places, values))
      storeShared(k, value, k.at(k.ofPeer(place, thread), storedType(sum.type), rank));
  });
  k.arriveAtCluster();
  k.waitForCluster();
  Value from = k.rem(thread, k.number(blocks));
  for (auto [sum, place] : llvm::zip_equal(sums, places))
    result.push_back(loadShared(k, sum.type, k.at(place, storedType(sum.type), from)));
  return exchange(k, sums, result, blocks);
}

} // namespace tenon::compiler::codegen
