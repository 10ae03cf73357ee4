// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/window_planes.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kVectorBytes = 16, kBank = 4, kBanks = 32, kWarp = 32;
constexpr int64_t kMostShared = 48 << 10; // of a block, that no launch gives
// Registers of a thread, and what it combines in all, which is straight-line code.
constexpr int64_t kMostRegisters = 200, kOtherRegisters = 32, kMostCombined = 2800;
constexpr uint32_t kThreads[] = {128, 96, 160, 64, 192, 224, 256, 32};
// Instructions of a thread beside those of each element, and of each that a plane's places share, such as filters; and
// how long those of one warp take, as so many of a scheduler that has enough of them. Measured on an H200:
// benchmarks/results/conv_planes_h200_2026_11_30e_nchw.md.
constexpr double kAhead = 120, kOfShared = 15, kOfOneWarp = 3;
// Instructions for what is beside a thread's columns of a row, which may be outside of the image.
constexpr double kOfBorder = 8;
constexpr int64_t kSchedulers = 4 * abi::kHopperMultiprocessors;
// What is copied and not read, at most: slices of an image.
constexpr double kMostCopied = 1.5;

int64_t vectorOf(int64_t rowBytes) {
  int64_t bytes = kVectorBytes;
  while (rowBytes % bytes != 0)
    bytes /= 2;
  return bytes;
}

/// How often banks are asked for what a warp's threads read at once: bytes of a plane, of a line, and of a tile's
/// columns.
double conflictsOf(const PlaneForm &form, const PlaneTile &tile, int64_t plane, int64_t line, int64_t columns,
                   int64_t bytes) {
  const int64_t atOnce = kWarp * kBank / std::max(bytes, kBank), across = form.across(tile), down = form.down(tile);
  int64_t most = 1;
  SmallVector<llvm::SmallDenseSet<int64_t>> words(kBanks);
  for (int64_t thread = 0; thread < atOnce; ++thread) {
    const int64_t strip = thread / across;
    const int64_t first = strip / down * plane + strip % down * tile.lines * line + thread % across * columns;
    for (int64_t byte = 0; byte < bytes; byte += kBank) {
      const int64_t word = (first + byte) / kBank;
      words[word % kBanks].insert(word);
    }
  }
  for (const auto &bank : words)
    most = std::max(most, int64_t(bank.size()));
  return double(most);
}

/// Instructions of a thread.
double instructionsOf(const PlaneForm &form, const PlaneTile &tile) {
  const auto window = double(form.slide.length * form.rows.length);
  const auto met = double(form.slide.met(tile.lines)), results = double(tile.lines * tile.columns);
  const int64_t column = form.imageBytes * form.rows.step * tile.columns, line = form.imageColumns * form.imageBytes;
  const int64_t vector = form.imageVector(tile), resultVector = form.resultVector(tile);
  const double around = form.across(tile) == 1 ? 0 : kOfBorder;
  const double reads = met * double(column) / double(vector),
               writes = results * double(form.resultBytes) / double(resultVector);
  int64_t shared = 0;
  for (const PlaneForm::Other &other : form.others)
    shared += int64_t(llvm::divideCeil(form.planes(tile) * other.places, int64_t(tile.threads)));
  return kAhead + kOfShared * double(shared) + 2 * window + results * window +
         met * (double(form.rows.met(tile.columns)) + around) + results * double(form.resultBytes) / 4 +
         reads * conflictsOf(form, tile, form.imagePlane(), line * form.slide.step, column, vector) +
         writes * conflictsOf(form, tile, form.resultPlane(), form.columns * form.resultBytes,
                              tile.columns * form.resultBytes, resultVector);
}

} // namespace

int64_t PlaneForm::imageVector(const PlaneTile &tile) const {
  return vectorOf(std::gcd(imageColumns, across(tile) == 1 ? 0 : rows.step * tile.columns) * imageBytes);
}

int64_t PlaneForm::resultVector(const PlaneTile &tile) const {
  return vectorOf(std::gcd(columns, tile.columns) * resultBytes);
}

