// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/transpose_tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of shared memory, so that several blocks fit on a multiprocessor.
constexpr uint32_t kMaxArena = 32 * 1024;
constexpr uint32_t kMaxThreads = 256;
// Shorter axes leave most of a tile empty, and use most of what memory delivers anyway.
constexpr int64_t kMinSide = kShortestSide;
constexpr int64_t kMinPositions = 1024;
constexpr int64_t kMaxSide = 1024;
constexpr int64_t kEnoughTiles = 256;

SmallVector<StagedTensor> readTensors(const KernelFunction &kernel, const GroupShape &shape) {
  SmallVector<StagedTensor> tensors;
  auto add = [&](const KernelOp &op, const KernelTensor &tensor) {
    const AffineMap map = shape.mapOf(tensor, op.op);
    if (llvm::none_of(tensors, [&](const StagedTensor &other) {
          return other.tensor->binding == tensor.binding && shape.mapOf(*other.tensor, other.op->op) == map;
        }))
      tensors.push_back({&op, &tensor});
  };
  for (const KernelOp &op : kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && !input.bodyArgument.use_empty())
        add(op, input.tensor);
    for (const KernelOutput &output : op.outputs)
      if (output.startTensor)
        add(op, *output.startTensor);
  }
  return tensors;
}

bool storesAlong(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    return llvm::any_of(op.outputs, [&](const KernelOutput &output) {
      return output.isStored && shape.along(output.tensor, op.op, axis) == GroupShape::Along::Adjacent;
    });
  });
}

} // namespace

std::optional<Turn> turnOf(const KernelFunction &kernel, const GroupShape &shape) {
  if (shape.group.hasReduction() || shape.axes.size() < 2)
    return std::nullopt;
  const unsigned written = shape.axes.size() - 1;
  if (!storesAlong(kernel, shape, written))
    return std::nullopt;
  SmallVector<StagedTensor> apart;
  for (const StagedTensor &tensor : readTensors(kernel, shape))
    if (shape.along(*tensor.tensor, tensor.op->op, written) == GroupShape::Along::Apart)
      apart.push_back(tensor);
  Turn best{written, 0, {}};
  uint32_t most = 0;
  for (unsigned axis = 0; axis < written; ++axis) {
    Turn turn{written, axis, {}};
    uint32_t bytes = 0;
    for (const StagedTensor &tensor : apart)
      if (shape.along(*tensor.tensor, tensor.op->op, axis) == GroupShape::Along::Adjacent &&
          (bytes + tensor.bytes()) * kMinPositions <= kMaxArena) {
        turn.tensors.push_back(tensor);
        bytes += tensor.bytes();
      }
    if (bytes > most) {
      best = turn;
      most = bytes;
    }
  }
  return most == 0 ? std::nullopt : std::optional(best);
}

llvm::SmallVector<SizedTile> tilesOf(const Turn &turn, const GroupShape &shape) {
  uint32_t bytes = 0;
  for (const StagedTensor &tensor : turn.tensors)
    bytes += tensor.bytes();
  uint32_t side = 128;
  while (side * side * bytes > kMaxArena)
    side /= 2;
  const int64_t positions = int64_t(side) * side;
  auto limitOf = [&](unsigned axis) {
    std::optional<int64_t> size = shape.axes[axis].size;
    return std::min<int64_t>(size ? llvm::PowerOf2Ceil(std::max<int64_t>(*size, 1)) : kMaxSide, kMaxSide);
  };
  auto isShort = [&](unsigned axis) { return shape.axes[axis].size && *shape.axes[axis].size < kMinSide; };
  int64_t read = std::min(positions / std::min<int64_t>(side, limitOf(turn.written)), limitOf(turn.read));
  int64_t written = std::min(positions / read, limitOf(turn.written));
  if (isShort(turn.written) || isShort(turn.read) || written * read < kMinPositions)
    return {};
  const std::optional<int64_t> elements = GroupShape::sizeOf(shape.axes);
  SmallVector<SizedTile> tiles;
  auto halve = [&] { (written > read ? written : read) /= 2; };
  for (bool isLast = false; !isLast;) {
    const int64_t size = written * read;
    isLast = size <= kMinPositions;
    const int64_t least = isLast ? 0 : kEnoughTiles * size;
    if (!elements || *elements >= least)
      tiles.push_back(
          {{uint32_t(written), uint32_t(read), uint32_t(std::min<int64_t>(kMaxThreads, size / 16))}, least});
    if (elements && !tiles.empty())
      break;
    // Kernels of their own for every second size are enough.
    for (int step = 0; step < (elements ? 1 : 2) && written * read > kMinPositions; ++step)
      halve();
  }
  return tiles;
}

// Of a tile along the longer axis: of the widest tensor so many bytes lie side by side, which is what a block has on
// its way for each element of the short axis.
static constexpr uint32_t kLongSideBytes = 1024;

static TransposeTile shortTileOf(const Turn &turn, bool isWrittenShort, bool isOtherShort) {
  uint32_t widest = 1, bytes = 0;
  for (const StagedTensor &tensor : turn.tensors) {
    widest = std::max(widest, tensor.bytes());
    bytes += tensor.bytes();
  }
  const auto side = uint32_t(kShortSide);
  uint32_t other = kLongSideBytes / widest;
  if (isOtherShort)
    other = std::min(other, uint32_t(kMiddleSide));
  while (side * other * bytes > kMaxArena)
    other /= 2;
  const uint32_t threads = std::min(kMaxThreads, side * other / 16);
  return isWrittenShort ? TransposeTile{side, other, threads} : TransposeTile{other, side, threads};
}

TransposeTile tileOfShortWritten(const Turn &turn, bool isOtherShort) {
  return shortTileOf(turn, /*isWrittenShort=*/true, isOtherShort);
}

TransposeTile tileOfShortRead(const Turn &turn, bool isOtherShort) {
  return shortTileOf(turn, /*isWrittenShort=*/false, isOtherShort);
}

uint32_t vectorOf(const TransposeTile &tile, uint32_t bytes) {
  uint32_t vector = std::min({16 / bytes, 8u, tile.written, tile.read});
  while (vector > 1 && vector * bytes > 8 && (tile.written / vector) * (tile.read / vector) < tile.threads)
    vector /= 2;
  return vector;
}

uint32_t lanesOfWord(uint32_t bytes) {
  return std::max(1u, 4 / bytes);
}

uint32_t lanesOfShifted(uint32_t vector, uint32_t bytes) {
  return std::min({vector, 64 / (vector * bytes), 16 / bytes});
}

} // namespace tenon::compiler::codegen
