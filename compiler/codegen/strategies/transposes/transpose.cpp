// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/transpose.h"

#include "compiler/codegen/strategies/transposes/transpose_tile.h"
#include "compiler/codegen/strategies/transposes/transpose_writer.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Turn &turn,
                   const TransposeTile &tile) {
  uint32_t width = std::min(vectorWidth(kernel, shape, turn.written), tile.written);
  while (width > 1 && width * workOf(kernel) > kMaxTransposeWork)
    width /= 2;
  SmallVector<SpaceAxis> rest;
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    if (number != turn.written && number != turn.read)
      rest.push_back(axis);
  return Plan{name,
              tile.threads,
              {{"width", width}, {"written", tile.written}, {"read", tile.read}},
              {{extentsOf(shape.axes[turn.written]), tile.written},
               {extentsOf(shape.axes[turn.read]), tile.read},
               {extentsOf(rest), 1}}};
}

namespace {

/// Kernels for axes of unknown length: those of `plans` are for longer ones. Where an axis is too short for tiles,
/// another strategy computes the group.
class ByLength {
public:
  ByLength(StringRef name, const Strategy &apart, const KernelFunction &kernel, const GroupShape &shape,
           const Turn &turn)
      : name_(name), apart_(apart), kernel_(kernel), shape_(shape), turn_(turn) {}

  void add(std::vector<Plan> &plans) const {
    for (Plan &plan : plans) {
      keep(plan, turn_.written, kShortSide);
      keep(plan, turn_.read, kShortSide);
    }
    if (isUnknown(turn_.written))
      addShort(plans, turn_.written, turn_.read, kShortestSide - 1,
               [&](bool isOtherShort) { return tileOfShortWritten(turn_, isOtherShort); });
    if (isUnknown(turn_.read))
      addShort(plans, turn_.read, turn_.written, kShortSide,
               [&](bool isOtherShort) { return tileOfShortRead(turn_, isOtherShort); });
    if (isUnknown(turn_.written)) { // rows shorter than two vectors: one element after the other
      Plan &few = plans.emplace_back(*apart_.plan(kernel_, shape_));
      few.choose("width", 1);
      few.grid.front().perBlock = few.threads;
      keep(few, turn_.written, 0, kShortestSide - 1);
    }
    if (isUnknown(turn_.read)) {
      Plan &few = plans.emplace_back(*apart_.plan(kernel_, shape_));
      keep(few, turn_.read, 0, kShortestSide - 1);
      keep(few, turn_.written, kShortestSide - 1);
    }
  }

private:
  /// Of a short axis, where the other one has more than `least`: a kernel for what is not long along it either.
  void addShort(std::vector<Plan> &plans, unsigned axis, unsigned other, int64_t least,
                llvm::function_ref<TransposeTile(bool)> tileOf) const {
    for (bool isOtherShort : {true, false}) {
      const std::optional<int64_t> known = shape_.axes[other].size;
      if (known && (*known <= kMiddleSide) != isOtherShort)
        continue;
      Plan &few = plans.emplace_back(planOf(name_, kernel_, shape_, turn_, tileOf(isOtherShort)));
      keep(few, axis, kShortestSide - 1, kShortSide);
      keep(few, other, isOtherShort ? least : kMiddleSide,
           isOtherShort ? std::optional<int64_t>(kMiddleSide) : std::nullopt);
    }
  }
  bool isUnknown(unsigned axis) const { return !shape_.axes[axis].size; }
  void keep(Plan &plan, unsigned axis, int64_t above, std::optional<int64_t> most = std::nullopt) const {
    if (isUnknown(axis))
      plan.guards.push_back(Guard{extentsOf(shape_.axes[axis]), above, most});
  }

  StringRef name_;
  const Strategy &apart_;
  const KernelFunction &kernel_;
  const GroupShape &shape_;
  const Turn &turn_;
};

} // namespace

/// One for each size of tiles, where it is not known how many elements there are.
std::vector<Plan> Transpose::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Turn> turn = turnOf(kernel, shape);
  if (!turn)
    return {};
  std::vector<Plan> plans;
  const SmallVector<SizedTile> tiles = tilesOf(*turn, shape);
  std::optional<int64_t> most;
  for (const SizedTile &sized : tiles) {
    plans.push_back(planOf(name(), kernel, shape, *turn, sized.tile));
    const int64_t above = sized.least == 0 ? 0 : sized.least - 1;
    if (tiles.size() > 1)
      plans.back().guards = {Guard{extentsOf(shape.axes), above, most}};
    most = above;
  }
  if (!plans.empty())
    ByLength(name(), apart_, kernel, shape, *turn).add(plans);
  return plans;
}

std::optional<Plan> Transpose::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

bool Transpose::asksForSmall(const KernelFunction &kernel, const GroupShape &shape) const {
  return apart_.asksForSmall(kernel, shape);
}

void Transpose::write(Writer &writer) const {
  writeTranspose(writer);
}

} // namespace tenon::compiler::codegen