int64_t PlaneForm::othersBytes(const PlaneTile &tile, const Other &other) const {
  return int64_t(llvm::alignTo(uint64_t(planes(tile) * other.places * other.bytes), kVectorBytes));
}

int64_t PlaneForm::sharedBytes(const PlaneTile &tile) const {
  int64_t bytes = planes(tile) * (imagePlane() + resultPlane());
  for (const Other &other : others)
    bytes += othersBytes(tile, other);
  return bytes;
}

bool PlaneForm::fits(const PlaneTile &tile) const {
  if (tile.lines < 1 || tile.lines > lines || tile.columns < 1 || tile.columns > columns ||
      columns % tile.columns != 0 || planes(tile) < 1)
    return false;
  return planes(tile) * imagePlane() % kVectorBytes == 0 && planes(tile) * resultPlane() % kVectorBytes == 0 &&
         sharedBytes(tile) <= kMostShared && registers(tile) <= kMostRegisters &&
         slide.length * rows.length * tile.lines * tile.columns <= kMostCombined;
}

int64_t PlaneForm::registers(const PlaneTile &tile) const {
  const auto reached = int64_t(llvm::divideCeil((slide.length - 1) * slide.apart + 1, slide.step));
  return std::min(tile.lines, reached) * tile.columns + rows.met(tile.columns) + slide.length * rows.length +
         kOtherRegisters;
}

