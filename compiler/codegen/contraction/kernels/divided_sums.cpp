// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/divided_sums.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr uint32_t kVectorBytes = 16;

Value rankInDepth(const ProductKernel &kernel) {
  return kernel.k.rem(kernel.k.block(), kernel.k.number(kernel.deep));
}

StepRange stepsOfBlock(const ProductKernel &kernel, Value count, Value rank) {
  KernelBuilder &k = kernel.k;
  if (kernel.deep == 1)
    return {k.number(0), count};
  auto firstOf = [&](Value of) { return k.div(k.mul(count, of), k.number(kernel.deep)); };
  return {firstOf(rank), firstOf(k.add(rank, k.number(1)))};
}

void DividedSums::meet(KernelBuilder &k) {
  k.meetInCluster();
  k.meetInCluster();
}

/// Vectors of threads beside each other lie beside each other.
Value DividedSums::place(Value unit, uint32_t ofUnit, uint32_t vector, Type type) {
  Value row = k_.add(k_.mul(unit, k_.number(ofUnit)), k_.number(vector));
  return k_.at(arena_, type, k_.add(k_.mul(row, k_.number(threads_)), thread_));
}

void DividedSums::add(ArrayRef<Values> units, llvm::function_ref<void(Value, ArrayRef<Values>)> write,
                      llvm::function_ref<void()> end) {
  const auto count = uint32_t(units.size()), each = count / kernel_.deep, longer = count % kernel_.deep,
             most = each + (longer != 0 ? 1 : 0);
  const Type type = units.front().front().getType();
  const uint32_t inVector = kVectorBytes / dispatch::elementBytes(type),
                 ofUnit = uint32_t(units.front().size()) / inVector;
  auto vector = VectorType::get(inVector, type);
  for (uint32_t unit = 0; unit < count; ++unit)
    for (uint32_t number = 0; number < ofUnit; ++number) {
      Value all = LLVM::PoisonOp::create(k_.b, k_.loc, vector);
      for (uint32_t lane = 0; lane < inVector; ++lane)
        all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, units[unit][number * inVector + lane], k_.number(lane));
      k_.store(all, place(k_.number(unit), ofUnit, number, vector), kVectorBytes);
    }
  k_.meetInCluster();
  // The first blocks have a unit more; where others have none, they read one that they do not write.
  Value first = k_.add(k_.mul(rank_, k_.number(each)), k_.min(rank_, k_.number(longer)));
  SmallVector<Values> added(most);
  for (auto [number, total] : llvm::enumerate(added)) {
    Value unit = k_.min(k_.add(first, k_.number(int64_t(number))), k_.number(count - 1));
    for (uint32_t block = 0; block < kernel_.deep; ++block)
      for (uint32_t part = 0; part < ofUnit; ++part) {
        Value from = k_.ofPeer(place(unit, ofUnit, part, vector), k_.number(block));
        Value all = k_.load(vector, from, kVectorBytes);
        for (uint32_t lane = 0; lane < inVector; ++lane) {
          Value sum = LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(lane));
          if (block == 0)
            total.push_back(sum);
          else
            total[part * inVector + lane] = combine(k_, kernel_.product.sum.sum, total[part * inVector + lane], sum);
        }
      }
  }
  end();
  k_.meetInCluster();
  auto writeSome = [&](uint32_t some) {
    if (some != 0)
      write(first, ArrayRef<Values>(added).take_front(some));
  };
  if (longer == 0)
    return writeSome(each);
  k_.branch(k_.less(rank_, k_.number(longer)), [&] { writeSome(most); }, [&] { writeSome(each); });
}

} // namespace tenon::compiler::codegen
