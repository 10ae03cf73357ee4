// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/small_tensors.h"

#include "compiler/codegen/kernel/reciprocal.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// The reciprocal of at most 2^31 - 2^20 elements: of n it is (2^63 - 1) / n, rounded down.
constexpr int64_t kMostElements = (int64_t(1) << 31) - (int64_t(1) << 20);
constexpr int64_t kLeastReciprocal = INT64_MAX / kMostElements + 1;

} // namespace

std::optional<SmallVector<DenseI64ArrayAttr>> elementKeys(Builder &b, const KernelFunction &kernel,
                                                          const GroupShape &shape) {
  llvm::SmallSetVector<Attribute, 4> keys;
  auto add = [&](ArrayRef<Extent> extents) {
    if (const std::optional<int64_t> known = knownProduct(extents))
      return *known <= kMostElements;
    DenseI64ArrayAttr key = reciprocalKey(b, extents);
    if (key)
      keys.insert(key);
    return bool(key);
  };
  SmallVector<Extent> all;
  for (const SpaceAxis &axis : shape.axes)
    llvm::append_range(all, axis.extents);
  bool areNamed = add(all);
  for (const KernelTensor *tensor : kernel.tensors())
    areNamed = areNamed && add(tensor->shape);
  for (const auto &[argument, tensor] : kernel.gathered)
    areNamed = areNamed && add(tensor.shape);
  if (!areNamed)
    return std::nullopt;
  return llvm::map_to_vector(keys, [](Attribute key) { return cast<DenseI64ArrayAttr>(key); });
}

Value areSmall(KernelBuilder &k, const KernelFunction &kernel, const GroupShape &shape,
               const KernelArguments &arguments) {
  const std::optional<SmallVector<DenseI64ArrayAttr>> keys = elementKeys(k.b, kernel, shape);
  if (!keys)
    return {};
  Value all = arith::ConstantOp::create(k.b, k.loc, k.b.getBoolAttr(true));
  for (DenseI64ArrayAttr key : *keys) {
    Value reciprocal = arguments.reciprocals.lookup(key);
    if (!reciprocal)
      return {};
    all = k.both(all, k.less(k.number(kLeastReciprocal - 1), reciprocal));
  }
  return all;
}

} // namespace tenon::compiler::codegen