std::optional<PlaneForm> PlaneForm::of(const KernelFunction &kernel, const GroupShape &shape) {
  const bool combines = shape.group.hasReduction() && llvm::all_of(kernel.ops, [](const KernelOp &op) {
                          linalg::GenericOp generic = op.op;
                          return generic.getNumReductionLoops() == 0 || dispatch::reductionBodyOf(generic).has_value();
                        });
  if (!combines || shape.parallel < 3 || shape.reducedAxes().size() != 2 || readsAgain(kernel, shape) ||
      storesElements(kernel, shape))
    return std::nullopt;
  const auto phases = phasesOf(kernel, shape.group);
  std::optional<ImageRows> rows = ImageRows::of(kernel, shape);
  if (phases.size() != 1 || phases.front().size() != 1 || !rows || rows->axis != shape.parallel + 1)
    return std::nullopt;
  linalg::GenericOp op = rows->op->op;
  const unsigned rank = rows->image.map.getNumResults(), last = shape.parallel - 1;
  const std::optional<Slide> down = rank < 3 ? std::nullopt : Slide::of(shape, op, rows->image.map, rank - 2, last - 1);
  if (!down || down->axis != shape.parallel || phases.front().front().op != rows->op)
    return std::nullopt;
  PlaneForm form{*rows, *down, phases.front().front()};

  // Planes of the image and of the results have the same numbers.
  SmallVector<unsigned> outer;
  SmallVector<Extent> extents;
  for (const SpaceAxis &axis : shape.parallelAxes().drop_back(2)) {
    llvm::append_range(outer, axis.axes);
    llvm::append_range(extents, axis.extents);
  }
  auto isOuter = [&](AffineMap map, unsigned dimension) {
    auto at = dyn_cast<AffineDimExpr>(map.getResult(dimension));
    return at && at.getPosition() == outer[dimension];
  };
  const AffineMap image = shape.mapOf(rows->image, op);
  if (rank != outer.size() + 2)
    return std::nullopt;
  for (unsigned dimension = 0; dimension < outer.size(); ++dimension) {
    const Extent &size = rows->image.shape[dimension], &extent = extents[dimension];
    if (!isOuter(image, dimension) || rows->leaves[dimension] ||
        (dimension != 0 && (size.value || extent.value || size.size != extent.size)))
      return std::nullopt;
  }
  for (const KernelOp &each : kernel.ops) {
    for (auto [number, output] : llvm::enumerate(each.outputs)) {
      if (output.startTensor && (shape.along(*output.startTensor, each.op, last) != GroupShape::Along::Same ||
                                 shape.along(*output.startTensor, each.op, last - 1) != GroupShape::Along::Same))
        return std::nullopt;
      if (!output.isStored)
        continue;
      const AffineMap map = shape.mapOf(output.tensor, each.op);
      if (form.stored || map.getNumResults() != rank || !shape.group.isPerRow(each.op))
        return std::nullopt;
      for (unsigned dimension = 0; dimension < rank; ++dimension) {
        const unsigned axis =
            dimension < outer.size() ? outer[dimension] : shape.axes[last - (rank - 1 - dimension)].axes.front();
        auto at = dyn_cast<AffineDimExpr>(map.getResult(dimension));
        if (!at || at.getPosition() != axis)
          return std::nullopt;
      }
      form.stored = &each;
      form.output = number;
      form.resultBytes = dispatch::elementBytes(output.tensor.element);
      if (!output.tensor.element.isIntOrFloat() ||
          int64_t(output.tensor.element.getIntOrFloatBitWidth()) != form.resultBytes * 8)
        return std::nullopt;
    }
    for (const KernelInput &input : each.inputs) {
      const bool isOfSums = &each == rows->op;
      if (!input.isMemory() || (isOfSums && !rows->border && input.tensor.binding == rows->image.binding))
        continue;
      if (shape.along(input.tensor, each.op, last) != GroupShape::Along::Same ||
          shape.along(input.tensor, each.op, last - 1) != GroupShape::Along::Same)
        return std::nullopt;
      const int64_t bytes = dispatch::elementBytes(input.tensor.element);
      // Bytes, and what somebody writes to, are read where they are wanted.
      if (!input.bodyArgument.use_empty() && bytes >= 2 && bytes <= 8 && !kernel.isWritten(input.tensor.binding))
        form.others.push_back({&each, &input.tensor, isOfSums ? form.slide.length * form.rows.length : 1, bytes});
    }
    for (auto extract : linalg::GenericOp(each.op).getBody()->getOps<tensor::ExtractOp>()) {
      const auto *read = kernel.gathered.find(extract.getTensor());
      if (!rows->border || read == kernel.gathered.end() || read->second.binding != rows->image.binding)
        return std::nullopt;
    }
  }
  if (!form.stored || shape.axes[last].axes.size() != 1 || shape.axes[last - 1].axes.size() != 1)
    return std::nullopt;
  form.imageLines = rows->image.shape[rank - 2].size;
  form.imageColumns = rows->image.shape[rank - 1].size;
  form.lines = down->results;
  form.columns = rows->results;
  form.imageBytes = dispatch::elementBytes(rows->image.element);
  const double met = double(down->met(form.lines)) * double(rows->met(form.columns));
  if (form.imagePlane() == 0 || form.lines * form.columns == 0 ||
      double(form.imageLines * form.imageColumns) > kMostCopied * met)
    return std::nullopt;
  return form;
}

std::optional<PlaneTile> tileOfPlanes(const PlaneForm &form, int64_t planes) {
  std::optional<PlaneTile> best;
  double least = 0;
  for (int64_t columns = 1; columns <= form.columns; ++columns)
    for (int64_t lines = 1; lines <= form.lines; ++lines)
      for (uint32_t threads : kThreads) {
        const PlaneTile tile{lines, columns, threads};
        if (!form.fits(tile))
          continue;
        const double warps =
            double(llvm::divideCeil(planes, form.planes(tile))) * threads / double(kWarp * kSchedulers);
        const double cost = (warps + kOfOneWarp) * instructionsOf(form, tile);
        if (!best || cost < least)
          best = tile, least = cost;
      }
  return best;
}

bool isWorthPlanes(const PlaneForm &form) {
  const bool overlap = form.slide.step < form.slide.length && form.rows.step < form.rows.length;
  return overlap && form.registers({form.lines, form.columns}) <= kMostRegisters;
}

} // namespace tenon::compiler::codegen
