// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/apart_heads.h"

#include "compiler/codegen/attention/hiding.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of keys that are left out together.
constexpr int64_t kBlockKeys = 128;

int64_t partsOf(int64_t size, int64_t part) {
  return int64_t(llvm::divideCeil(uint64_t(size), uint64_t(part)));
}

/// Whether blocks of keys that tiles see are fewer with heads apart, if a mask hides as many as one below a diagonal.
bool isLess(const GroupShape &shape, const Attention &attention, std::optional<int64_t> length) {
  const std::optional<int64_t> keys = shape.sizeOf(attention.output.reduced),
                               rows = shape.sizeOf(attention.output.rows);
  if (!length || !keys || !rows)
    return true;
  const int64_t blocks = partsOf(*keys, kBlockKeys), tiles = partsOf(*length, kQueryTile),
                inHead = std::max(tiles, tiles * blocks - tiles * (tiles - 1) / 2);
  return *rows / *length * inHead < partsOf(*rows, kQueryTile) * blocks;
}

/// With all axes of the rows but the last one in the batch.
Attention headsApart(const Attention &attention) {
  Attention apart = attention;
  SmallVector<Product *, 3> products = {&apart.scores, &apart.output};
  if (apart.second)
    products.push_back(&*apart.second);
  const unsigned row = attention.output.rows.back();
  auto isHead = [&](unsigned axis) { return axis != row; };
  for (Product *product : products) {
    llvm::copy_if(product->rows, std::back_inserter(product->batch), isHead);
    llvm::sort(product->batch);
    for (SmallVector<unsigned> *axes : {&product->rows, &product->left.across})
      llvm::erase_if(*axes, isHead);
  }
  return apart;
}

bool followsRows(const GroupShape &shape, const Attention &attention) {
  const std::optional<Hiding> hiding = hidingOf(shape, attention, kQueryTile);
  return hiding && hiding->followRows();
}

} // namespace

std::optional<Attention> attentionOf(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<Attention> attention = Attention::of(kernel, shape);
  if (!attention || attention->output.rows.size() < 2 || attention->twin || attention->across)
    return attention;
  const std::optional<int64_t> length = shape.axes[attention->output.rows.back()].size;
  if ((length && *length <= kFewQueries) || followsRows(shape, *attention))
    return attention;
  const Attention apart = headsApart(*attention);
  return followsRows(shape, apart) && isLess(shape, *attention, length) ? apart : attention;
}

} // namespace tenon::compiler::codegen
