// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/scalar_operands.h"

#include "compiler/codegen/contraction/kernels/shared_words.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Elements behind each row in shared memory: vectors stay aligned to 16 bytes.
static constexpr uint32_t kPadding = 4;

/// Large tiles of which both sides lie along the reduced elements, of known sizes.
bool isLargeAlong(const ProductKernel &kernel) {
  const Product &product = kernel.product;
  return std::min(kernel.rows, kernel.columns) > 64 && product.left.isAlongReduced && product.right.isAlongReduced &&
         !product.left.border && !product.right.border && kernel.shape.sizeOf(product.rows) &&
         kernel.shape.sizeOf(product.columns) && kernel.shape.sizeOf(product.reduced);
}

ScalarOperands::ScalarOperands(const ProductKernel &kernel, TileSpace &space)
    : kernel_(kernel), k_(kernel.k), space_(space), type_(kernel.product.sum.sum.type), stored_(storedType(type_)),
      bytes_(dispatch::elementBytes(stored_)) {
  buffers_.push_back({&kernel_.product.left, kernel_.rows, space_.firstRow(), 0, kernel_.depth});
  buffers_.push_back(
      {&kernel_.product.right, kernel_.columns, space_.firstColumn(), buffers_[0].elements(), kernel_.depth});
  windows_.resize(buffers_.size());
}

uint32_t ScalarOperands::Buffer::stride() const {
  return side + kPadding;
}

ScalarOperands::Widths ScalarOperands::widestVectors() const {
  return {widthOf(kernel_.product.left), widthOf(kernel_.product.right)};
}

bool ScalarOperands::areAligned(const Widths &widths) const {
  return llvm::all_of(llvm::zip_equal(buffers_, widths), [&](const auto &each) {
    const auto &[buffer, width] = each;
    const std::optional<int64_t> size = kernel_.shape.axes[buffer.operand->vectorAxis].size;
    return size && *size % width == 0;
  });
}

Value ScalarOperands::isAligned(const Widths &widths) {
  return k_.both(space_.isAligned(kernel_.product.left, widths[0]), space_.isAligned(kernel_.product.right, widths[1]));
}

uint32_t ScalarOperands::fetched(const Widths &widths) const {
  uint32_t count = 0;
  for (auto [buffer, width] : llvm::zip_equal(buffers_, widths))
    count += countOf(buffer, width) * width;
  return count;
}

uint32_t ScalarOperands::widthOf(const Operand &operand) const {
  // Every thread brings a vector.
  const uint32_t each = std::min(kernel_.rows, kernel_.columns) * kernel_.depth / k_.threads;
  const uint32_t ofAxis = operand.border ? 16 / dispatch::elementBytes(operand.border->tensor.element)
                                         : vectorWidth(kernel_.kernel, kernel_.shape, operand.vectorAxis);
  return std::min({ofAxis, 16 / bytes_, each});
}

uint32_t ScalarOperands::countOf(const Buffer &buffer, uint32_t width) const {
  return buffer.side * kernel_.depth / (width * k_.threads);
}

/// Position of vector `number` of the thread in the tile: across, along the reduced elements. Neighbouring threads read
/// side by side.
std::pair<Value, Value> ScalarOperands::positionOf(const Buffer &buffer, uint32_t width, uint32_t number) {
  Value vector = k_.add(k_.thread(), k_.number(int64_t(number) * k_.threads));
  const uint32_t inRow = (buffer.operand->isAlongReduced ? kernel_.depth : buffer.side) / width;
  Value row = k_.div(vector, k_.number(inRow));
  Value column = k_.mul(k_.rem(vector, k_.number(inRow)), k_.number(width));
  return buffer.operand->isAlongReduced ? std::pair(row, column) : std::pair(column, row);
}

/// Whether a vector of f32 lies inside of the image or outside: what is outside is a load that is not made.
bool ScalarOperands::isWholeInBorder(const Operand &operand, uint32_t width) const {
  return operand.border && !operand.border->expert && type_.isF32() && operand.value.getType() == type_ &&
         width * bytes_ == 16;
}

