// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/tile_times.h"

#include "compiler/codegen/attention/key_range.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// What a block of keys takes where one, two or three consumers compute theirs at once, in quarters of what it takes
// each of three: one waits for its own products and exponentials. And what a tile takes beside: first scores that
// nothing runs under, results.
constexpr uint32_t kTimes[] = {0, 7, 10, 12}, kBeside = 24;
// Tiles of an element whose times are computed.
constexpr int64_t kMostTiles = 256;

/// The number that a value of constants is; nothing where it is not one.
std::optional<int64_t> numberOf(Value value) {
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return known.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0 || op->getDialect()->getNamespace() != "arith")
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    const std::optional<int64_t> number = numberOf(operand);
    if (!number || !operand.getType().isIntOrIndex())
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  if (auto same = dyn_cast<Value>(results.front()))
    return numberOf(same);
  auto number = dyn_cast<IntegerAttr>(cast<Attribute>(results.front()));
  return number ? std::optional(number.getValue().getSExtValue()) : std::nullopt;
}

} // namespace

SmallVector<uint32_t> tileTimes(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                                const ProductKernel &scores) {
  const std::optional<int64_t> length = kernel.shape.sizeOf(kernel.attention.output.rows);
  const int64_t tiles = length ? int64_t(llvm::divideCeil(*length, shape.rows())) : kMostTiles + 1;
  if (tiles > kMostTiles || shape.isAlone())
    return {};
  KernelBuilder &k = kernel.k;
  constexpr uint32_t kRows = WarpgroupAttentionShape::kGroupRows;
  SmallVector<uint32_t> times;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    SmallVector<std::pair<int64_t, int64_t>> ranges; // blocks of keys of each consumer
    for (int64_t row = tile * shape.rows(); row < std::min<int64_t>(*length, (tile + 1) * shape.rows()); row += kRows) {
      Bodies::Scope scope(kernel.bodies);
      const KeyRange range(kernel, scores, {k.number(0), k.number(row), k.number(0)}, kRows, shape.keys());
      const std::optional<int64_t> first = numberOf(range.first()), last = numberOf(range.last());
      if (!first || !last)
        return {};
      ranges.emplace_back(*first / shape.keys(), int64_t(llvm::divideCeil(std::max(*first, *last), shape.keys())));
    }
    uint32_t time = kBeside;
    int64_t end = 0;
    for (auto [first, last] : ranges)
      end = std::max(end, last);
    for (int64_t block = 0; block < end; ++block)
      time += kTimes[llvm::count_if(ranges, [&](auto each) { return each.first <= block && block < each.second; })];
    times.push_back(time);
  }
  return times;
}

} // namespace tenon::compiler::codegen
