// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A left operand of tf32 that lies across. `wgmma` reads tf32 from shared memory along the reduced elements only; from
// registers it takes them however they came there. A step's tile has blocks of 32 rows of the result, a line of 128
// bytes for each of 32 reduced elements. Lane l of a warp needs, of each eight reduced elements, number l % 4 and the
// fourth behind it, of two rows. Which of the warp's 16 rows these are is free: sums are those of the same rows.
// Neighbours are one access of 8 bytes:
//
//   block  warp / 2
//   chunk  2 (warp % 2) + l / 16 + 4 (l / 8 % 2)     of 16 bytes in the line
//   rows   2 (l / 4 % 2) and the next one            of the chunk
//
// Half a warp reads two chunks of each of four lines, four chunks from each other: with the lines' swizzle these are
// all banks once.
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr uint32_t kLinesAtOnce = 8; // of a product: reduced elements

/// Of the lane's rows in a line.
Value WarpgroupProduct::chunkOfRegisters() {
  Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
  Value ofWarp = k_.mul(k_.rem(warp, k_.number(2)), k_.number(2));
  Value ofEight = k_.mul(k_.rem(k_.div(lane, k_.number(8)), k_.number(2)), k_.number(4));
  return k_.add(k_.add(ofWarp, k_.div(lane, k_.number(16))), ofEight);
}

/// Four for each eight reduced elements.
WarpgroupProduct::Values WarpgroupProduct::leftRegisters(Value step, uint32_t part) {
  Type word = k_.b.getI32Type();
  auto pair = VectorType::get(2, word);
  Value lane = k_.rem(thread_, k_.number(32)), warp = k_.div(thread_, k_.number(32));
  Value line = k_.rem(lane, k_.number(4));
  Value block = k_.mul(k_.div(warp, k_.number(2)), k_.number(int64_t(kernel_.depth) * kStepBytes));
  Value tile = k_.add(k_.add(stageBytes(step), block), k_.mul(firstRow(part), k_.number(kStepBytes)));
  Value inChunk = k_.mul(k_.rem(k_.div(lane, k_.number(4)), k_.number(2)), k_.number(8));
  auto addressOf = [&](uint32_t behind) {
    Value number = k_.add(line, k_.number(behind)), place = k_.exclusiveOr(chunkOfRegisters(), number);
    Value inLine = k_.add(k_.mul(place, k_.number(16)), inChunk);
    return inArena(k_.add(tile, k_.add(k_.mul(number, k_.number(kStepBytes)), inLine)));
  };
  const Value addresses[] = {addressOf(0), addressOf(kLinesAtOnce / 2)};
  Values registers;
  for (uint32_t first = 0; first < kernel_.depth; first += kLinesAtOnce)
    for (Value address : addresses) {
      Value both = k_.load(pair, k_.at(address, k_.b.getI8Type(), k_.number(first * kStepBytes)), 8);
      for (uint32_t row = 0; row < 2; ++row)
        registers.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, both, k_.number(row)));
    }
  return registers;
}

/// While one consumer reads and waits, the other one's products run. A stage is empty when all warps have read it.
WarpgroupProduct::Values WarpgroupProduct::multiplyFromRegisters(const Tile &tile, const Part &part, uint32_t parts) {
  constexpr uint32_t kBytes = 32; // of reduced elements, of a product
  const uint32_t ofPart = kGroupRows * groupColumns() / kGroupThreads;
  const Values none(parts * ofPart, neutral(k_, kernel_.product.sum.sum));
  return k_.loop(k_.number(0), part.count, k_.number(1), none, [&](Value inPart, ValueRange carried) {
    Value step = k_.add(part.first, inPart);
    waitUntilFull(tile, step);
    Values sums;
    for (uint32_t number = 0; number < parts; ++number)
      llvm::append_range(sums,
                         core_.multiplyRegisters(leftRegisters(step, number), operandsOf(tile, step, number).right,
                                                 kBytes, groupColumns(), carried.slice(number * ofPart, ofPart)));
    sums = core_.waitForProducts(0, sums);
    k_.syncWarp(); // its lanes have read
    tellEmpty(step);
    return sums;
  });
}

} // namespace tenon::compiler::codegen
