// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/tile_table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <queue>

using namespace mlir;

namespace tenon::compiler::codegen {

// Of more rounds, one tile more or less is no great part of a block's time.
static constexpr uint32_t kMostRounds = 64;
// Numbers of elements that may come together.
static constexpr uint32_t kTried = 16;

/// Groups as large as each other, whole rounds of which are about so many tiles.
static uint32_t dealtTogether(const TileOrderShape &shape) {
  if (!shape.isMasked)
    return std::max(shape.elements, 1U);
  const uint32_t wanted =
      std::max<uint32_t>(1, llvm::divideCeil(TileOrderShape::kTilesTogether, std::max(shape.down, 1U)));
  const uint32_t groups = std::max(1U, (shape.elements + wanted / 2) / wanted);
  return std::clamp<uint32_t>(llvm::divideCeil(shape.elements, groups), 1, shape.most);
}

uint64_t dealtTime(const TileOrderShape &shape, ArrayRef<uint32_t> times, uint32_t blocks) {
  std::vector<uint64_t> timeOf(blocks);
  const uint32_t group = dealtTogether(shape);
  uint32_t round = 0;
  for (uint32_t first = 0; first < shape.elements; first += group) {
    const uint32_t here = std::min(group, shape.elements - first);
    for (uint32_t done = 0; done < group * shape.down; done += blocks, ++round)
      for (uint32_t block = 0; block < blocks; ++block) {
        const uint32_t number = done + (!shape.isMasked  ? (block + round) % blocks
                                        : round % 2 == 0 ? block
                                                         : blocks - 1 - block);
        if (number < here * shape.down)
          timeOf[block] += times[shape.isMasked ? shape.down - 1 - number / here : number % shape.down];
      }
  }
  return *llvm::max_element(timeOf);
}

/// Of so many elements that come together; rounds as they come.
static TileTable tableOf(const TileOrderShape &shape, ArrayRef<uint32_t> times, uint32_t blocks, uint32_t group) {
  std::vector<uint32_t> longestFirst(shape.down);
  std::iota(longestFirst.begin(), longestFirst.end(), 0);
  llvm::sort(longestFirst, [&](uint32_t one, uint32_t other) {
    return times[one] != times[other] ? times[one] > times[other] : one > other;
  });
  using Block = std::pair<uint64_t, uint32_t>; // when it is done, its number
  std::priority_queue<Block, std::vector<Block>, std::greater<>> free;
  for (uint32_t block = 0; block < blocks; ++block)
    free.push({0, block});
  std::vector<std::vector<uint16_t>> tilesOf(blocks);
  TileTable table{blocks, 0, {}, 0};
  for (uint32_t first = 0; first < shape.elements; first += group)
    for (uint32_t row : longestFirst)
      for (uint32_t element = first; element < std::min(first + group, shape.elements); ++element) {
        auto [time, block] = free.top();
        free.pop();
        time += times[row];
        table.time = std::max(table.time, time);
        tilesOf[block].push_back(uint16_t(element * shape.down + row));
        table.rounds = std::max(table.rounds, uint32_t(tilesOf[block].size()));
        free.push({time, block});
      }
  for (std::vector<uint16_t> &tiles : tilesOf) {
    tiles.resize(table.rounds + 1, TileTable::kNone); // somebody asks for the next tile behind the last
    llvm::append_range(table.tiles, tiles);
  }
  return table;
}

std::optional<TileTable> TileTable::of(const TileOrderShape &shape, ArrayRef<uint32_t> times, uint32_t blocks) {
  const uint64_t count = uint64_t(shape.elements) * shape.down;
  if (count == 0 || count >= kNone)
    return std::nullopt;
  constexpr uint32_t kTogether = TileOrderShape::kTilesTogether;
  const uint32_t groups = std::max<uint32_t>(1, (count + kTogether / 2) / kTogether),
                 group = llvm::divideCeil(shape.elements, groups);
  TileTable table = tableOf(shape, times, blocks, std::min(group, shape.most));
  if (table.rounds > kMostRounds)
    return std::nullopt;
  if (group > shape.most)
    for (uint32_t tried = 1; tried <= kTried; ++tried) {
      const uint32_t fewer = shape.most - shape.most * tried / (2 * kTried);
      TileTable other = tableOf(shape, times, blocks, fewer);
      if (other.time < table.time)
        table = std::move(other);
    }
  return table.rounds > kMostRounds ? std::nullopt : std::optional(std::move(table));
}

} // namespace tenon::compiler::codegen
