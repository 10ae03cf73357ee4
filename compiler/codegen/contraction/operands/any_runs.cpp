// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/any_runs.h"

#include "compiler/codegen/kernel/straddling.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWordBytes = 4;

/// Element by element, up to the tensor's last, whose number is `last`.
WordRun readSingly(KernelBuilder &k, Value base, Type type, Value element, Value last, uint32_t bytes) {
  const uint32_t each = dispatch::elementBytes(type), count = bytes / each;
  Value all = LLVM::PoisonOp::create(k.b, k.loc, VectorType::get(count, type));
  for (uint32_t lane = 0; lane < count; ++lane) {
    Value number = k.min(k.add(element, k.number(lane)), last);
    all = LLVM::InsertElementOp::create(k.b, k.loc, all, k.load(type, k.at(base, type, number), each), k.number(lane));
  }
  return WordRun(elementsOfVector(k, all, k.b.getI32Type()));
}

} // namespace

bool haveRuns(const ProductKernel &kernel, const Operand &operand, uint32_t width) {
  const Product &product = kernel.product;
  const std::optional<int64_t> inRow = kernel.shape.axes[operand.vectorAxis].size;
  if (!operand.plain || dispatch::elementBytes(operand.tensor().element) >= kWordBytes ||
      (inRow && *inRow % width == 0))
    return false;
  return !product.routes && product.places.empty() && !kernel.rowPatches && !kernel.reducedPatches &&
         (operand.isAlongReduced ? product.reduced : operand.across).size() == 1 &&
         canStraddle(kernel.bodies.arguments(), operand.tensor(), width);
}

SmallVector<WordRun> readRuns(const ProductKernel &kernel, const Operand &operand, ArrayRef<Value> elements,
                              uint32_t bytes) {
  KernelBuilder &k = kernel.k;
  const KernelTensor &tensor = operand.tensor();
  const KernelArguments &arguments = kernel.bodies.arguments();
  const uint32_t elementBytes = dispatch::elementBytes(tensor.element), words = bytes / kWordBytes;
  Type type = k.b.getIntegerType(elementBytes * 8);
  Value base = kernel.bodies.base(tensor), count = k.number(1);
  for (const Extent &extent : tensor.shape)
    count = k.mul(count, arguments.sizeOf(k.b, k.loc, extent));
  Value areInside = arith::ConstantOp::create(k.b, k.loc, k.b.getBoolAttr(true));
  for (Value element : elements)
    areInside = k.both(areInside, isInside(k, arguments, tensor, element, element, bytes));
  const SmallVector<Value> all = k.choose(
      areInside, SmallVector<Type>(elements.size() * words, k.b.getI32Type()),
      [&] {
        SmallVector<Straddling> loaded;
        for (Value element : elements)
          loaded.push_back(loadStraddling(k, k.at(base, type, element), bytes, /*isStreamed=*/false));
        SmallVector<Value> read;
        for (const Straddling &run : loaded)
          llvm::append_range(read, wordsOf(k, run, elementBytes));
        return read;
      },
      [&] {
        SmallVector<Value> read;
        for (Value element : elements)
          llvm::append_range(read, readSingly(k, base, type, element, k.sub(count, k.number(1)), bytes));
        return read;
      });
  SmallVector<WordRun> runs;
  for (size_t first = 0; first < all.size(); first += words)
    runs.emplace_back(ArrayRef<Value>(all).slice(first, words));
  return runs;
}

WordRun firstOf(KernelBuilder &k, const WordRun &run, Value bytes) {
  WordRun first;
  for (auto [number, word] : llvm::enumerate(run)) {
    Value before = k.number(int64_t(number) * kWordBytes);
    Value inWord = k.select(k.less(before, bytes), k.min(k.sub(bytes, before), k.number(kWordBytes)), k.number(0));
    Value bits = arith::ShLIOp::create(k.b, k.loc, k.number(1), k.mul(inWord, k.number(8)));
    first.push_back(arith::AndIOp::create(k.b, k.loc, word, k.word(k.sub(bits, k.number(1)))));
  }
  return first;
}

} // namespace tenon::compiler::codegen