void ScalarOperands::findWindows(const Widths &widths) {
  for (auto [buffer, width, window] : llvm::zip_equal(buffers_, widths, windows_)) {
    window.reset();
    if (!isWholeInBorder(*buffer.operand, width) ||
        !WindowVectors::areThere(kernel_.shape, kernel_.product, *buffer.operand, kernel_.depth))
      continue;
    window.emplace(kernel_, space_, *buffer.operand, buffer.first, width);
    for (uint32_t number = 0; number < countOf(buffer, width); ++number) {
      auto [across, reduced] = positionOf(buffer, width, number);
      window->add(k_.add(buffer.first, across), reduced);
    }
  }
}

ScalarOperands::Values ScalarOperands::fetch(Value step, const Widths &widths, bool mayEnd) {
  Bodies::Scope scope(kernel_.bodies);
  Values values;
  auto load = [&](const TileSpace::Source &source) {
    for (Value word : k_.loadWordsWhere(source.exists, source.address))
      values.push_back(arith::BitcastOp::create(k_.b, k_.loc, type_, word));
  };
  for (auto [buffer, width, window] : llvm::zip_equal(buffers_, widths, windows_)) {
    if (window) {
      llvm::for_each(window->at(step), load);
      continue;
    }
    for (uint32_t number = 0; number < countOf(buffer, width); ++number) {
      auto [across, reduced] = positionOf(buffer, width, number);
      across = k_.add(buffer.first, across);
      reduced = k_.add(k_.mul(step, k_.number(kernel_.depth)), reduced);
      if (isWholeInBorder(*buffer.operand, width)) {
        load(space_.sourceWhere(*buffer.operand, across, reduced, width, mayEnd));
        continue;
      }
      for (Value value : space_.read(*buffer.operand, across, reduced, width, mayEnd))
        values.push_back(extended(k_, *buffer.operand, value, type_));
    }
  }
  return values;
}

Value ScalarOperands::slot(const Buffer &buffer, Value half, Value depth, Value across) {
  Value element = k_.add(k_.mul(depth, k_.number(buffer.stride())), across);
  element = k_.add(element, k_.add(k_.mul(half, k_.number(ofStep())), k_.number(buffer.begin)));
  return k_.at(arena_, stored_, element);
}

void ScalarOperands::put(const Values &values, Value half, const Widths &widths) {
  const Value *next = values.begin();
  for (auto [buffer, width] : llvm::zip_equal(buffers_, widths))
    for (uint32_t number = 0; number < countOf(buffer, width); ++number) {
      auto [across, reduced] = positionOf(buffer, width, number);
      if (!buffer.operand->isAlongReduced && width > 1) {
        Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(width, stored_));
        for (uint32_t lane = 0; lane < width; ++lane)
          all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, *next++, k_.number(lane));
        // Rows begin at multiples of the padding.
        k_.store(all, slot(buffer, half, reduced, across), std::min(width, kPadding) * bytes_);
        continue;
      }
      for (uint32_t lane = 0; lane < width; ++lane) {
        Value along = k_.add(reduced, k_.number(lane));
        storeShared(k_, *next++, slot(buffer, half, along, across));
      }
    }
}

ScalarOperands::Values ScalarOperands::load(unsigned side, Value half, Value depth, bool isFirst, Value thread,
                                            uint32_t first) {
  Value across = k_.add(k_.mul(thread, k_.number(kGroup)), k_.number(first));
  Value from = slot(buffers_[side], half, depth, across);
  if (isFirst && isLargeAlong(kernel_) && stored_.isF32())
    return readInPlace(k_, from);
  Values values;
  const uint32_t width = std::min(kGroup, 16 / bytes_);
  for (uint32_t lane = 0; lane < kGroup; lane += width) {
    Value all =
        k_.load(VectorType::get(width, stored_), k_.at(from, stored_, k_.number(lane)), std::min(16u, width * bytes_));
    for (uint32_t each = 0; each < width; ++each)
      values.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(each)));
  }
  return values;
}

} // namespace tenon::compiler::codegen
